"""A state seen from outside: its tables and what holds in them, loaded as of one moment.

The tables and the engines' states are kept as of a checkpoint, and the batches since are replayed when a state is
opened. `Monitor` builds on this, and changes what is seen here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, Self

from holdfast.api.history import RuleHistory
from holdfast.api.rows import Row, matching, rows_of
from holdfast.changes.diff import Diff, Finding, Result
from holdfast.engines.contract import Settings
from holdfast.engines.functional.model import is_dependency
from holdfast.engines.listing import Listing, Lists
from holdfast.engines.registry import ALL_TABLES, GIVEN, engine
from holdfast.errors import BadInput, Missing, refuse_below
from holdfast.progress import Progress
from holdfast.store.records import BatchRecord, TableRecord
from holdfast.store.replay import replayed
from holdfast.store.store import Store
from holdfast.table import files
from holdfast.table.change import Change
from holdfast.table.load import load_table
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Table
from holdfast.visible import visible

_ATTEMPTS = 5
_OWN = "rules of your own"


class Explanation(Protocol):
    """Whether a rule holds, how far, and which rows to look at."""

    def lines(self) -> list[str]:
        """As text, a line each."""

    def to_json(self) -> dict[str, Any]:
        """As a plain object."""


def _shape(table: Table) -> str:
    key = ", ".join(table.schema.names[place] for place in table.schema.key)
    return f"{table.rows:,} rows, {len(table.schema.columns):,} columns" + (f", key {key}" if key else "")


class View:
    """What a state shows. Close it, or use it in a `with` statement."""

    def __init__(self, store: Store, spark: Any, progress: Progress | None) -> None:
        self._store, self._spark, self._progress = store, spark, progress or Progress()
        self._runner: Runner = Threads()
        self._engines = {name: engine(name, self._settings()) for name in store.watched}
        self._tables: dict[str, Table] = {}
        self._states: dict[tuple[str, str], Any] = {}
        self._records: dict[str, TableRecord] = {}
        self._waiting: list[tuple[str, Change]] = []  # by table: what the engines have not seen yet
        self._stale = self._closed = False
        self._replay_seconds, self._replay_batches = 0.0, 0

    def __repr__(self) -> str:
        heading = f"{type(self).__name__} of {self._store.path}"
        if self._closed:
            return visible(f"{heading}, closed")
        latest = self._store.history(1)
        lines = [
            f"{heading}: {latest[-1].seq if latest else 0:,} batches applied",
            *(f"  {name}: {_shape(table)}" for name, table in self._tables.items()),
            f"  watching {', '.join(dict.fromkeys(_OWN if name in GIVEN else name for name in self._engines))}",
        ]
        return "\n".join(map(visible, lines))

    # ---- loading -----------------------------------------------------------------------------------------------------

    def _load_while_others_write(self) -> None:
        """Load as of one moment; if a writer's compaction removes a file before it is open, look again."""
        for attempt in range(_ATTEMPTS):
            try:
                with self._store.one_moment():
                    return self._load()
            except Missing:
                if attempt == _ATTEMPTS - 1:
                    raise
                self._store.look_again()
        return None

    def _load(self) -> None:
        """Read the tables as they are, and the engines' states as of the checkpoint. The batches since wait until
        someone asks for what the engines know.
        """
        store = self._store
        kept = store.kept_states()
        self._records = {record.schema.name: record for record in store.tables(as_of=store.checkpoint())}
        self._tables = {name: load_table(record.where) for name, record in self._records.items()}
        self._states = {
            (rules, name): self._engines[rules].load(self._subject(name), *files.read(path))
            for (rules, name), path in kept.items()
        }
        steps, self._waiting = store.steps_after(store.checkpoint()), []
        for name, change in replayed(self._tables, steps):
            self._waiting.append((name, change))
            self._tables[name] = change.after
        self._replay_seconds, self._replay_batches = 0.0, len(steps)
        self._stale = False

    def _replay(self) -> None:
        """Let the engines see the batches that wait."""
        self._stale = True
        for name, change in self._waiting:
            self._maintain(name, change, batches=0)
        self._waiting, self._stale = [], False

    def close(self) -> None:
        """Let go of the state."""
        self._closed = True
        self._store.close()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise BadInput(f"{self._store.path}: this monitor is closed; open the state again")

    def _refresh(self) -> None:
        """Before anything is told: refuse if closed; after a batch that failed, read the state anew; and replay."""
        self._refuse_closed()
        if self._stale:
            self._load()
        if self._waiting:
            self._replay()

    def __enter__(self) -> Self:
        self._refuse_closed()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _maintain(self, name: str, change: Change, batches: int = 1) -> dict[tuple[str, str], Diff]:
        """Let the engines see a change, which is that of so many more batches."""
        started = time.perf_counter()
        diffs = {
            (rules, table): self._engines[rules].maintain(state, change, self._runner)
            for (rules, table), state in self._states.items()
            if table in (name, ALL_TABLES)
        }
        self._replay_seconds += time.perf_counter() - started
        self._replay_batches += batches
        return diffs

    def _settings(self) -> Settings:
        return Settings.from_json(json.loads(self._store.meta("settings") or "{}"))

    def _subjects(self) -> Iterator[tuple[str, str]]:
        """Each engine with the name of each table that it has a state of, or with the name for all of them."""
        for rules, serving in self._engines.items():
            for name in [ALL_TABLES] if serving.across else self._tables:
                yield rules, name

    def _subject(self, name: str) -> Any:
        return dict(self._tables) if name == ALL_TABLES else self._tables[name]

    def _table_name(self, asked: str | None) -> str:
        names = list(self._tables)
        if asked is None and len(names) == 1:
            return names[0]
        if asked in self._tables:
            return str(asked)
        told = f"there is no table {asked!r}" if asked else "this state watches several tables"
        raise BadInput(f"{told}; choose one with --table: {', '.join(names)}")

    # ---- looking ----------------------------------------------------------------------------------------------------

    @property
    def tables(self) -> dict[str, Table]:
        """The watched tables as they are now, encoded."""
        self._refresh()
        return dict(self._tables)

    @property
    def left_out(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table that are not watched: they can't be compared, or others were asked for."""
        self._refuse_closed()
        return {name: record.left_out for name, record in self._records.items()}

    def results(self, rules: str | None = None) -> list[Finding]:
        """What holds now."""
        return [finding for result in self.found(rules) for finding in result.values()]

    def found(self, rules: str | None = None) -> list[Result]:
        """The same, by text, for each engine and table: findings that are many are made when they are looked at."""
        return [result for (name, _), result in self._found().items() if rules in (None, name)]

    def _found(self) -> dict[tuple[str, str], Result]:
        self._refresh()
        return {subject: self._engines[subject[0]].result(state) for subject, state in self._states.items()}

    def rule_history(self) -> RuleHistory:
        """How every rule has fared that was given, holds or once held. Column facts don't break, and are not told."""
        results = {subject: result for subject, result in self._found().items() if subject[0] != "column"}
        return RuleHistory(results, self._store.rule_events())

    def violations(self, rule: str | None = None) -> list[Listing]:
        """The violations of one given rule, by its name or text, or of all of them."""
        self._refresh()
        if not (given := self._given()):
            raise BadInput(f"{self._store.path}: no rules are watched here; give some with init --rules")
        found = [
            listing
            for (rules, name), state in self._states.items()
            if isinstance(serving := self._engines[rules], Lists)
            for listing in serving.listings(state, self._tables[name])
            if rule in (None, listing.rule.name, listing.rule.text)
        ]
        if rule is not None and not found:
            known = ", ".join(sorted(finding["name"] for finding in given))
            raise BadInput(f"there is no rule {rule!r}; the rules are: {known}")
        return found

    def rows(
        self, numbers: Sequence[int] = (), *, where: Mapping[str, Any] | None = None, table: str | None = None
    ) -> list[Row]:
        """Rows by their numbers, or those that have some values by column; dead ones, too, as far as they are kept."""
        self._refresh()
        own = self._tables[self._table_name(table)]
        return rows_of(own, self._store, numbers if where is None else [*numbers, *matching(own, where).tolist()])

    def given(self, rule: str) -> dict[str, Any] | None:
        """How the given rule with a name or text stands, if there is such a rule."""
        self._refuse_closed()
        return next((finding for finding in self._given() if rule in (finding["name"], finding["text"])), None)

    def _given(self) -> list[dict[str, Any]]:
        return [finding for name in GIVEN for finding in self._store.results(name)]

    def explain(self, rule: str, *, table: str | None = None) -> list[str]:
        """Whether a dependency or a key holds, how far, and which rows to look at: in lines of text.

        Functional dependencies (`Zip -> State`) and keys (`key(Zip)`) may be given by name, and need not be watched;
        inclusion dependencies (`orders.cust in customers.id`) must be.
        """
        return self.explanation(rule, table=table).lines()

    def explanation(self, rule: str, *, table: str | None = None) -> Explanation:
        """The same as a value: `lines()` are its text, and `to_json()` is a plain object."""
        self._refresh()
        if given := self.given(rule):
            rule, table = given["text"], given["table"]
        if is_dependency(rule):
            from holdfast.engines.functional.explain import explain

            return explain(self._tables[self._table_name(table)], rule)
        serving: Any = self._engines.get("ind")
        if serving is None:
            raise BadInput(f"can't explain {rule!r}: inclusion dependencies are not watched here (init --watch ind)")
        explained: Explanation = serving.explain(self._states["ind", ALL_TABLES], rule)
        return explained

    def history(self, last: int | None = None) -> list[BatchRecord]:
        """The applied batches, the oldest first; or the last so many of them."""
        self._refuse_closed()
        refuse_below(0, last, "the number of batches to tell")
        return self._store.history(last)
