"""One random stream of batches through a state on disk, checked against every oracle after every batch.

Two small tables whose columns share values, with or without a key, in either null mode, watched by all engines with
random settings and given rules. Batches are feeds, inserts or upserts with deletes, and snapshots, of one table or of
both; some of them are wrong, and refused, or applied without what is wrong. Between batches the state may be closed and
opened again. `soak.py` runs many.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

import holdfast as hf
from holdfast.results.outcome import Outcome
from holdfast.table.nulls import NullMode
from tests.laws.expected import (
    DENIED,
    LISTED,
    MEASURED,
    NAMED,
    REFERENCED,
    SINGLE,
    Expected,
    Row,
    Tables,
    keeps_all,
)
from tests.laws.remembered import Remembering
from tests.oracle import rows as oracle
from tests.oracle.rows import Operation

SCHEMAS = {
    "t": pa.schema([("id", pa.int64()), ("n", pa.int64()), ("s", pa.string()), ("f", pa.float64()), ("y", pa.bool_())]),
    "u": pa.schema([("id", pa.int64()), ("m", pa.decimal128(5, 2)), ("s", pa.string())]),
}
_NAN = math.nan  # one object, so that it equals itself as a key
_POOLS: dict[pa.DataType, list[Any]] = {
    pa.int64(): [None, -1, 0, 1, 2, 2**60],
    pa.string(): [None, "", "a", "b", "é"],
    pa.float64(): [None, 0.0, -0.0, 0.5, 1.0, 2.0**60, _NAN],
    pa.bool_(): [None, True, False],
    pa.decimal128(5, 2): [None, Decimal("0.00"), Decimal("1.00"), Decimal("0.50"), Decimal("2.00")],
}
_IDS = range(1, 7)


@dataclass(frozen=True)
class _Part:
    """What a batch has for one table, the rows after it, whether it is wrong, and how many operations are ignored."""

    sources: dict[str, Any]
    after: list[Row]
    refused: bool = False
    ignored: int = 0


class Stream:
    """A state, and plain lists of the same rows. All choices come from one random generator."""

    def __init__(self, random: Random, folder: Path) -> None:
        self.random, self.path = random, folder / "state"
        self.key = random.choice([(), (0,)])
        self.nulls: NullMode = "equal" if random.random() < 0.5 else "distinct"
        self.settings: dict[str, Any] = {
            "error": random.choice([0.0, 0.0, 0.1, 0.4]),
            "max_lhs": random.choice([None, None, 1, 2]),
            "max_arity": random.choice([1, 2, 2, 3]),
            "compare": random.choice(["typed", "typed", "text"]),
            "pair_limit": random.choice([None, None, 0, 4]),
        }
        self.watch = ["column", "fd", "ucc", "ind"]
        if not self.settings["error"]:
            self.watch.append("od")
            self.settings["max_level"] = random.choice([None, 0, 2])
            self.settings["ordered"] = random.choice([None, "s", "*"])
            self.settings["method"] = random.choice(["auto", "borders", "borders"])
            if random.random() < 0.5:
                self.watch.append("pod")
                self.settings["vacuous"] = random.choice([False, True])
                if not self.settings["vacuous"]:
                    self.settings["min_coverage"] = random.choice([0.0, 0.0, 0.1, 0.3])
        self.given = random.sample(sorted(DENIED), 4) + random.sample(sorted(NAMED), 4)
        self.given += random.sample(sorted(LISTED), 2) if self.nulls == "equal" else []
        self.given += random.sample(sorted(REFERENCED), 2) + random.sample(sorted(SINGLE), 2)
        self.given += random.sample(sorted(MEASURED), 2)
        self.severity = {text: random.choice(["error", "error", "warn"]) for text in self.given}
        self.rows: Tables = {name: self._some_rows(name, random.choice([0, 1, 3, 8])) for name in SCHEMAS}
        self.broke: Counter[tuple[str, str, bool]] = Counter()  # by table, text, and whether it was given
        tables = {name: self._table(name, rows) for name, rows in self.rows.items()}
        rules = [
            {"name": f"r{i}", "table": "t", "rule": text, "severity": self.severity[text]}
            for i, text in enumerate(self.given)
        ]
        file = folder / "rules.json"
        file.write_text(json.dumps({"rules": rules}), encoding="utf-8")
        self.monitor = hf.Monitor.create(
            self.path,
            tables,
            watch=self.watch,
            rules=file,
            key=["id"] if self.key else (),
            nulls=self.nulls,
            **self.settings,
        )
        self.expected = self._expected()
        self._check_results()
        self.remembered = Remembering(self.path, self.monitor)

    def run(self, batches: int) -> None:
        """Apply random batches and check everything after each; check the history of the rules at the end."""
        for _ in range(batches):
            self._batch(self.random.choice([["t"], ["u"], ["t", "u"], ["u", "t"]]))
            if self.random.random() < 0.2:
                self.monitor.checkpoint()
            if self.random.random() < 0.1:
                self.monitor.vacuum(keep_events=True)
            if self.random.random() < 0.3:
                self.remembered.check_follower()
            if self.random.random() < 0.3:
                self.monitor.close()
                self.monitor = hf.Monitor.open(self.path)
                self._check_results()
        self._check_rediscovered()
        self._check_history()
        self.remembered.check_follower()
        self.remembered.close()
        self.monitor.close()

    # ---- batches ----------------------------------------------------------------------------------------------------

    def _batch(self, tables: Sequence[str]) -> None:
        ignore = self.random.random() < 0.3
        parts = {table: self._part(table, ignore) for table in tables}
        whole = any("snapshot" in part.sources for part in parts.values())
        aside = None if whole or self.random.random() < 0.7 else self.path.with_name("aside")
        refused = any(part.refused for part in parts.values()) and aside is None
        sources = self._together(parts)
        try:
            done = self.monitor.apply(**sources, on_missing="ignore" if ignore else "error", quarantine=aside)
        except hf.BadInput:
            assert refused, "a batch was refused that is right"
            self._check_results()
            return
        assert not refused, "a wrong batch was taken"
        assert done.batch.ignored == (sum(part.ignored for part in parts.values()) if ignore else 0)
        assert (done.quarantined is None) == (aside is None)
        assert {*done.batch.tables} == {*tables}
        self._check_step({table: part.after for table, part in parts.items()}, done)

    def _part(self, table: str, ignore: bool) -> _Part:
        """What a batch has for one table."""
        how = self.random.choice(["feed", "feed", "parts", "parts", "snapshot", *(["upserts"] if self.key else [])])
        if how == "snapshot":
            given = self._some_rows(table, self.random.choice([0, 1, 4, 8]))
            return _Part({"snapshot": self._table(table, given)}, _tidy(given))
        listed = self._operations(table, how)
        outcome = oracle.apply(self.rows[table], listed, self.key)
        if (outcome.missing or outcome.duplicate) and self.random.random() < 0.8:
            wrong = {*outcome.duplicate, *(() if ignore else outcome.missing)}
            listed = [each for place, each in enumerate(listed) if place not in wrong]
            outcome = oracle.apply(self.rows[table], listed, self.key)
        refused = bool(outcome.duplicate or (outcome.missing and not ignore))
        return _Part(self._sources(table, listed, how), _tidy(outcome.rows), refused, len(outcome.missing))

    def _together(self, parts: Mapping[str, _Part]) -> dict[str, Any]:
        """What is given to apply."""
        if len(parts) == 1:
            ((table, part),) = parts.items()
            return {**part.sources, "table": table}
        if self.random.random() < 0.5 and (feed := self._one_feed(parts)):
            return feed
        kinds = {kind for part in parts.values() for kind in part.sources}
        return {kind: {t: part.sources[kind] for t, part in parts.items() if kind in part.sources} for kind in kinds}

    def _one_feed(self, parts: Mapping[str, _Part]) -> dict[str, Any] | None:
        """The same as one feed that names the table of each row, where all parts are feeds that have rows; rows of one
        table stay in their order.
        """
        feeds = {table: part.sources["changes"] for table, part in parts.items() if "changes" in part.sources}
        if len(feeds) < len(parts) or not all(len(feed) for feed in feeds.values()):
            return None
        named = [feed.append_column("whose", pa.array([table] * len(feed))) for table, feed in feeds.items()]
        left = [name for name, feed in feeds.items() for _ in range(len(feed))]
        self.random.shuffle(left)
        rows = {table: iter(feed.to_pylist()) for table, feed in feeds.items()}
        schema = pa.unify_schemas([feed.schema for feed in named])
        mixed = [{**next(rows[table]), "whose": table} for table in left]
        return {"changes": pa.Table.from_pylist(mixed, schema=schema), "table_column": "whose"}

    def _operations(self, table: str, how: str) -> list[Operation]:
        old = self.random.choices(self.rows[table], k=self.random.randrange(4)) if self.rows[table] else []
        fresh = self._some_rows(table, self.random.choice([0, 1, 2, 5]), unique=how == "upserts")
        kind = "upsert" if how == "upserts" else "insert"
        listed = [("delete", row) for row in old] + [(kind, row) for row in fresh]
        if how == "feed":
            listed += [(self.random.choice(["insert", "delete"]), row) for row in fresh[:2]]
            self.random.shuffle(listed)
            if self.key:
                others = ["update", "upsert"]
                listed = [(self.random.choice([*others, *[kind] * 4]), row) for kind, row in listed]
                updates = [(row[0], *self._row(table)[1:]) for row in old]
                listed += [("update", row) for row in updates]
        return listed

    def _sources(self, table: str, listed: list[Operation], how: str) -> dict[str, Any]:
        if how == "feed":
            feed = self._table(table, [row for _, row in listed])
            return {"changes": feed.append_column("op", pa.array([kind for kind, _ in listed], pa.string()))}
        kinds = ("delete", "upsert" if how == "upserts" else "insert")
        parts = {kind: [row for each, row in listed if each == kind] for kind in kinds}
        return {f"{kind}s": self._table(table, rows) for kind, rows in parts.items()}

    def _some_rows(self, table: str, count: int, *, unique: bool = True) -> list[Row]:
        rows = [self._row(table) for _ in range(count)]
        return list({row[0]: row for row in rows}.values()) if self.key and unique else rows

    def _row(self, table: str) -> Row:
        values = [self.random.choice(_POOLS[field.type]) for field in SCHEMAS[table]]
        return (self.random.choice(_IDS), *values[1:])

    def _table(self, table: str, rows: Sequence[Row]) -> pa.Table:
        columns = [[row[c] for row in rows] for c in range(len(SCHEMAS[table]))]
        arrays = [pa.array(values, field.type) for values, field in zip(columns, SCHEMAS[table], strict=True)]
        return pa.Table.from_arrays(arrays, schema=SCHEMAS[table])

    # ---- checks -----------------------------------------------------------------------------------------------------

    def _expected(self) -> Expected:
        ids = self.monitor.tables["t"].living_ids().tolist()
        by_id = dict(zip(ids, self._living("t"), strict=True))
        return Expected(self.rows, by_id, self.given, self.nulls, self.settings)

    def _living(self, name: str) -> list[Row]:
        table = self.monitor.tables[name]
        return _tidy([tuple(row.values()) for row in table.values(table.living_ids()).to_pylist()])

    def _check_step(self, after: Tables, outcome: Outcome) -> None:
        before = self.expected
        self.rows |= after
        self.expected = self._expected()
        self._check_results()
        lost = Counter((rule.to_json().get("table", "*"), rule.text) for rule in outcome.lost)
        assert lost == Counter(before.lost_to(self.expected)), "exactly the rules broke that something tested"
        worse = self._check_violations(before, outcome)
        assert bool(outcome.alarms("any")) == (worse or bool(lost))
        reported = worse and bool(outcome.repeats)  # rows that copy a wrong value that was reported are no alarm
        assert outcome.broken == worse or reported, "so few rows make no found rule an alarm"
        self.broke.update((*rule, False) for rule in lost)
        turned = [text for text in self.given if not before.violated[text] and self.expected.violated[text]]
        self.broke.update(("t", text, True) for text in turned)
        self.remembered.check_batch(self.monitor, outcome, before, self.expected, self.key)

    def _check_violations(self, before: Expected, outcome: Outcome) -> bool:
        """New and gone violations of each given rule; whether one of severity error has new ones."""
        worse = False
        moved = {line["text"]: (line["new"], line["gone"]) for line in outcome.to_json() if "severity" in line}
        for text in self.given:
            were, are = before.violated[text], self.expected.violated[text]
            if keeps_all(text) or max(were, are) <= _limit(self.settings):
                new, gone = self.expected.moved_since(before, text, self.key)
                assert moved.get(text, (0, 0)) == (new, gone), text
            else:  # only their number is kept
                new = max(are - were, 0)
                assert moved.get(text, (None, None)) == (None, None), text
                assert (text in moved) == (are != were), text
            worse |= new > 0 and self.severity[text] == "error"
        return worse

    def _check_results(self) -> None:
        for name, rows in self.rows.items():
            assert Counter(self._living(name)) == Counter(_tidy(rows)), "the rows are those that the batches left"
        lines = [finding.to_json() for finding in self.monitor.results()]
        given = {line["text"]: line["violations"] for line in lines if "severity" in line}
        assert given == self.expected.violated
        self.expected.check_facts([line for line in lines if line["kind"] == "column"])
        rules = [line for line in lines if line["kind"] != "column" and "severity" not in line]
        self.expected.check_rules({(line.get("table", "*"), line["text"]): line for line in rules})
        for listing in self.monitor.violations():
            pairs = self.expected.pairs.get(listing.rule.text)
            assert listing.count == self.expected.violated[listing.rule.text]
            if pairs is not None and listing.pairs is not None:
                assert {(int(t), int(s)) for t, s in listing.pairs} == pairs

    def _check_rediscovered(self) -> None:
        """What is kept is what is found from scratch, in the same order, ranks and all."""
        tables = {name: self._table(name, rows) for name, rows in self.rows.items()}
        for rules in self.watch[1:]:
            found = hf.discover(tables, [rules], nulls=self.nulls, **self.settings)
            assert [f.to_json() for f in found] == [f.to_json() for f in self.monitor.results(rules)]
            ranked = [f.to_json() for result in self.monitor.ranked(rules) for f in result.values()]
            assert found.to_json() == ranked

    def _check_history(self) -> None:
        records = {(line["table"], line["text"], "name" in line): line for line in self.monitor.rule_history()}
        broke = {rule: line["broke"] for rule, line in records.items() if line["broke"]}
        assert broke == dict(self.broke), "the history counts how often each rule broke"


def _limit(settings: Mapping[str, Any]) -> float:
    limit = settings["pair_limit"]
    return math.inf if limit is None else float(limit)


def _tidy(rows: Sequence[Sequence[Any]]) -> list[Row]:
    """Rows in which NaN is one object, and -0.0 is 0.0."""
    plain = [oracle.plain_row(row) for row in rows]
    return [tuple(_NAN if value == "not a number" else value for value in row) for row in plain]
