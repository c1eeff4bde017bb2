"""Files as tables: exact text, true line numbers, and one clear sentence for each broken file."""

import csv
import gzip
import itertools
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.sources.dialect import CsvOptions, Dialect
from holdfast.sources.local import (
    complaint,
    head,
    infer_schema,
    read_arrow,
    read_csv,
    sniff_file,
)
from holdfast.sources.records import records, unquoted
from tests.sources.typed import encoded, typed_table

FREE = CsvOptions()
PLAIN = CsvOptions(separator=",", quote='"', header=True)


def file_of(folder: Path, content: str | bytes, name: str = "f.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path, options: CsvOptions = PLAIN) -> pa.Table:
    return read_csv(path, sniff_file(path, options)[0])


def rows_of(table: pa.Table) -> list[tuple[str, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


CELL = st.text(max_size=5) | st.text(alphabet=',;"\n\r a\ufeff-', max_size=5)


@settings(deadline=None, max_examples=80)
@given(
    st.integers(1, 4).flatmap(lambda n: st.lists(st.tuples(*[CELL] * n), max_size=5).map(lambda rows: (n, rows))),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_text_comes_back_exactly(shape: tuple[int, list[tuple[str, ...]]], eol: str, header: bool, bom: bytes) -> None:
    width, rows = shape
    names = [f'n {i}."é' for i in range(width)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.csv"
        with path.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out, lineterminator=eol, quoting=csv.QUOTE_ALL)
            writer.writerows([names, *rows] if header else rows)
        path.write_bytes(bom + path.read_bytes())
        dialect = Dialect(",", '"', header, tuple(names))
        table = read_csv(path, dialect)
        assert complaint(path, dialect) is None
    assert table.column_names == names
    assert rows_of(table) == rows


def test_empty_lines_are_skipped_and_nothing_is_null(tmp_path: Path) -> None:
    table = read(file_of(tmp_path, "\n\na,b\n\n1,NULL\n\n,\n\n"))
    assert rows_of(table) == [("1", "NULL"), ("", "")]
    assert sum(column.null_count for column in table.columns) == 0


def test_a_header_alone_gives_no_rows(tmp_path: Path) -> None:
    for content in ("a,b", "a,b\n", "a,b\n\n"):
        table = read(file_of(tmp_path, content))
        assert (table.column_names, table.num_rows) == (["a", "b"], 0)
        typed, _ = typed_table(table, FREE, None, "f.csv")
        assert typed.schema == pa.schema([("a", pa.string()), ("b", pa.string())])


def test_an_empty_file_gives_an_empty_table(tmp_path: Path) -> None:
    table = read(file_of(tmp_path, ""), FREE)
    assert (table.num_columns, table.num_rows) == (0, 0)
    assert typed_table(table, FREE, None, "f.csv")[0].num_columns == 0


def test_other_dialects(tmp_path: Path) -> None:
    assert rows_of(read(file_of(tmp_path, "'a'\t'b'\r'x\ty'\t'it''s'\r"), FREE)) == [("x\ty", "it's")]
    assert rows_of(read(file_of(tmp_path, '5" pipe,x\n"y,z\n'), CsvOptions(quote="", header=False))) == [
        ('5" pipe', "x"),
        ('"y', "z"),
    ]


@pytest.mark.parametrize("size", [10_000, 5_000_000, 9_000_000])
def test_long_values(tmp_path: Path, size: int) -> None:
    long = "x\n" * (size // 2)
    table = read(file_of(tmp_path, f'a,b\n1,"{long}"\n2,y\n'))
    assert rows_of(table) == [("1", long), ("2", "y")]


def test_a_long_header(tmp_path: Path) -> None:
    path = file_of(tmp_path, f'"{"n" * 100_000}",b\n1,2\n')
    assert rows_of(read(path, FREE)) == [("1", "2")]


def test_many_blocks_keep_their_order(tmp_path: Path) -> None:
    path = file_of(tmp_path, "i,t\n" + "".join(f"{i},{'t' * 40}\n" for i in range(250_000)))
    typed, _ = typed_table(read(path), FREE, None, "f.csv")
    assert typed["i"].to_pylist() == list(range(250_000))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\n1,2\n3\n", "line 3: 1 field where 2 are expected; mend or remove the line"),
        ("a,b\n1,2,3\n", "line 2: 3 fields where 2 are expected; mend or remove the line"),
        ('a,b\n"x\n\ny",2\n\n3,4,5\n', "line 6: 3 fields where 2 are expected"),
        ("a,b\r\n\r\n1,2\r\n3\r\n", "line 4: 1 field where 2 are expected"),
        ("a\n1\n2,3\n", "line 3: 2 fields where 1 is expected"),
        ('a,b\n1,"x\n2,y\n', "line 2: a quote is opened and never closed"),
        ('a,b\n1,2\n3,"x', "line 3: a quote is opened and never closed"),
        ('a,b\n"x\ny",2\n1,"x""\n2,y\n', "line 4: a quote is opened and never closed"),
        (b'a,b\n"x\ny",2\n1,\xe4\n', "line 4: the byte 0xe4 at offset 14 is not UTF-8"),
    ],
)
def test_a_broken_file_is_refused_with_the_line(tmp_path: Path, content: str | bytes, expected: str) -> None:
    path = file_of(tmp_path, content)
    names = ("a",) if path.read_bytes().startswith(b"a\n") else ("a", "b")
    dialect = Dialect(",", '"', True, names)  # not sniffed: sniffing sees the same bytes and would complain first
    with pytest.raises(BadInput) as caught:
        read_csv(path, dialect)
    assert str(caught.value).startswith(f"{path}, {expected}")


def test_an_unclosed_quote_early_in_a_long_file(tmp_path: Path) -> None:
    path = file_of(tmp_path, 'a,b\n1,"x\n' + "2,y\n" * 3_000_000)
    with pytest.raises(BadInput, match="line 2: a quote is opened"):
        read(path)


@pytest.mark.parametrize(("start", "names"), [("a,b\n1,", ("a", "b")), ("1,", ("a", "b")), ("", ("a",))])
def test_quotes_that_are_never_closed(tmp_path: Path, start: str, names: tuple[str, ...]) -> None:
    """Every end of a file that one can write with these few characters: read as it stands, or refused."""
    dialect, path = Dialect(",", '"', start.startswith("a"), names), tmp_path / "f.csv"
    refused = 0
    for end in itertools.chain.from_iterable(itertools.product('",\nx', repeat=length) for length in range(6)):
        content = start + "".join(end)
        path.write_text(content)
        if sentence := complaint(path, dialect):
            refused += "never closed" in sentence
            with pytest.raises(BadInput) as caught:
                read_csv(path, dialect)
            assert str(caught.value) == sentence
        else:
            written = [record.fields for record in records(content.encode(), ",", '"')]
            values = [tuple(unquoted(field, '"') for field in fields) for fields in written]
            assert rows_of(read_csv(path, dialect)) == values[1 if dialect.header else 0 :], content
    assert refused > 100


def test_a_header_with_a_quote_that_is_never_closed(tmp_path: Path) -> None:
    path = file_of(tmp_path, 'a,"b\n1,2\n')
    with pytest.raises(BadInput, match="line 1: a quote is opened and never closed"):
        read(path)


def test_a_compressed_file_with_a_quote_that_is_never_closed(tmp_path: Path) -> None:
    path = file_of(tmp_path, gzip.compress(b'a,b\n1,"x\n' + b"2,y\n" * 100_000), "f.csv.gz")
    with pytest.raises(BadInput, match="line 2: a quote is opened and never closed"):
        read(path)


def test_head(tmp_path: Path) -> None:
    path = file_of(tmp_path, "abcdef")
    assert head(path, 3) == (b"abc", False)
    assert head(path, 6) == (b"abcdef", True)
    assert head(path) == (b"abcdef", True)


def test_compressed_text(tmp_path: Path) -> None:
    lines = "a,b\n" + "".join(f"{i},é\n" for i in range(100_000))
    path = file_of(tmp_path, gzip.compress(lines.encode()), "f.csv.gz")
    assert read(path, FREE).num_rows == 100_000
    long = "x" * 9_000_000
    path = file_of(tmp_path, gzip.compress(f"a,b\n1,{long}\n".encode()), "f.csv.gz")
    assert rows_of(read(path, FREE)) == [("1", long)]
    broken = file_of(tmp_path, b"a,b\n1,2\n", "g.csv.gz")
    with pytest.raises(BadInput, match="not readable as"):
        read(broken)


TABLE = pa.table({"a": [1, None], "b": ["x", "y"]})


@pytest.mark.parametrize("suffix", [".arrow", ".feather", ".ipc", ".arrows"])
@pytest.mark.parametrize("stream", [False, True])
def test_arrow(tmp_path: Path, suffix: str, stream: bool) -> None:
    path = tmp_path / f"t{suffix}"
    with (ipc.new_stream if stream else ipc.new_file)(str(path), TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert read_arrow(path).equals(TABLE)


@pytest.mark.parametrize("content", [b"", b"ARROW1", b"PAR1", b"a,b\n1,2\n" * 20])
def test_broken_binary_files(tmp_path: Path, content: bytes) -> None:
    path = file_of(tmp_path, content, "broken.bin")
    with pytest.raises(BadInput, match=r"broken\.bin: not readable as Arrow IPC \(.+\); check"):
        read_arrow(path)


def test_a_cut_arrow_file(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    with ipc.new_file(str(path), TABLE.schema) as writer:
        writer.write_table(TABLE)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="not readable as"):
        read_arrow(path)


@pytest.mark.parametrize("reader", [head, read_arrow])
def test_missing_files(tmp_path: Path, reader: type) -> None:
    with pytest.raises(BadInput, match=r"no\.csv: there is no such file"):
        reader(tmp_path / "no.csv")


def test_folders_are_no_text_files(tmp_path: Path) -> None:
    for reader in (head, read_arrow):
        with pytest.raises(BadInput, match="this is a folder"):
            reader(tmp_path)


def text_table(**columns: list[str]) -> pa.Table:
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def test_typed_table_infers_and_says_which_markers_are_null() -> None:
    text = text_table(n=["1", "?", ""], t=["x", "?", "y"], d=["2020-01-01", "2020-01-02 10:00", ""])
    typed, nulls = typed_table(text, FREE, None, "f.csv")
    assert [str(t) for t in typed.schema.types] == ["int64", "string", "timestamp[us]"]
    assert typed["n"].to_pylist() == [1, None, None]
    assert typed["t"].to_pylist() == ["x", None, "y"]
    assert nulls == ("", "?")
    assert infer_schema(encoded(text), FREE) == (typed.schema, ("", "?"), ["null markers: '', '?'"])


def test_text_mode_and_given_nulls() -> None:
    text = text_table(n=["1", "NA", ""])
    assert typed_table(text, CsvOptions(types="text"), None, "f")[0]["n"].to_pylist() == ["1", "NA", None]
    as_text = CsvOptions(types="text", nulls=("NA",))
    assert typed_table(text, as_text, None, "f")[0]["n"].to_pylist() == ["1", None, ""]
    assert typed_table(text, CsvOptions(nulls=("NA", "")), None, "f") == (
        pa.table({"n": pa.array([1, None, None])}),
        ("NA", ""),
    )


def test_columns_of_many_chunks() -> None:
    chunks = pa.chunked_array([["1"], [], ["2", "1", ""]], pa.string())
    typed, _ = typed_table(pa.table({"n": chunks}), FREE, None, "f")
    assert typed["n"].to_pylist() == [1, 2, 1, None]
    no_chunks = pa.table({"n": pa.chunked_array([], pa.string())})
    assert typed_table(no_chunks, FREE, None, "f")[0].num_rows == 0


def test_a_schema_casts() -> None:
    schema = pa.schema([("a", pa.int64()), ("b", pa.float64())])
    typed, nulls = typed_table(text_table(a=["1", ""], b=["2", "3.5"]), FREE, schema, "f.csv")
    assert typed.schema.equals(schema)
    assert (typed["b"].to_pylist(), typed["a"].to_pylist(), nulls) == ([2.0, 3.5], [1, None], ("",))


def test_bad_values_name_record_column_value_and_type() -> None:
    chunks = pa.chunked_array([["1", "1"], ["2", "x"]], pa.string())
    schema = pa.schema([("age", pa.int64())])
    with pytest.raises(BadInput) as caught:
        typed_table(pa.table({"age": chunks}), FREE, schema, "f.csv")
    assert str(caught.value) == (
        "f.csv, record 4, column 'age': 'x' is not a whole number (int64); "
        "mend the value, or declare the column as text "
        "(in a state: holdfast columns STATE retype, or apply --evolve where a wider type is enough)"
    )
    with pytest.raises(BadInput, match="name it as a null marker"):
        typed_table(text_table(age=["?"]), FREE, schema, "f.csv")
    with pytest.raises(BadInput, match="…' is not a date"):
        typed_table(text_table(d=["x" * 5000]), FREE, pa.schema([("d", pa.date32())]), "f.csv")
