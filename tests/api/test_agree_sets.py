"""Agree-sets as users get them: against their definition, under batches, what came and went, and what they cost."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.api import agree_sets as api
from holdfast.engines.functional import agree_sets as counting
from holdfast.pairs import watch as pair_watch
from holdfast.pairs.multiset import largest_first
from holdfast.results.agree_sets import AgreeSets
from holdfast.store.store import Store
from tests.oracle import agree as oracle

Row = tuple[Any, ...]
Sets = Counter[frozenset[str]]
NAMES = ("a", "b", "c", "d")
FIRST = [  # the paper's Table 1
    ("John", "Bond", "Manager", 2500),
    ("Marie", "Miller", "Manager", 3000),
    ("Marie", "Bond", "Employee", 2000),  # the table prints "Employer", but its agree-sets need "Employee"
    ("Tom", "Gray", "Manager", 3000),
]
FRESH = [("John", "Miller", "Employee", 2000), ("Anna", "Scott", "Manager", 3000)]
EMPLOYEE = ("FN", "LN", "P", "S")
values = st.one_of(st.none(), st.integers(0, 2))
rows = st.lists(st.tuples(*[values] * len(NAMES)), max_size=8)
null_modes = st.sampled_from(["equal", "distinct"])


def arrow(of: Sequence[Row], names: Sequence[str] = NAMES) -> pa.Table:
    kinds = [pa.string() if any(isinstance(row[c], str) for row in of) else pa.int64() for c in range(len(names))]
    return pa.table({name: pa.array([row[c] for row in of], kinds[c]) for c, name in enumerate(names)})


def by_definition(of: Sequence[Row], nulls: str = "equal", names: Sequence[str] = NAMES) -> Sets:
    counts = oracle.agree_sets(of, nulls).items()
    return Counter({frozenset(names[c] for c in held): pairs for held, pairs in counts})


def plain(found: Sequence[hf.AgreeSet]) -> Sets:
    assert len({each.columns for each in found}) == len(found)
    return Counter({frozenset(each.columns): each.pairs for each in found})


def subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))


def is_sorted(found: Sequence[hf.AgreeSet]) -> bool:
    keys = [(-len(each.columns), -each.pairs) for each in found]
    return keys == sorted(keys)


# ---- the paper -------------------------------------------------------------------------------------------------------


def test_table_1_of_the_paper(tmp_path: Path) -> None:
    """Sections 1 and 6: the sets of the first rows, and what the batch does to them. The paper leaves out the empty
    set.
    """
    with hf.Monitor.create(tmp_path / "s", {"emp": arrow(FIRST, EMPLOYEE)}, watch="fd") as watch:
        assert {each.columns for each in watch.agree_sets()} == {("P", "S"), ("P",), ("LN",), ("FN",), ()}
        watch.apply(deletes=arrow(FIRST[3:], EMPLOYEE), inserts=arrow(FRESH, EMPLOYEE))
        found = watch.agree_sets()
        assert {each.columns: each.pairs for each in found if each.columns} == {
            ("P", "S"): 2, ("P",): 2, ("LN",): 2, ("FN",): 2,
        }  # fmt: skip
        assert found.error("LN -> P") == found.error("S -> FN") == 0.2
        assert found.error("S -> P") == 0.0
        assert [each.columns for each in found.breaking("LN -> P")] == [("LN",)]
        change = found.change(1)
        assert (change.came, change.went, change.before, change.after) == ((), (), 5, 5)
        assert str(change) == "emp, batch 1: 5 agree-sets before, 5 after\nno agree-set came or went"


@pytest.mark.parametrize(("name", "published"), [("iris", 27), ("bridges", 644)])
def test_as_many_as_the_paper_counts(shared_data: Path, name: str, published: int) -> None:
    """Table 4."""
    found = hf.agree_sets(shared_data / f"{name}.csv")
    assert (len(found), found.pairs) == (published, found.all_pairs)


# ---- against the definition ------------------------------------------------------------------------------------------


@given(rows, null_modes)
def test_a_table_that_is_read_once(of: list[Row], nulls: Any) -> None:
    found, wanted = hf.agree_sets(arrow(of), nulls=nulls), by_definition(of, nulls)
    assert plain(found) == wanted
    assert is_sorted(found)
    assert (found.pairs, len(found), found.nulls) == (wanted.total(), len(wanted), nulls)
    for held in subsets(NAMES):
        for lacking in subsets([name for name in NAMES if name not in held]):
            some = found.containing(held, lacking)
            chosen = {own: n for own, n in wanted.items() if own.issuperset(held) and not own.intersection(lacking)}
            assert plain(some) == chosen
            assert some.pairs == sum(chosen.values())


@given(rows, null_modes)
def test_the_error_of_every_candidate(of: list[Row], nulls: Any) -> None:
    found = hf.agree_sets(arrow(of), nulls=nulls)
    for held in subsets(NAMES):
        places, left = [NAMES.index(name) for name in held], ", ".join(held)
        candidates: list[tuple[str, int | None]] = [(f"key({left})", None)]
        candidates += [(f"{left or '()'} -> {NAMES[c]}", c) for c in range(len(NAMES)) if NAMES[c] not in held]
        for text, rhs in candidates:
            broken = oracle.agreeing(of, places, rhs, nulls)
            assert found.error(text) == (broken / found.all_pairs if broken else 0.0)
            assert found.breaking(text).pairs == broken
            assert found.candidate(text).text == text
            assert found.sentence(text).startswith(text)


@given(rows)
def test_found_rules_are_the_candidates_without_an_error(of: list[Row]) -> None:
    found = hf.agree_sets(arrow(of))
    for rule in hf.discover(arrow(of), "fd, ucc"):
        assert found.error(rule.text) == 0.0


@given(rows, st.integers(0, 6), st.integers(0, 6))
def test_pages_are_slices(of: list[Row], offset: int, limit: int) -> None:
    found = hf.agree_sets(arrow(of))
    assert found.page(offset, limit) == tuple(found)[offset : offset + limit] == found[offset : offset + limit]
    assert found.page(offset, None) == tuple(found)[offset:]
    assert found.page() == tuple(found)[:20]
    assert [found[place] for place in range(len(found))] == list(found)


@given(rows, st.integers(1, 5))
def test_the_largest_are_the_first_in_order(of: list[Row], most: int) -> None:
    sets = hf.agree_sets(arrow(of)).signatures
    every, some = (largest_first(sets.sets, sets.counts, limit).tolist() for limit in (None, most))
    weights = [(int(sets.sets[place].sum()).bit_count(), int(sets.counts[place])) for place in every]
    assert weights == sorted(weights, reverse=True)
    assert [weights[every.index(place)] for place in some] == weights[:most]


# ---- under batches ---------------------------------------------------------------------------------------------------


class Stream:
    """A state that keeps agree-sets counted, with a plain list of the same rows; every batch is checked."""

    def __init__(self, path: Path, start: list[Row], nulls: Any) -> None:
        self.path, self.rows, self.nulls = path, list(start), nulls
        tables = {"t": arrow(start), "other": pa.table({"x": [1, 1, 2]})}
        self.watch = hf.Monitor.create(path, tables, watch="fd", nulls=nulls)
        self.changes: dict[int, tuple[Sets, Sets]] = {}

    def apply(self, born: list[Row], places: Sequence[int]) -> None:
        """Insert some rows, and delete those at some places: together, an update."""
        doomed = {place % len(self.rows) for place in places} if self.rows else set()
        gone = [self.rows[place] for place in doomed]
        before = by_definition(self.rows, self.nulls)
        self.rows = [row for place, row in enumerate(self.rows) if place not in doomed] + born
        outcome = self.watch.apply(
            inserts=arrow(born) if born else None,
            deletes=arrow(gone) if gone or not born else None,
            table="t",
        )
        if outcome.batch.inserted or outcome.batch.deleted:
            self.changes[outcome.batch.number] = before, by_definition(self.rows, self.nulls)

    def reopen(self) -> None:
        self.watch.close()
        self.watch = hf.Monitor.open(self.path)

    def check(self, view: hf.View) -> None:
        found = view.agree_sets(table="t")
        assert plain(found) == by_definition(self.rows, self.nulls)
        stored = view.memory().agree_sets("t")
        assert [change.batch for change in stored] == list(self.changes)
        for change in stored:
            before, after = self.changes[change.batch]
            assert change == found.change(change.batch) == view.agree_set_change(change.batch, table="t")
            assert (change.before, change.after) == (len(before), len(after))
            assert plain(change.came) == {own: pairs for own, pairs in after.items() if own not in before}
            assert plain(change.went) == {own: pairs for own, pairs in before.items() if own not in after}
            assert (change.came_in_all, change.went_in_all) == (len(change.came), len(change.went))
            assert is_sorted(change.came)
            assert is_sorted(change.went)


batches = st.lists(
    st.tuples(st.lists(st.tuples(*[values] * len(NAMES)), max_size=4), st.lists(st.integers(0, 20), max_size=4)),
    max_size=4,
)


@settings(max_examples=20)
@given(rows, batches, null_modes, st.integers(0, 4), st.sampled_from([0, 1000]))
def test_streams_of_batches(start: list[Row], stream: list[Any], nulls: Any, reopened: int, few: int) -> None:
    """Large batches, here those of more than `few` rows, have all pairs counted again."""
    with tempfile.TemporaryDirectory() as folder, patch.object(pair_watch, "_FEW", few):
        world = Stream(Path(folder) / "s", start, nulls)
        with hf.View.open(world.path) as follower:
            for number, (born, places) in enumerate(stream):
                if number == reopened:
                    world.reopen()
                world.apply(born, places)
                world.check(world.watch)
                follower.follow()
                world.check(follower)
        world.reopen()
        world.check(world.watch)
        world.watch.checkpoint()
        world.reopen()
        world.check(world.watch)
        assert world.watch.memory().agree_sets("other") == []
        world.watch.close()


def test_a_result_does_not_change_with_the_next_batch(tmp_path: Path) -> None:
    with hf.Monitor.create(tmp_path / "s", arrow(FIRST, EMPLOYEE), watch="ucc") as watch:
        before = watch.agree_sets()
        known = plain(before)
        watch.apply(inserts=arrow(FRESH, EMPLOYEE))
        assert plain(before) == known == by_definition(FIRST, names=EMPLOYEE)
        assert plain(watch.agree_sets()) == by_definition(FIRST + FRESH, names=EMPLOYEE)
        assert before.error("key(S)") == 1 / 6


def test_updates_by_key(tmp_path: Path) -> None:
    start = pa.table({"id": [1, 2, 3], "a": [1, 1, 2]})
    with hf.Monitor.create(tmp_path / "s", start, watch="fd", key="id") as watch:
        watch.apply(upserts=pa.table({"id": [2], "a": [3]}))
        (change,) = watch.memory().agree_sets("table")
        assert change.to_json() == {
            "kind": "agree-set-change", "table": "table", "batch": 1, "before": 2, "after": 1, "came_in_all": 0,
            "went_in_all": 1, "came": [], "went": [{"columns": ["a"], "before": 1, "after": 0}],
        }  # fmt: skip


def test_only_the_largest_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST_RECORDED", 2)
    with hf.Monitor.create(tmp_path / "s", {"t": arrow([(0, 0, 0, 0)])}, watch="fd") as watch:
        watch.apply(inserts=arrow([(0, 0, 0, 1), (0, 0, 2, 2), (0, 3, 3, 3)]))
        change = watch.agree_set_change(1)
        assert [each.columns for each in change.came] == [("a", "b", "c"), ("a", "b")]
        assert (change.came_in_all, change.before, change.after) == (3, 0, 3)
        assert str(change).splitlines() == [
            "t, batch 1: 0 agree-sets before, 3 after", "came: 3, 2 of them here", "  1 pair: all but d",
            "  2 pairs: a, b",
        ]  # fmt: skip
        assert change.page(1, 1).came == change.came[1:]
        assert change.page(0, 1).sections() == [("came: 3, 1 of them here", change.came[:1])]


# ---- a state that changes --------------------------------------------------------------------------------------------


def test_columns_have_their_present_names(tmp_path: Path) -> None:
    with hf.Monitor.create(tmp_path / "s", {"t": arrow(FIRST, EMPLOYEE)}, watch="fd") as watch:
        watch.apply(inserts=arrow([("Eve", "Moss", "Manager", 3000), ("Eve", "Bond", "Boss", 9000)], EMPLOYEE))
        watch.rename_column("FN", "first name")
        watch.drop_column("S")
        (change,) = watch.memory().agree_sets("t")
        assert [each.columns for each in change.came] == []
        watch.apply(inserts=pa.table({"first name": ["Eve"], "LN": ["Bond"], "P": ["Chief"]}))
        (_, change) = watch.memory().agree_sets("t")
        assert [each.columns for each in change.came] == [("first name", "LN")]
        watch.rename_column("first name", "name")
        (_, change) = watch.memory().agree_sets("t")
        assert [each.columns for each in change.came] == [("name", "LN")]


def test_what_is_stored_of_a_dropped_table_goes(tmp_path: Path) -> None:
    tables = {"t": pa.table({"a": [1, 2]}), "u": pa.table({"a": [1, 2]})}
    with hf.Monitor.create(tmp_path / "s", tables, watch="fd") as watch:
        watch.apply(inserts={name: pa.table({"a": [1]}) for name in tables})
        assert [len(watch.memory().agree_sets(name)) for name in tables] == [1, 1]
        watch.drop_table("t")
        watch.add_table("t", tables["t"])
        assert [len(watch.memory().agree_sets(name)) for name in tables] == [0, 1]
        watch.vacuum()
        assert len(watch.memory().agree_sets("u")) == 1


def test_a_table_without_counts_gets_no_record(tmp_path: Path) -> None:
    with hf.Monitor.create(tmp_path / "s", {"t": arrow(FIRST, EMPLOYEE)}, watch="fd", method="borders") as watch:
        watch.apply(inserts=arrow(FRESH, EMPLOYEE))
        with pytest.raises(hf.BadInput, match=r"batch 1: nothing is stored .* of t; .* or they were not counted then"):
            watch.agree_set_change(1)
        with pytest.raises(hf.BadInput, match=r"there is no batch 2 .*; the last is 1"):
            watch.agree_set_change(2)
        with pytest.raises(hf.BadInput, match=r"t: this state does not keep .* 15 pairs of rows would take .*--count"):
            watch.agree_sets()
        assert plain(watch.agree_sets(count=True)) == by_definition(FIRST + FRESH, names=EMPLOYEE)
        watch.drop_column("S")
    with Store(tmp_path / "s")._db as database:
        assert not database.execute("SELECT * FROM sqlite_master WHERE name = 'evidence_changes'").fetchall()


# ---- what it costs, and what is refused ------------------------------------------------------------------------------


def test_many_pairs_are_counted_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "MOST_PAIRS", 5)
    table = arrow(FIRST, EMPLOYEE)
    with pytest.raises(hf.BadInput, match=r"t: 6 pairs of rows would take less than a second; .* add --count"):
        hf.agree_sets({"t": table})
    monkeypatch.setattr(api, "seconds_to_count", lambda pairs, columns: 10.0 * pairs * columns)
    with pytest.raises(hf.BadInput, match="6 pairs of rows would take about 240 seconds"):
        hf.agree_sets(table)
    assert len(hf.agree_sets(table, count=True)) == 5
    monkeypatch.setattr(api, "MOST_PAIRS", 6)
    assert len(hf.agree_sets(table)) == 5


def test_what_is_refused() -> None:
    table = arrow(FIRST, EMPLOYEE)
    found = hf.agree_sets({"emp": table})
    for wrong, words in (
        (lambda: found.containing("Pp"), "no column 'Pp' in emp; did you mean 'P'"),
        (lambda: found.containing("P", lacking="P"), "no agree-set both has 'P' and lacks it"),
        (lambda: found.error("P -> Q"), "Q"),
        (lambda: found.error("{P<} -> S<="), "write A, B -> C or key"),
        (lambda: found.page(-1), "can't be -1"),
        (lambda: found.change(1), "emp is not watched"),
        (lambda: hf.agree_sets({"a": table, "b": table}), "2 tables are given"),
        (lambda: hf.agree_sets(pa.table({f"c{i}": [1] for i in range(513)})), "this table has 513"),
        (lambda: hf.agree_sets(table, columns="Q"), "'Q'"),
    ):
        with pytest.raises(hf.BadInput, match=words):
            wrong()


def test_only_some_columns_are_read() -> None:
    found = hf.agree_sets(arrow(FIRST, EMPLOYEE), columns=["P", "S"])
    assert {each.columns: each.pairs for each in found} == {("P", "S"): 1, ("P",): 2, (): 3}
    assert found.left_out == ("FN", "LN")


# ---- how they are shown ----------------------------------------------------------------------------------------------


def shown() -> AgreeSets:
    return hf.agree_sets({"emp": arrow(FIRST, EMPLOYEE)})


def test_lines_and_objects() -> None:
    found = shown()
    assert str(found).splitlines() == [
        "emp: 5 agree-sets of 6 pairs of rows", "  1 pair: P, S", "  2 pairs: P", "  1 pair: FN", "  1 pair: LN",
        "  1 pair: no column",
    ]  # fmt: skip
    some = found.containing("P")
    assert some.heading == "emp: 2 agree-sets with P: 3 of 6 pairs of rows (50.0000%)"
    assert some.containing(lacking="S").heading.startswith("emp: 1 agree-set with P, without S: 2 of 6")
    assert some.to_json()[0] == {"kind": "agree-set", "columns": ["P", "S"], "pairs": 1}
    assert found.to_arrow().column_names == ["columns", "pairs"]
    assert found.to_arrow().num_rows == 5
    assert found.sentence("P -> FN") == "P -> FN: 3 pairs of rows of 6 break it, g1 50.0000%"
    assert found.sentence("LN, P -> FN") == "LN, P -> FN holds: no pair of rows breaks it"


def test_wide_sets_are_cut() -> None:
    wide = pa.table({f"c{i}": [1, 1 if i < 30 else 2] for i in range(60)})
    (one,) = hf.agree_sets(wide)
    assert one.in_words.endswith("c11, 18 more")
    assert (len(one.columns), len(one.lacking)) == (30, 30)


def test_notebooks_show_tables(tmp_path: Path) -> None:
    assert "<td>P, S</td>" in hf.html_of(shown())
    names = ("<b>", "x")
    with hf.Monitor.create(tmp_path / "s", arrow([(1, 2)], names), watch="fd") as watch:
        watch.apply(inserts=arrow([(1, 3)], names))
        html = hf.html_of(watch.agree_set_change(1))
        assert "came: 1" in html
        assert "&lt;b&gt;" in html
        assert "<b>" not in html
