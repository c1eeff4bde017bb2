"""The paper's running example: table 1, and what examples 1.1, 4.6, 4.10 and 4.11 say of it, clusters included."""

from __future__ import annotations

import pyarrow as pa
import pytest

from holdfast.table.types import Column
from tests.engines.inclusion.several import Watched, filled

TABLE_1 = [tuple("aafa"), tuple("bbea"), tuple("bcfc"), tuple("ddfc")]
SCHEMA = {"r": tuple(Column(name, pa.string()) for name in "ABCD")}


@pytest.fixture
def watched() -> Watched:
    return Watched(filled({"r": list(TABLE_1)}, SCHEMA))


def clusters(watched: Watched) -> dict[str, int]:
    return {"".join(sorted(name for _, name in cluster)): n for cluster, n in watched.clusters().items()}


def dependencies(watched: Watched) -> set[str]:
    return {text.replace("r.", "") for text in watched.result()}


def test_table_1(watched: Watched) -> None:
    assert clusters(watched) == {"AB": 2, "ABD": 1, "BD": 1, "C": 2}
    assert dependencies(watched) == {"A in B", "D in B"}


def test_the_deletion(watched: Watched) -> None:
    diff = watched.apply("r", (), [1])
    assert clusters(watched) == {"ABD": 1, "AB": 1, "BD": 1, "A": 1, "C": 1}
    assert dependencies(watched) == {"D in B"}
    assert set(diff.lost) == {"r.A in r.B"}
    assert not diff.gained
    assert diff.witnesses["r.A in r.B"].to_json() == {
        "rows": [2],
        "values": [{"A": "b"}],
        "missing": [{"value": "b", "rows": 1}],
        "missing_values": 1,
        "missing_rows": 1,
    }


def test_the_insertion(watched: Watched) -> None:
    diff = watched.apply("r", [tuple("ccee")])
    assert clusters(watched) == {"ABD": 2, "AB": 2, "CD": 1, "C": 1}
    assert dependencies(watched) == {"A in B", "B in A"}
    assert (set(diff.lost), set(diff.gained)) == ({"r.D in r.B"}, {"r.B in r.A"})


def test_the_update(watched: Watched) -> None:
    watched.apply("r", [tuple("bgfg")], [2])
    assert clusters(watched) == {"ABD": 1, "AB": 2, "BD": 1, "D": 1, "C": 2}
    assert dependencies(watched) == {"A in B"}
