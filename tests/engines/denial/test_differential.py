"""The second opinion: DuckDB's self-join on the data sets of the field, pair for pair, whole and under changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.rules.conditions import Arithmetic, Call, Cell, Operand
from holdfast.rules.denial import DenialConstraint
from holdfast.sources.dialect import CsvOptions
from holdfast.sources.local import read_csv, sniff_file
from holdfast.table.runner import Threads
from holdfast.table.table import Schema
from holdfast.table.types import Column, kept_type
from tests.engines.denial.streams import Stream, detect, discover, listed
from tests.sources.typed import typed_table

duckdb = pytest.importorskip("duckdb")

TAX = (
    "not(t.AreaCode = s.AreaCode and t.Phone = s.Phone)",
    "not(t.Zip = s.Zip and t.City != s.City)",
    "not(t.State = s.State and t.HasChild = s.HasChild and t.ChildExemp != s.ChildExemp)",
    "not(t.State = s.State and t.Salary > s.Salary and t.Rate < s.Rate)",
    "not(t.Zip = s.Zip and t.State != s.State)",
    "not(t.SingleExemp > t.Salary)",
    "not(t.MaritalStatus = 'M' and t.SingleExemp > 0)",
    "not(t.Salary = s.SingleExemp and t.State = s.State)",
    "not(t.State = s.State and t.MaritalStatus = s.MaritalStatus and t.SingleExemp != s.SingleExemp)",
    "not(t.Salary > s.Salary and t.Rate < s.Rate and t.State = 'TX' and s.State = 'TX')",
)
HOSPITAL = (
    "not(t.ProviderNumber = s.ProviderNumber and t.HospitalName != s.HospitalName)",
    "not(t.ZipCode = s.ZipCode and t.City != s.City)",
    "not(t.PhoneNumber = s.PhoneNumber and t.ProviderNumber != s.ProviderNumber)",
    "not(t.MeasureCode = s.MeasureCode and t.Condition != s.Condition)",
    "not(t.index < s.index and t.ProviderNumber > s.ProviderNumber)",
    "not(t.City = s.CountyName and t.State != s.State)",
)
CASES = [("tax_10k", rule) for rule in TAX]
CASES += [("tax_10k_dirty", rule) for rule in TAX]
CASES += [("hospital", rule) for rule in HOSPITAL]


def sql_of(constraint: DenialConstraint) -> str:
    """The constraint as a self-join; rows have their ids in a column `_row`."""

    def side(operand: Operand) -> str:
        assert not isinstance(operand, Arithmetic | Call)
        if isinstance(operand, Cell):
            return f'{operand.row}."{operand.column}"'
        return f"'{operand.value}'" if isinstance(operand.value, str) else str(operand.value)

    where = " and ".join(f"{side(p.left)} {p.operator} {side(p.right)}" for p in constraint.predicates)
    if constraint.is_single:
        return f"select t._row, -1 from data t where {where}"
    order = "t._row < s._row" if constraint.is_symmetric else "t._row != s._row"
    return f"select t._row, s._row from data t, data s where {order} and {where}"


def by_duckdb(data: pa.Table, ids: list[int], constraint: DenialConstraint) -> set[tuple[int, int]]:
    with duckdb.connect() as connection:
        connection.register("data", data.append_column("_row", pa.array(ids, pa.int64())))
        return set(connection.execute(sql_of(constraint)).fetchall())


def read(folder: Path, name: str) -> pa.Table:
    path = folder / f"{name}.csv"
    dialect, _ = sniff_file(path, CsvOptions())
    table, _ = typed_table(read_csv(path, dialect), CsvOptions(), None, str(path))
    return table


def stream_of(data: pa.Table) -> Stream:
    schema = Schema("data", tuple(Column(field.name, kept_type(field.type)) for field in data.schema))
    return Stream.of(schema, rows_of(data))


def rows_of(data: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in data.columns), strict=True))


_streams: dict[str, tuple[pa.Table, Stream]] = {}


def opened(folder: Path, name: str) -> tuple[pa.Table, Stream]:
    if name not in _streams:
        data = read(folder, name)
        _streams[name] = data, stream_of(data)
    return _streams[name]


@pytest.mark.parametrize(("name", "rule"), CASES)
def test_finds_what_duckdb_finds(shared_data: Path, name: str, rule: str) -> None:
    data, stream = opened(shared_data, name)
    constraint = DenialConstraint.parse(rule)
    (found,) = detect(stream.table, [constraint], Threads())
    assert listed(found) == by_duckdb(data, list(range(len(data))), constraint)


@pytest.mark.parametrize("name", ["tax_10k", "tax_10k_dirty"])
def test_follows_what_duckdb_finds_under_changes(shared_data: Path, name: str) -> None:
    data = read(shared_data, name)
    rules = [DenialConstraint.parse(rule) for rule in TAX]
    rng = np.random.default_rng(11)
    stream = stream_of(data.slice(0, 6000))
    state = discover(stream.table, rules, Threads())
    living = list(range(6000))
    for start in (6000, 7000, 9000):
        born = data.slice(start, 1000 if start < 9000 else None)
        dead = sorted(rng.choice(living, 700, replace=False).tolist())
        first = stream.table.next_id
        state.follow(stream.change(rows_of(born), dead))
        living = sorted({*living, *range(first, first + len(born))} - set(dead))
        now = pa.table(
            {c.name: stream.table.values(np.array(living)).column(c.name) for c in stream.table.schema.columns}
        )
        for rule, found in zip(rules, state.found(), strict=True):
            assert listed(found) == by_duckdb(now, living, rule), rule.text
