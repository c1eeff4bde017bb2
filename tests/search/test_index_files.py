"""Indexes in files: a search that was dumped and opened again goes on as one in memory does, and damage is noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import Damaged
from holdfast.search import index, index_files, search
from holdfast.search.queries import Condition, PairQuery
from holdfast.search.search import PairSearch
from holdfast.table import files, private_arrays
from holdfast.table.nulls import Nulls
from tests.engines.denial.streams import Stream
from tests.search.test_search import MANY, SCHEMA, as_set, follow, meanings, queries, rows, wanted

many = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
batches = st.lists(
    st.tuples(st.lists(rows, max_size=6), st.lists(st.integers(0, 40), max_size=5), st.booleans()), max_size=6
)


@pytest.fixture(scope="module", autouse=True)
def every_index_has_a_file() -> Any:
    """However few rows it has; and it is rewritten when more than a few rows, or half of them, have changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_files, "FEWEST", 0)
        patch.setattr(search, "FEWEST", 0)
        patch.setattr(index_files, "_FEW", 6)
        for module in (index_files, index):
            patch.setattr(module, "MUCH", 2)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("indexes"))


def again(old: PairSearch, folder: str, nulls: Nulls) -> PairSearch:
    """The search as another process would open it, order keys and all."""
    old.write_indexes(folder)
    path = f"{folder}/dump.arrow"
    files.write(path, *old.dump())
    arrays, facts = files.read(path)
    new = PairSearch(replace(old.table, _order={}), old.queries, nulls)
    new.open_when_needed({name: arrays[name].copy() for name in arrays}, facts, folder)
    return new


@many
@given(st.lists(rows, max_size=14), batches, st.lists(queries, min_size=1, max_size=3), meanings)
def test_a_search_from_files_follows_as_one_in_memory_does(
    folder: str,
    start: list[tuple[Any, ...]],
    changes: list[tuple[list[tuple[Any, ...]], list[int], bool]],
    queries: list[PairQuery],
    nulls: Nulls,
) -> None:
    stream = Stream.of(SCHEMA, start)
    kept_search = again(PairSearch(stream.table, queries, nulls), folder, nulls)
    for inserted, picks, reopened in changes:
        if reopened:
            kept_search = again(kept_search, folder, nulls)
        before = [wanted(stream, query, nulls) for query in queries]
        dead = sorted({list(stream.rows)[pick % len(stream.rows)] for pick in picks}) if stream.rows else []
        stream.table = replace(stream.table, _order=kept_search.table._order)
        batch = follow(kept_search, stream.change(inserted, dead), range(len(queries)))
        for number, query in enumerate(queries):
            now = wanted(stream, query, nulls)
            left = {pair for pair in before[number] if not set(pair) & set(dead)}
            assert as_set(batch.added(number, MANY)) == now - left
            assert batch.lost[number] == len(before[number]) - len(left)
            assert kept_search.count(number) == len(now)


def test_an_index_by_a_key_does_not_stand_in_for_one_by_the_same_leading_column(folder: str) -> None:
    """Rows without a key are in the second alone (found by the property above)."""
    nobody, one = (None, None, None, None), (None, 0, None, None)
    queries = [PairQuery((Condition(0, "!=", 0), Condition(1, operator, 1))) for operator in ("=", "<")]
    stream = Stream.of(SCHEMA, [nobody] * 4)
    search = again(PairSearch(stream.table, queries), folder, Nulls.SQL)
    for inserted, dead in (([nobody] * 5 + [one], [0]), ([nobody, one, one], [1, 2]), ([], [3])):
        search = again(search, folder, Nulls.SQL)
        follow(search, stream.change(inserted, dead), (0, 1))
    assert [search.count(number) for number in (0, 1)] == [0, 0]


QUERY = PairQuery((Condition(0, "=", 0), Condition(1, "<", 1)))


