"""A state seen from outside: its tables and what holds in them, loaded as of one moment.

The tables and the engines' states are kept as of a checkpoint, and the batches since are replayed when a state is
opened. `Monitor` builds on this, and changes what is seen here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from holdfast.api.applying import Watching
from holdfast.api.explaining import Told
from holdfast.api.history import RuleHistory
from holdfast.api.kept import kept_parts, kept_rules, kept_settings
from holdfast.api.memory import Memory
from holdfast.api.notebook import Listings, Strips, view_html
from holdfast.api.opening import Opened
from holdfast.api.rows import Row, matching, rows_of
from holdfast.changes.diff import Diff, Finding, Result
from holdfast.engines.contract import Engine, Explanation
from holdfast.engines.listing import Listing
from holdfast.engines.registry import (
    ALL_TABLES,
    class_of_text,
    examples,
    given_class,
    make_engine,
    rule_class,
)
from holdfast.engines.scored import MAX_LHS, TOP
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput, Missing, clear_sentences, refuse_below
from holdfast.progress import SILENT, Progress
from holdfast.store.records import AppliedBatch, BatchRecord, TableRecord
from holdfast.store.replay import replayed
from holdfast.store.store import Store
from holdfast.table import files
from holdfast.table.change import Change
from holdfast.table.load import load_table
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Nulls, Table
from holdfast.visible import visible

if TYPE_CHECKING:
    from holdfast.advice.advice import Advice
    from holdfast.api.lens import Lens
    from holdfast.api.suggesting import Suggestions

T = TypeVar("T")

_ATTEMPTS = 5
_TO_GET_READY = 1.0  # seconds of the first change that don't count: kernels are loaded, indexes made or opened
_OWN = "rules of your own"


def _shape(table: Table) -> str:
    key = ", ".join(table.schema.names[place] for place in table.schema.key)
    return f"{table.rows:,} rows, {len(table.schema.columns):,} columns" + (f", key {key}" if key else "")


@contextmanager
def opened_store(path: str | Path, write: bool, progress: Progress | None) -> Iterator[Store]:
    """The store of a state; closed again, and the reason told in a sentence, where what is done with it fails."""
    with clear_sentences(path):
        store = Store(path, write=write, note=(progress or SILENT).note)
        try:
            yield store
        except BaseException as error:
            explained = store.explained(error)
            store.close()
            raise explained from None


class View:
    """What a state shows. Use `open`; close it, or use it in a `with` statement."""

    def __init__(self, store: Store, spark: Any, progress: Progress | None) -> None:
        self._store, self._spark, self._progress = store, spark, progress or Progress()
        self._runner: Runner = Threads()
        self._engines = self._make_engines()
        self._watched: dict[str, WatchedTable] = {}
        self._states: dict[tuple[str, str], Any] = {}
        self._records: dict[str, TableRecord] = {}
        self._waiting: list[Change] = []  # what the engines have not seen yet
        self._told: dict[tuple[str, str], list[dict[str, Any]]] = {}  # what the database tells of given rules
        self._seen = self._version = 0  # the last batch that is known, and the version of the database
        self._stale = self._closed = False
        self._replay_seconds, self._replay_batches = 0.0, 0
        self._allowance = _TO_GET_READY

    def __repr__(self) -> str:
        heading = f"{type(self).__name__} of {self._store.path}"
        if self._closed:
            return visible(f"{heading}, closed")
        latest = self._store.history(1)
        lines = [
            f"{heading}: {latest[-1].seq if latest else 0:,} batches applied",
            *(f"  {name}: {_shape(table)}" for name, table in self._tables.items()),
            f"  watching {', '.join(dict.fromkeys(_OWN if rule_class(n).given else n for n in self._engines))}",
        ]
        return "\n".join(map(visible, lines))

    def _repr_html_(self) -> str | None:
        return None if self._closed else view_html(self)

    # ---- loading -----------------------------------------------------------------------------------------------------

    @staticmethod
    def open(path: str | Path, *, progress: Progress | None = None) -> View:
        """Open a state to look at it, while another process may apply batches to it."""
        with opened_store(path, False, progress) as store:
            view = View(store, None, progress)
            view._while_others_write(view._load)
        return view

    def follow(self) -> bool:
        """Bring a view up to date with what others committed since it was loaded; gives whether there was anything.

        The engines see the new batches alone, unless files were merged meanwhile: then all is loaded anew.
        """
        self._refuse_closed()
        if self._store.writable or self._store.version() == self._version:
            return False
        self._store.look_again()
        return self._while_others_write(self._catch_up)

    def _catch_up(self) -> bool:
        """Take in the batches since the last one that is known."""
        steps, tables = self._store.steps_after(self._seen), self._tables
        known = {name: table.where.segments for name, table in tables.items() if table.where is not None}
        for step in steps:
            known[step.table] += step.segments
        if self._stale or known != {record.schema.name: record.where.segments for record in self._store.tables()}:
            self._load()
            return True
        self._await(steps)
        return bool(steps)

    def _while_others_write(self, read: Callable[[], T]) -> T:
        """Read as of one moment; if a writer's compaction removes a file before it is open, look again."""
        for _ in range(_ATTEMPTS - 1):
            try:
                with self._store.one_moment():
                    return read()
            except Missing:
                self._store.look_again()
        with self._store.one_moment():
            return read()

    def _load(self) -> None:
        """Read the tables and the engines' states as of the checkpoint, and the batches since, which the engines see
        when someone asks for what they know.
        """
        store, self._waiting, self._seen = self._store, [], self._store.checkpoint()
        kept = {subject: files.read(path) for subject, path in store.kept_states().items()}
        self._records = {record.schema.name: record for record in store.tables(as_of=store.checkpoint())}
        self._watched = {
            name: WatchedTable(load_table(record.where), *kept_parts(name, kept))
            for name, record in self._records.items()
        }
        self._states = {
            (rules, name): self._engines[rules].load(self._subject(name), *kept.get((rules, name), ({}, {})))
            for rules, name in self._subjects()
        }
        steps = store.steps_after(self._seen)
        self._await(steps)
        if not self._waiting:
            self._recall()
        self._replay_seconds, self._replay_batches = 0.0, len(steps)
        self._stale = False

    def _await(self, steps: Sequence[AppliedBatch]) -> None:
        """Open the files of batches that the engines have not seen, and read what the database tells as of the last."""
        tables, waiting = self._tables, []
        for name, change in replayed(tables, steps):
            waiting.append(change)
            tables[name] = change.after
        self._told = {at: self._store.results(*at) for at in self._states if rule_class(at[0]).given}
        self._waiting += waiting
        self._seen = steps[-1].seq if steps else self._seen
        self._version = self._store.version_read()

    def _recall(self) -> None:
        """Let the engines know what the database tells of given rules, and no table does."""
        for (rules, name), lines in self._told.items():
            self._engines[rules].recall(self._states[rules, name], lines)

    def _replay(self) -> None:
        """Let the engines see the batches that wait."""
        waiting, self._waiting, self._stale = self._waiting, [], True
        for change in waiting:
            self._maintain([change], batches=0)
        self._recall()
        self._stale = False

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

    def _maintain(self, changes: Sequence[Change], batches: int = 1) -> dict[tuple[str, str], Diff]:
        """Let the engines see changes of some tables, which are those of so many more batches."""
        started = time.perf_counter()
        all_of_it = Watching(self._watched, self._engines, self._states, self._runner, self._progress)
        diffs = all_of_it.maintain(changes)
        allowed, self._allowance = self._allowance, 0.0
        self._replay_seconds += max(time.perf_counter() - started - allowed, 0.0)
        self._replay_batches += batches
        return diffs

    def _make_engines(self) -> dict[str, Engine]:
        given = kept_rules(self._store)
        return {name: make_engine(name, self._settings(), given.get(name)) for name in self._store.watched}

    def _settings(self) -> dict[str, Any]:
        """What the user asks of engines, by the names of settings."""
        return kept_settings(self._store)

    def _subjects(self) -> Iterator[tuple[str, str]]:
        """Each engine with the name of each table that it has a state of, or with the name for all of them."""
        for rules, engine in self._engines.items():
            for name in [ALL_TABLES] if engine.declared.across else self._watched:
                yield rules, name

    def _subject(self, name: str) -> Any:
        return dict(self._watched) if name == ALL_TABLES else self._watched[name]

    @property
    def _tables(self) -> dict[str, Table]:
        if self._waiting:
            self._replay()
        return {name: watched.table for name, watched in self._watched.items()}

    def _table_name(self, asked: str | None) -> str:
        names = list(self._tables)
        if asked is None and len(names) == 1:
            return names[0]
        if asked in self._tables:
            return str(asked)
        wrong = f"there is no table {asked!r}" if asked else "this state watches several tables"
        raise BadInput(f"{wrong}; choose one with --table: {', '.join(names)}")

    # ---- looking ----------------------------------------------------------------------------------------------------

    @property
    def tables(self) -> dict[str, Table]:
        """The watched tables as they are now, encoded."""
        self._refresh()
        return self._tables

    @property
    def path(self) -> Path:
        """Where the state lies."""
        return self._store.path

    @property
    def nulls(self) -> Nulls:
        """How nulls compare."""
        self._refuse_closed()
        return self._store.nulls

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

    def ways(self) -> dict[tuple[str, str], str]:
        """In which way the rules of a class are kept for a table, and why, where there are several ways."""
        self._refresh()
        told = {at: self._engines[at[0]].how(state) for at, state in self._states.items()}
        return {at: how for at, how in told.items() if how}

    def ranked(self, rules: str | None = None) -> list[Result]:
        """The same as people want to read it: the best first, with what only a look at all of them tells."""
        self._refresh()
        chosen = {subject: state for subject, state in self._states.items() if rules in (None, subject[0])}
        return [self._engines[name].ranked(state) for (name, _), state in chosen.items()]

    def ranked_by_class(self) -> dict[tuple[str, str], Result]:
        """The same by class and table (`*`: all of them)."""
        self._refresh()
        return {at: self._engines[at[0]].ranked(state) for at, state in self._states.items()}

    def opened(self) -> Opened:
        """The tables with what engines keep of them, as they are now."""
        self._refresh()
        return Opened(dict(self._watched), self.left_out, self._runner)

    def _found(self) -> dict[tuple[str, str], Result]:
        self._refresh()
        return {subject: self._engines[subject[0]].result(state) for subject, state in self._states.items()}

    def rule_history(self) -> RuleHistory:
        """How every rule has fared that was given, holds or once held. Column facts don't break, and are not told."""
        self._refresh()
        results: dict[tuple[str, str], Result] = {}
        for subject, state in self._states.items():
            engine = self._engines[subject[0]]
            if not engine.declared.facts:
                results[subject] = engine.ranked(state) if engine.declared.scored else engine.result(state)
        return RuleHistory(results, self._store.remembered.rule_events(), Strips(self))

    def violations(self, rule: str | None = None) -> Listings:
        """The violations of one given rule, by its name or text, or of all of them."""
        self._refresh()
        if not (given := self._given()):
            raise BadInput(f"{self._store.path}: no rules are watched here; give some with init --rules")
        found = self.listings(rule)
        if rule is not None and not found:
            known = ", ".join(sorted(finding["name"] for finding in given))
            raise BadInput(f"there is no rule {rule!r}; the rules are: {known}")
        return Listings(found)

    def listings(self, rule: str | None = None) -> list[Listing]:
        """The violations of all given rules, or of one, by its name or text; none where there are no such rules."""
        self._refresh()
        return [
            listing
            for (rules, name), state in self._states.items()
            if self._engines[rules].declared.given
            for listing in self._engines[rules].listings(state, self._subject(name), rule)
        ]

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
        given = [name for name, engine in self._engines.items() if engine.declared.given]
        return [finding for name in given for finding in self._store.results(name)]

    def explain(self, rule: str, *, table: str | None = None) -> list[str]:
        """Whether a rule holds, how far, which rows to look at, and which broke it before: in lines of text.

        A rule that was given may be named. Functional dependencies (`Zip -> State`), keys (`key(Zip)`) and lists
        (`[Salary] orders [Tax]`) need not be watched; inclusion dependencies (`orders.cust in customers.id`) must be,
        or be given.
        """
        return self.explanation(rule, table=table).lines()

    def explanation(self, rule: str, *, table: str | None = None, rows: Sequence[int] = ()) -> Explanation:
        """The same as a value: `lines()` are its text, and `to_json()` is a plain object. `rows` asks why just these
        break the rule, where a class of rules can tell. Where batches broke a rule, or mended it, both tell that, too.
        """
        self._refresh()
        if given := self.given(rule):
            rule, table = given["text"], given["table"]
        declared = given_class(rule) if given else class_of_text(rule)
        if declared is None:
            raise BadInput(f"{rule!r} is neither the name of a rule nor the text of one, such as {examples()}")
        name = ALL_TABLES if declared.across else self._table_name(table)
        engine = self._engines.get(declared.name) or make_engine(declared.name)
        now = engine.explain(self._states.get((declared.name, name)), self._subject(name), rule, rows)
        about = now.to_json()
        kept = declared.name if declared.given else about["kind"]  # FDs and keys are explained by the same engine
        return Told(now, tuple(self.memory().events_of(kept, name, about["text"])), Strips(self))

    def suggest(
        self, rules: str | Sequence[str] | None = None, *, top: int = TOP, max_lhs: int = MAX_LHS
    ) -> Suggestions:
        """Which rules the tables look as if they were meant now, exact or nearly, whether they are watched or not."""
        from holdfast.api.suggesting import classes_of, suggestions_in, wanted

        return suggestions_in(self.opened(), self._progress, classes_of(rules), wanted(top, max_lhs), self._given())

    def advise(self, clause: str, *, table: str | None = None, have: str | Sequence[str] = ()) -> Advice:
        """Which columns of a clause (`ORDER BY Year, Salary, Bin`, `GROUP BY …`, `DISTINCT …`) are redundant, and which
        other orders serve it, from the rules that hold now. `have` tells orders that there are, such as those of
        indexes: `"Year, Salary desc"`.
        """
        from holdfast.api.advising import advice_on

        self._refresh()
        name = self._table_name(table)
        results = {rules: found for (rules, subject), found in self._found().items() if subject == name}
        return advice_on(clause, [have] if isinstance(have, str) else have, self._tables[name].schema, results)

    def column(self, name: str, *, table: str | None = None) -> Lens:
        """A column looked at closely: its values, what determines it and what it determines, all rules that name it."""
        from holdfast.api.lens import Lens
        from holdfast.api.state_report import state_document

        return Lens.of(state_document(self), self._table_name(table), name)

    def report(self, path: str | Path, *, redact: bool = False) -> int:
        """Write a page of its own that tells what holds, what broke, since when and because of which rows; gives its
        size in bytes. With `redact` it shows hashes in place of values.
        """
        from holdfast.api.look_report import write_document
        from holdfast.api.state_report import state_document

        return write_document(Path(path), state_document(self, redact=redact))

    def memory(self) -> Memory:
        """What the state remembers: what batches did to rules, and how figures moved."""
        self._refuse_closed()
        return Memory(self._store)

    def history(self, last: int | None = None) -> list[BatchRecord]:
        """The applied batches, the oldest first; or the last so many of them."""
        self._refuse_closed()
        refuse_below(0, last, "the number of batches to tell")
        return self._store.history(last)
