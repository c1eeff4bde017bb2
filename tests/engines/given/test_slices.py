"""Rules about some rows: `where` says which. All classes of given rules keep it."""

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
from tests.rules.some import is_true

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


REFERENCE = "t.a in u.a where t.b != 2"
ALL = [
    "a -> b where t.b != 1",
    "key(a) where t.b > 0 or t.a is null",
    "[a] orders [b] where t.b * 2 > 1",
    "not(t.a = s.a and t.b < s.b) where t.a + t.b < 5",
    "not(t.a > 1) where t.b = 1",
    "share(null a) <= 0.3 where t.b >= 1",
    "sum(a) <= 3 where t.b in (1, 2)",
    REFERENCE,
]


@pytest.mark.parametrize("text", ALL)
@settings(max_examples=15)
@given(ROWS, ROWS, ROWS, st.booleans())
def test_each_class_watches_the_rows_alone(text: str, first: Rows, later: Rows, others: Rows, reopened: bool) -> None:
    """As the same rule without `where` says of a table that has no other rows."""
    plain, _, where = text.partition(" where ")
    chosen = hf.check(_table([]), f"t.a = 1 where {where}").listings[0].rule.rule.where
    assert chosen is not None

    def among(rows: Rows) -> Rows:
        return [row for row in rows if is_true(chosen, (*row, None), (*row, None))]

    def expected(rows: Rows) -> int:
        tables = {"t": _table(among(rows)), "u": _table(others)}
        return int(hf.check(tables, Rules((RuleEntry("r", "t", plain),))).to_json()[0]["violations"])

    with TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        rules = Rules((RuleEntry("r", "t", text), RuleEntry("all", "t", plain)))
        with hf.Monitor.create(path, {"t": _table(first), "u": _table(others)}, watch=(), rules=rules) as watch:
            assert _violations(watch) == {text: expected(first), plain: _plainly(plain, first, others)}
            watch.apply(inserts={"t": _table(later)})
            if reopened:
                watch.checkpoint()
        with hf.Monitor.open(path) as watch:
            both = first + later
            assert _violations(watch) == {text: expected(both), plain: _plainly(plain, both, others)}
            watch.apply(deletes={"t": _table(first)})
            assert _violations(watch) == {text: expected(later), plain: _plainly(plain, later, others)}
            watch.vacuum()
            watch.apply(inserts={"t": _table(first)}, deletes={"t": _table(later)})
            assert _violations(watch) == {text: expected(first), plain: _plainly(plain, first, others)}
            watch.remove_rules(["all"])
            watch.apply(inserts={"t": _table(later)})
            assert _violations(watch) == {text: expected(both)}
        assert not hf.verify(path, deep=True).problems


def _violations(watch: hf.Monitor) -> dict[str, int]:
    return {line["text"]: line["violations"] for each in watch.results() if (line := each.to_json())}


def _plainly(text: str, rows: Rows, others: Rows) -> int:
    tables = {"t": _table(rows), "u": _table(others)}
    return int(hf.check(tables, Rules((RuleEntry("r", "t", text),))).to_json()[0]["violations"])


def test_what_people_read_of_it(tmp_path: Path) -> None:
    table = pa.table({"zip": [1, 1, 1, 2], "city": ["A", "B", "C", "D"], "country": ["DE", "DE", "FR", "DE"]})
    rules = ["zip -> city where t.country = 'DE'", "key(zip) where lower(t.country) = 'de'"]
    checked = hf.check(table, rules)
    assert [line["violations"] for line in checked.to_json()] == [1, 1]
    with hf.Monitor.create(tmp_path / "s", {"t": table}, watch=(), rules=rules) as watch:
        first, second = (watch.explain(rule) for rule in rules)
        assert first[0].startswith("zip -> city where t.country = 'DE'")
        assert "2 rows" not in first[0]
        assert "B" in first[1]
        assert "'C'" not in first[1]
        assert "zip = 1: 2 equal rows" in second[1]
        outcome = watch.apply(inserts=pa.table({"zip": [2], "city": ["E"], "country": ["FR"]}))
        assert not outcome.violations
        outcome = watch.apply(inserts=pa.table({"zip": [2], "city": ["E"], "country": ["DE"]}))
        assert {text: change.new for text, change in outcome.violations.items()} == dict.fromkeys(rules, 1)


def test_a_reference_within_one_table_refuses_it() -> None:
    with pytest.raises(hf.BadInput, match="is about one table, and where would be about both sides; leave it out"):
        hf.check({"t": _table([(1, 2)])}, "t.a in t.b where t.a > 0")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a -> b where t.c = 1", "there is no column 'c'"),
        ("key(a) where t.a = 'x'", "compares integer with text"),
        ("t.a in u.a where t.z > 0", "names? the column 'z'|there is no column 'z'"),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused(text: str, sentence: str) -> None:
    tables = {"t": _table([(1, 2)]), "u": _table([])}
    with pytest.raises(hf.BadInput, match=sentence):
        hf.check(tables, Rules((RuleEntry("r", "t", text),)))
