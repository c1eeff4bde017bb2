"""References that were given: their orphans against the definition, along random streams over several tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.changes.diff import Diff, ViolationChange
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.rules.given import GivenRule, TableRules
from holdfast.rules.inclusion import parse
from holdfast.table.change import Batch
from holdfast.table.runner import Threads
from tests.engines.inclusion.several import Row, Several, batches, filled, first_rows, watched
from tests.oracle import inclusion as oracle

TEXTS = (
    "a.n in b.m",
    "a.n in a.d",
    "b.f in c.long",
    "c.k in a.n",
    "a(n, s) in b(m, t)",
    "a(n, d) in a(d, n)",
    "b(m, f) in c(k, long)",
)
_NONE = np.empty((0, 2), np.int64)
GIVEN = [GivenRule(f"ref{i}", parse(text).dependent.table, text) for i, text in enumerate(TEXTS)]
steps = st.lists(st.tuples(batches, st.sampled_from(["", "reload", "rewrite"])), max_size=5)


class Kept:
    """The engine's state of several tables, kept up to date."""

    def __init__(self, several: Several) -> None:
        self.several, self.tables = several, watched(several.tables)
        self.engine = make_engine("reference", given={"": TableRules(tuple(GIVEN))})
        self.state = self.engine.discover(self.tables, Threads())

    def apply(self, name: str, inserts: list[Row], deletes: list[int]) -> Diff:
        change = self.several.change(name, inserts, deletes)
        self.tables[name].follow(change, Threads())
        return self.engine.follow(self.state, Batch([change]), Threads())

    def reload(self) -> None:
        arrays, facts = self.engine.dump(self.state)
        self.several.reopen()
        self.tables = {
            name: WatchedTable(self.several.tables[name], *each.dump()) for name, each in self.tables.items()
        }
        self.state = self.engine.load(self.tables, arrays, facts)

    def rewrite(self) -> None:
        kept = self.several.rewrite(list(self.tables))
        for name, stays in kept.items():
            self.tables[name].rewritten(self.several.tables[name], stays)
        self.state = self.engine.rewritten(self.state, self.tables, kept)

    def result(self) -> dict[str, Any]:
        return dict(self.engine.result(self.state))

    def rows(self, name: str) -> dict[int, Row]:
        table = self.several.tables[name]
        ids = table.living_ids()
        return dict(zip(ids.tolist(), [tuple(row.values()) for row in table.values(ids).to_pylist()], strict=True))

    def places(self, name: str, columns: tuple[str, ...]) -> list[int]:
        names = [column.name for column in self.several.schemas[name]]
        return [names.index(column) for column in columns]

    def check(self) -> dict[str, set[int]]:
        """The orphans are what the definition says; gives them."""
        found = {}
        for listing in self.engine.listings(self.state, self.tables):
            ind = parse(listing.rule.text)
            rows, others = self.rows(ind.dependent.table), list(self.rows(ind.referenced.table).values())
            columns = self.places(ind.dependent.table, ind.dependent.columns)
            expected = oracle.orphans(rows, columns, others, self.places(ind.referenced.table, ind.referenced.columns))
            assert [tuple(pair) for pair in listing.listed.tolist()] == [(row, -1) for row in sorted(expected)], ind
            tested = sum(all(row[c] is not None for c in columns) for row in rows.values())
            line = self.result()[ind.text].to_json()
            assert line["violations"] == len(expected)
            assert line["g3"] == (len(expected) / len(rows) if expected else 0.0)
            assert line["score"] == (1 - len(expected) / tested if expected else 1.0)
            explained = self.engine.explain(self.state, self.tables, ind.text).to_json()
            assert (explained["holds"], explained["missing_rows"]) == (not expected, len(expected))
            found[ind.text] = expected
        return found


