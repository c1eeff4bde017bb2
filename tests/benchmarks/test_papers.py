"""Every figure of the papers runs on small data, and gives right answers; and the tables get into a document."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import frame
from benchmarks.data import SHARED
from benchmarks.frame import Benchmark, Case
from benchmarks.papers import __main__ as papers

FILES = sorted(papers.HERE.glob("bench_*.py"))
OUTCOME = {
    "name": "dynast-T4", "what": "Table 4", "error": "", "machine": {"cpus": 2, "memory_gb": 24.0, "system": "Linux",
    "python": "3.11", "libraries": {"numpy": "2"}},
    "cases": [{"case": "iris", "published": "27", "ours": 0.001, "rival": 0.02, "rival_name": "DuckDB", "ratio": 20.0,
    "equal": True, "note": "a | b"}],
}  # fmt: skip


@pytest.fixture(scope="module", params=FILES, ids=lambda file: file.stem)
def figures(request: pytest.FixtureRequest) -> Iterator[list[Benchmark]]:
    if not SHARED.is_dir():
        pytest.skip("the data sets are not in ../shared/data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(frame._QUICK, "1")
        yield frame.load(request.param)


def test_every_figure_runs_quickly_and_right(figures: list[Benchmark]) -> None:
    assert figures
    for figure in figures:
        cases = list(figure.run())
        assert cases, figure.name
        assert all(isinstance(case, Case) and case.published for case in cases), figure.name
        assert [case.case for case in cases if case.equal is False] == [], figure.name


def test_tables_stand_between_the_marks(tmp_path: Path) -> None:
    file = tmp_path / "papers.md"
    file.write_text(f"head\n{papers.BEGIN}\nold\n{papers.END}\ntail\n", encoding="utf-8")
    papers.write(file, [OUTCOME])
    text = file.read_text(encoding="utf-8")
    assert text.startswith("head\n")
    assert text.endswith(f"{papers.END}\ntail\n")
    assert "old" not in text
    assert "| iris | 27 | 1 ms | 20 ms DuckDB | 20 | yes | a / b |" in text


def test_the_document_has_the_marks() -> None:
    text = (papers.HERE.parents[1] / "docs" / "papers.md").read_text(encoding="utf-8")
    assert text.count(papers.BEGIN) == text.count(papers.END) == 1
