"""A state seen from outside: what holds in its tables, what broke, and because of which rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from holdfast.api.open_state import Loaded, opened_store
from holdfast.api.rows import matching, rows_of
from holdfast.api.stored import kept_marks, kept_rules
from holdfast.api.workspace import Watched
from holdfast.changes.diff import Finding, Result
from holdfast.engines.listing import Listing
from holdfast.engines.registry import ALL_TABLES, class_of_text, given_class, make_engine, rule_class
from holdfast.engines.thresholds import MAX_LHS, TOP
from holdfast.errors import BadInput, refuse_below
from holdfast.progress import Progress
from holdfast.results.checked import Listings
from holdfast.results.explanation import Explanation
from holdfast.results.history import RuleHistory
from holdfast.results.marks import Marks
from holdfast.results.memory import Memory
from holdfast.results.rows import Row
from holdfast.results.state import State
from holdfast.rules.registry import examples
from holdfast.store.records import BatchRecord
from holdfast.table.nulls import Nulls
from holdfast.table.table import Table
from holdfast.text.quotes import command
from holdfast.visible import visible

if TYPE_CHECKING:
    from holdfast.advice.advice import Advice
    from holdfast.results.lens import Lens
    from holdfast.results.suggestions import Suggestions
    from holdfast.rules.file import Rules

_OWN = "rules of your own"


def _shape(table: Table) -> str:
    key = ", ".join(table.schema.names[place] for place in table.schema.key)
    return f"{table.rows:,} rows, {len(table.schema.columns):,} columns" + (f", key {key}" if key else "")


class View:
    """What a state shows. Use `open`; close it, or use it in a `with` statement.

    With `watch` and `more` of the example of `Monitor`:

    >>> with hf.View.open(watch.path) as view:
    ...     print(view.tables["towns"].rows, view.rules().entries[0].text)
    2 zip -> city
    """

    def __init__(self, loaded: Loaded) -> None:
        self._loaded, self._store = loaded, loaded.store

    def __repr__(self) -> str:
        heading = f"{type(self).__name__} of {self.path}"
        if self._loaded.closed:
            return visible(f"{heading}, closed")
        engines = self._loaded.watched.engines
        lines = [
            f"{heading}: {self._loaded.last_batch():,} batches applied",
            *(f"  {name}: {_shape(table)}" for name, table in self._loaded.tables.items()),
            f"  watching {', '.join(dict.fromkeys(_OWN if rule_class(n).given else n for n in engines))}",
        ]
        return "\n".join(map(visible, lines))

    def _repr_html_(self) -> str | None:
        if self._loaded.closed:
            return None
        return State(str(self.path), self._loaded.last_batch(), self.tables, self.rule_history())._repr_html_()

    @staticmethod
    def open(path: str | Path, *, progress: Progress | None = None) -> View:
        """Open a state to look at it, while another process may apply batches to it."""
        with opened_store(path, False, progress) as store:
            loaded = Loaded(store, progress=progress)
            loaded.while_others_write(loaded.load)
            return View(loaded)

    def close(self) -> None:
        """Let go of the state."""
        self._loaded.close()

    def __enter__(self) -> Self:
        self._loaded.refuse_closed()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def follow(self) -> bool:
        """Bring a view up to date with what others committed since it was loaded; gives whether there was anything.

        The engines see the new batches alone, unless files were merged meanwhile: then all is loaded again.
        """
        return self._loaded.catch_up()

    # ---- looking ----------------------------------------------------------------------------------------------------

    @property
    def tables(self) -> dict[str, Table]:
        """The watched tables as they are now, encoded."""
        self._loaded.now()
        return self._loaded.tables

    @property
    def path(self) -> Path:
        """Where the state lies."""
        return self._store.path

    @property
    def nulls(self) -> Nulls:
        """How nulls compare."""
        self._loaded.refuse_closed()
        return self._store.nulls

    @property
    def left_out(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table that are not watched: they can't be compared, or others were asked for."""
        self._loaded.refuse_closed()
        return dict(self._loaded.watched.left_out)

    def results(self, rules: str | None = None) -> list[Finding]:
        """What holds now."""
        return [finding for result in self.found(rules) for finding in result.values()]

    def found(self, rules: str | None = None) -> list[Result]:
        """The same, by text, for each engine and table: findings that are many are made when they are looked at."""
        return [result for (name, _), result in self._loaded.now().results().items() if rules in (None, name)]

    def ways(self) -> dict[tuple[str, str], str]:
        """In which way the rules of a class are kept for a table, and why, where there are several ways."""
        watched = self._loaded.now()
        told = {at: watched.engines[at[0]].how(state) for at, state in watched.states.items()}
        return {at: how for at, how in told.items() if how}

    def ranked(self, rules: str | None = None) -> list[Result]:
        """The same as people want to read it: the best first, with what only a look at all of them tells."""
        return list(self.ranked_by_class(rules).values())

    def ranked_by_class(self, rules: str | None = None) -> dict[tuple[str, str], Result]:
        """The same by class and table (`*`: all of them)."""
        return self._loaded.now().ranked(rules)

    def opened(self) -> Watched:
        """The tables with what engines keep of them, as they are now."""
        return self._loaded.now()

    def rule_history(self) -> RuleHistory:
        """How every rule has fared that was given, holds or once held. Column facts don't break, and are not told."""
        watched = self._loaded.now()
        results: dict[tuple[str, str], Result] = {}
        for subject, state in watched.states.items():
            engine = watched.engines[subject[0]]
            if not engine.declared.facts:
                results[subject] = engine.ranked(state) if engine.declared.scored else engine.result(state)
        since = {each["class"]: told.seq for told in self._store.reshaped() for each in told.about.get("watched", ())}
        events = self._store.remembered.rule_events()
        return RuleHistory(results, events, self.memory(), self._loaded.last_batch(), since)

    def violations(self, rule: str | None = None) -> Listings:
        """The violations of one given rule, by its name or text, or of all of them."""
        self._loaded.now()
        if not (given := self._given()):
            path = self.path
            raise BadInput(f"{path}: no rules are given here; add some with: {command('rules', path, 'add', 'FILE')}")
        found = self.listings(rule)
        if rule is not None and not found:
            known = ", ".join(sorted(finding["name"] for finding in given))
            raise BadInput(f"there is no rule {rule!r}; the rules are: {known}")
        return Listings(found)

    def listings(self, rule: str | None = None) -> list[Listing]:
        """The violations of all given rules, or of one, by its name or text; none where there are no such rules."""
        watched = self._loaded.now()
        return [
            listing
            for (rules, name), state in watched.states.items()
            if watched.engines[rules].declared.given
            for listing in watched.engines[rules].listings(state, watched.subject(name), rule)
        ]

    def rows(
        self, numbers: Sequence[int] = (), *, where: Mapping[str, Any] | None = None, table: str | None = None
    ) -> list[Row]:
        """Rows by their numbers, or those that have some values by column; dead ones, too, as far as they are kept."""
        own = self._loaded.now().tables[self._loaded.table_name(table)].table
        return rows_of(own, self._store, numbers if where is None else [*numbers, *matching(own, where).tolist()])

    def given(self, rule: str, *, table: str | None = None) -> dict[str, Any] | None:
        """How the given rule with a name or text stands, if there is such a rule. Several tables may have rules with
        the same text: `table` chooses one.
        """
        self._loaded.refuse_closed()
        known = self._given()
        named = [each for each in known if each["name"] == rule]
        same = [each for each in known if each["text"] == rule and table in (None, each["table"])]
        return next(iter(named or same), None)

    def _given(self) -> list[dict[str, Any]]:
        given = [name for name, engine in self._loaded.watched.engines.items() if engine.declared.given]
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
        watched = self._loaded.now()
        if given := self.given(rule, table=table):
            rule, table = given["text"], given["table"]
        declared = given_class(rule) if given else class_of_text(rule)
        if declared is None:
            raise BadInput(f"{rule!r} is neither the name of a rule nor the text of one, such as {examples()}")
        name = ALL_TABLES if declared.across else self._loaded.table_name(table)
        engine = watched.engines.get(declared.name) or make_engine(declared.name)
        now = engine.explain(watched.states.get((declared.name, name)), watched.subject(name), rule, rows)
        about = now.to_json()
        kept = declared.name if declared.given else about["kind"]  # FDs and keys are explained by the same engine
        return Explanation(now, tuple(self.memory().events_of(kept, name, about["text"])), self._loaded.last_batch())

    def suggest(
        self, rules: str | Sequence[str] | None = None, *, top: int = TOP, max_lhs: int = MAX_LHS
    ) -> Suggestions:
        """Which rules the tables look as if they were meant now, exact or nearly, whether they are watched or not."""
        from holdfast.api.suggestions import classes_of, suggestions_in
        from holdfast.engines.scored import Wanted

        progress = self._loaded.progress
        return suggestions_in(self.opened(), progress, classes_of(rules), Wanted(top, max_lhs), self._given())

    def advise(self, clause: str, *, table: str | None = None, have: str | Sequence[str] = ()) -> Advice:
        """Which columns of a clause (`ORDER BY Year, Salary, Bin`, `GROUP BY …`, `DISTINCT …`) are redundant, and which
        other orders serve it, from the rules that hold now. `have` tells orders that there are, such as those of
        indexes: `"Year, Salary desc"`.
        """
        from holdfast.api.advice import advice_on

        watched, name = self._loaded.now(), self._loaded.table_name(table)
        results = {rules: found for (rules, subject), found in watched.results().items() if subject == name}
        return advice_on(clause, [have] if isinstance(have, str) else have, watched.schemas[name], results)

    def column(self, name: str, *, table: str | None = None) -> Lens:
        """A column looked at closely: its values, what determines it and what it determines, all rules that name it."""
        from holdfast.api.column_profile import lens_of
        from holdfast.api.state_report import columns_seen

        return lens_of(columns_seen(self), self._loaded.table_name(table), name)

    def report(self, path: str | Path, *, redact: bool = False) -> int:
        """Write a page of its own that tells what holds, what broke, since when and because of which rows; gives its
        size in bytes. With `redact` it shows hashes in place of values.
        """
        from holdfast.api.state_report import state_document
        from holdfast.api.tables_report import write_document

        return write_document(Path(path), state_document(self, redact=redact))

    def rules(self) -> Rules:
        """The rules that are given, as values; `str()` of them is a rule file."""
        from holdfast.api.change.spec import rules_in

        self._loaded.refuse_closed()
        return rules_in(kept_rules(self._store))

    def marks(self) -> Marks:
        """The found rules that are ignored, and those that are pinned."""
        self._loaded.refuse_closed()
        return kept_marks(self._store)

    def changes(self) -> dict[int, dict[str, Any]]:
        """What changes of rules and columns did, by their numbers in the history."""
        self._loaded.refuse_closed()
        return {each.seq: each.about for each in self._store.reshaped()}

    def memory(self) -> Memory:
        """What the state remembers: what batches did to rules, and how figures moved."""
        self._loaded.refuse_closed()
        return Memory(self._store)

    def history(self, last: int | None = None) -> list[BatchRecord]:
        """The applied batches, the oldest first; or the last so many of them."""
        self._loaded.refuse_closed()
        refuse_below(0, last, "the number of batches to tell")
        return self._store.history(last)