def large(folder: str, count: int = 40_000) -> tuple[Stream, PairSearch]:
    stream = Stream.of(SCHEMA, [(row // 2, row, "a", None) for row in range(count)])
    made = PairSearch(stream.table, [QUERY])
    made.write_indexes(folder)
    return stream, made


def test_a_file_stays_while_little_changes(tmp_path: Path) -> None:
    stream, made = large(str(tmp_path))
    (name,) = made.dump()[1]["files"]
    for number in range(3):
        made = again(made, str(tmp_path), Nulls.SQL)
        batch = follow(made, stream.change([(0, -1 - number, "b", "c")], [2 * number + 2]))
        added = batch.added(0, MANY)
        assert added is not None
        assert len(added) == 2 + number
        assert made.dump()[1]["files"] == [name]
    follow(made, stream.change([(0, 0, "a", None)], []))
    made = again(made, str(tmp_path), Nulls.SQL)
    assert made.dump()[1]["files"] == [name]
    assert made.first(0) is not None
    made = again(made, str(tmp_path), Nulls.SQL)  # that took long: the next one need not make up for as much
    assert made.dump()[1]["files"] != [name]
    assert made.count(0) == PairSearch(stream.table, [QUERY]).count(0)


def test_where_leaves_are_summed_otherwise_the_index_is_made_from_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "SUMS", "as they once were")
    stream, made = large(str(tmp_path))
    (name,) = made.dump()[1]["files"]
    monkeypatch.undo()
    made = again(made, str(tmp_path), Nulls.SQL)
    assert made.count(0) == PairSearch(stream.table, [QUERY]).count(0)
    assert again(made, str(tmp_path), Nulls.SQL).dump()[1]["files"] != [name]


def test_where_a_file_is_gone_the_index_is_made_from_the_table(tmp_path: Path) -> None:
    _, made = large(str(tmp_path))
    opened = again(made, str(tmp_path), Nulls.SQL)
    for name in made.dump()[1]["files"]:
        (tmp_path / name).unlink()
    assert opened.count(0) == made.count(0) == 20_000


def test_an_opened_index_leaves_its_file_as_it_is(tmp_path: Path) -> None:
    stream, made = large(str(tmp_path))
    (name,) = made.dump()[1]["files"]
    before = (tmp_path / name).read_bytes()
    opened = again(made, str(tmp_path), Nulls.SQL)
    follow(opened, stream.change([(row, 0, "a", None) for row in range(2_000)], list(range(0, 9_000, 3))))
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("part", ["ids", "values", "child", "lows", "fences"])
def test_a_bit_that_turned_is_noticed_where_it_is_used(tmp_path: Path, part: str) -> None:
    stream, made = large(str(tmp_path))
    (name,) = made.dump()[1]["files"]
    opened = again(made, str(tmp_path), Nulls.SQL)
    whole = np.memmap(tmp_path / name, np.uint8, "r+")
    whole[private_arrays._contents(str(tmp_path / name))[0][part][0]] ^= 1
    whole.flush()
    with pytest.raises(Damaged):
        follow(opened, stream.change([(0, 7, "a", None)], [])).added(0, MANY)


def test_damage_gets_no_new_checksum(tmp_path: Path) -> None:
    stream, made = large(str(tmp_path))
    (name,) = made.dump()[1]["files"]
    opened = again(made, str(tmp_path), Nulls.SQL)
    whole = np.memmap(tmp_path / name, np.uint8, "r+")
    whole[private_arrays._contents(str(tmp_path / name))[0]["values"][0] + (1 << 19)] ^= 1
    whole.flush()
    for _ in range(5):
        follow(opened, stream.change([(0, 7, "a", None)] * 9_999, []))
    with pytest.raises(Damaged):
        opened.write_indexes(str(tmp_path))


def test_deleted_values_do_not_stay_in_a_rewritten_file(tmp_path: Path) -> None:
    secret = 0x5EC2E7C0DE
    stream = Stream.of(SCHEMA, [(row // 2, row, "a", None) for row in range(5_000)] + [(1, secret, "a", None)])
    made = PairSearch(stream.table, [QUERY])
    follow(made, stream.change([(1, 3, "a", None)], [5_000]))
    made.write_indexes(str(tmp_path))
    (name,) = made.dump()[1]["files"]
    assert secret.to_bytes(8, "little") not in (tmp_path / name).read_bytes()