@settings(max_examples=30)
@given(first=first_rows, stream=steps)
def test_what_is_kept_is_what_the_definition_says(
    first: dict[str, list[Row]], stream: list[tuple[tuple[str, list[Row], list[int]], str]]
) -> None:
    kept = Kept(filled(first))
    orphans = kept.check()
    for batch, then in stream:
        before, were = kept.result(), orphans
        diff = kept.apply(*batch)
        orphans = kept.check()
        assert kept.result() == dict(kept.engine.result(kept.engine.discover(watched(kept.several.tables), Threads())))
        assert diff.patch(before) == kept.result()
        for text, now in orphans.items():
            change = diff.violations.get(text, ViolationChange(0, 0, _NONE, _NONE))
            assert {row for row, _ in change.added.tolist()} == now - were[text]
            assert {row for row, _ in change.resolved.tolist()} == were[text] - now
        if then:
            getattr(kept, then)()
            assert kept.check() == orphans


# ---- as users hold them ---------------------------------------------------------------------------------------------

CUSTOMERS = pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]})
ORDERS = pa.table({"no": [10, 11, 12, 13], "cust": [1, 2, 9, None]})
BOTH = {"orders": ORDERS, "customers": CUSTOMERS}
RULE = "orders.cust in customers.id"


def test_check_tells_the_rows_without_a_partner() -> None:
    checked = hf.check(BOTH, RULE)
    assert checked.violated
    (line,) = checked.to_json()
    assert (line["kind"], line["table"], line["name"], line["violations"]) == ("ind", "orders", "ref1", 1)
    assert checked.listings[0].to_arrow().to_pylist() == [{"rule": "ref1", "t_row": 2, "t.cust": 9}]
    assert repr(checked) == f"rules: 1, 1 of them violated\n  ref1: 1 row without a partner for {RULE}"


def test_a_state_keeps_them_under_batches_on_either_table(tmp_path: Path) -> None:
    with hf.Monitor.create(tmp_path / "s", BOTH, watch=[], rules=RULE, key={"orders": "no", "customers": "id"}) as m:
        outcome = m.apply(deletes=CUSTOMERS.slice(0, 1), table="customers")
        assert outcome.broken
        assert outcome.moved(RULE) == (1, 0)
    with hf.Monitor.open(tmp_path / "s") as m:
        assert m.violations("ref1")[0].to_arrow()["t.no"].to_pylist() == [10, 12]
        updated = pa.table({"_op": ["update"], "no": [12], "cust": [8]})
        assert m.apply(changes=updated, table="orders", operation_column="_op").moved(RULE) == (0, 0), "an orphan still"
        outcome = m.apply(inserts=pa.table({"id": [1, 8], "name": ["a", "h"]}), table="customers")
        assert not outcome.broken
        assert outcome.moved(RULE) == (0, 2)
        m.vacuum()
    with hf.Monitor.open(tmp_path / "s") as m:
        assert m.violations()[0].count == 0
        worse = "It got worse with batch 1 because of no 10 (cust 1), and holds again since batch 3."
        assert m.explain("ref1") == [f"{RULE} holds.", worse]
        assert m.apply(inserts=pa.table({"no": [14], "cust": [77]}), table="orders").broken
        assert [row["text"] for row in m.rule_history()] == [RULE]
    assert not hf.verify(tmp_path / "s", deep=True).problems


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("orders.cust in client.id", "there is no table 'client'"),
        ("orders.cust in customers.ID", "there is no column 'ID'"),
        ("orders.cust in customers.name", "cust (integer) and name (text) don't compare"),
        ("orders.cust in orders.cust", "has the same columns on both sides"),
        ("orders.cust in customers", "expected . or ( after customers; write orders.cust in customers.id, or"),
    ],
)
def test_what_can_not_be_is_refused(rule: str, said: str) -> None:
    with pytest.raises(BadInput, match=said.replace("(", r"\(").replace(")", r"\)")):
        hf.check(BOTH, [rule])


def test_the_table_of_a_reference_is_the_one_whose_rows_break_it(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(f"rules:\n  - {{table: customers, rule: '{RULE}', name: payer}}\n")
    with pytest.raises(BadInput, match="rule 'payer' is about rows of 'orders', not of 'customers'"):
        hf.check(BOTH, path)
    path.write_text(f"rules:\n  - {{table: orders, rule: '{RULE}', name: payer, severity: warn, note: who pays}}\n")
    checked = hf.check(BOTH, path)
    assert not checked.violated
    assert checked.to_json()[0]["note"] == "who pays"
