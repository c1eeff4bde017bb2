"""Rules about some rows: `where` says which. Rules about one row keep it, the other classes refuse it in a sentence."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.given.listing import PairListing
from holdfast.rules.file import RuleEntry, Rules
from holdfast.rules.registry import given_types, parse
from holdfast.rules.rule import Rule

Rows = list[tuple[int | None, int | None]]

VALUES = st.one_of(st.none(), st.integers(0, 3))
ROWS = st.lists(st.tuples(VALUES, VALUES), max_size=8)
RULE = "t.a > 1 where t.b in (1, 2)"


def _table(rows: Rows) -> pa.Table:
    return pa.table({name: pa.array([row[at] for row in rows], pa.int64()) for at, name in enumerate("ab")})


def _broken(rows: Rows) -> int:
    """A row breaks the rule of which `where` is true and the condition is false; a null makes either unknown."""
    return sum(b in (1, 2) and a is not None and not a > 1 for a, b in rows)


@settings(max_examples=25)
@given(ROWS, ROWS)
def test_as_the_definition_says_also_after_a_batch(first: Rows, later: Rows) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        with hf.Monitor.create(path, {"t": _table(first)}, watch=(), rules=[RULE]) as watch:
            assert [each.to_json()["violations"] for each in watch.results()] == [_broken(first)]
            watch.apply(inserts=_table(later))
            assert [each.to_json()["violations"] for each in watch.results()] == [_broken(first + later)]


def test_the_sentence_says_both() -> None:
    (listing,) = hf.check(_table([(0, 1), (0, 3), (2, 1)]), RULE).listings
    assert listing.count == 1
    assert isinstance(listing, PairListing)
    assert listing.explain(0) == "row 0: b 1 is in (1, 2); a 0 is at most 1"


@pytest.mark.parametrize("kind", [each for each in given_types() if each.kind != "row"], ids=lambda kind: kind.kind)
def test_other_classes_refuse_it(kind: type[Rule]) -> None:
    text = f"{kind.example} where t.Zip = 1"
    assert parse(text).text == text
    rules = Rules((RuleEntry("r", "" if kind.across else "orders", text),))
    with pytest.raises(hf.BadInput, match="a rule of this class can't have a where yet; leave it out"):
        hf.check({"orders": pa.table({"cust": [1]}), "customers": pa.table({"id": [1]})}, rules)
