"""A state seen from outside: what holds in its tables, what broke, and because of which rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from holdfast.api.open_state import OpenState, opened_store
from holdfast.api.rows import matching, rows_of
from holdfast.api.settings import budget_of, stored_marks, stored_rules, stored_sensitive
from holdfast.api.workspace import Subject, Workspace
from holdfast.changes.diff import Finding, Result
from holdfast.engines.listing import Listing
from holdfast.engines.registry import ALL_TABLES, class_of_text, given_class, make_engine, rule_class
from holdfast.engines.thresholds import MAX_LHS, TOP
from holdfast.errors import BadInput, nearest_names, refuse_below
from holdfast.progress import Progress
from holdfast.results.checked import Listings
from holdfast.results.explanation import Explanation
from holdfast.results.history import RuleHistory, StateSummary
from holdfast.results.marked_rules import MarkedRules
from holdfast.results.memory import Memory
from holdfast.results.rows import Row
from holdfast.rules.registry import nearest_kind, of_table, split_table
from holdfast.store.records import BatchRecord
from holdfast.store.store import Store
from holdfast.table.nulls import Nulls
from holdfast.table.table import Table
from holdfast.text.quotes import command
from holdfast.visible import visible

if TYPE_CHECKING:
    from holdfast.advice.advice import Advice
    from holdfast.ranking.expectation import Expectation
    from holdfast.results.agree_sets import AgreeSetChange, AgreeSets
    from holdfast.results.column import ColumnProfile
    from holdfast.results.expectations import Expectations
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

    def __init__(self, state: OpenState) -> None:
        self._state = state

    def __repr__(self) -> str:
        heading = f"{type(self).__name__} of {self.path}"
        if self._state.closed:
            return visible(f"{heading}, closed")
        engines = self._state.workspace.engines
        lines = [
            f"{heading}: {self._state.last_batch():,} batches applied",
            *(f"  {name}: {_shape(table)}" for name, table in self._state.tables.items()),
            f"  watching {', '.join(dict.fromkeys(_OWN if rule_class(n).given else n for n in engines))}",
        ]
        return "\n".join(map(visible, lines))

    def _repr_html_(self) -> str | None:
        if self._state.closed:
            return None
        return StateSummary(str(self.path), self._state.last_batch(), self.tables, self.rule_history())._repr_html_()

    @staticmethod
    def open(path: str | Path, *, progress: Progress | None = None) -> View:
        """Open a state to look at it, while another process may apply batches to it."""
        with opened_store(path, False, progress) as store:
            state = OpenState(store, progress=progress)
            state.while_others_write(state.load)
            return View(state)

    def close(self) -> None:
        """Let go of the state."""
        self._state.close()

    def __enter__(self) -> Self:
        self._state.refuse_closed()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def follow(self) -> bool:
        """Bring a view up to date with what others committed since it was loaded; gives whether there was anything.

        The engines see the new batches alone, unless files were merged meanwhile: then all is loaded again.
        """
        return self._state.catch_up()

    @property
    def _store(self) -> Store:
        """The store; refused once the state is closed."""
        self._state.refuse_closed()
        return self._state.store

    # ---- looking ----------------------------------------------------------------------------------------------------

    @property
    def tables(self) -> dict[str, Table]:
        """The watched tables as they are now, encoded."""
        self._state.now()
        return self._state.tables

    @property
    def path(self) -> Path:
        """Where the state lies."""
        return self._state.store.path

    @property
    def nulls(self) -> Nulls:
        """How nulls compare."""
        return self._store.nulls

    @property
    def left_out(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table that are not watched: they can't be compared, or others were chosen."""
        self._state.refuse_closed()
        return dict(self._state.workspace.left_out)

    def results(self, rules: str | None = None) -> list[Finding]:
        """What holds now."""
        return [finding for result in self.found(rules) for finding in result.values()]

    def found(self, rules: str | None = None) -> list[Result]:
        """What holds now, by text, for each engine and table: where there are many findings, each is made when it is
        read.
        """
        return [result for (name, _), result in self.opened().results().items() if rules in (None, name)]

    def ways(self) -> dict[Subject, str]:
        """The strategy by which the rules of a class are maintained for a table, and why, where there are several."""
        now = self.opened()
        strategies = {at: now.engines[at[0]].how(state) for at, state in now.states.items()}
        return {at: how for at, how in strategies.items() if how}

    def ranked(self, rules: str | None = None) -> list[Result]:
        """What holds now, the best first, with scores where a class has them."""
        return list(self.opened().ranked(rules).values())

    def opened(self) -> Workspace:
        """The tables with their engines and what these know, as of now."""
        return self._state.now()

    def rule_history(self) -> RuleHistory:
        """The history of every rule that was given, holds or once held. Column facts don't break and are left out."""
        now = self.opened()
        results: dict[Subject, Result] = {}
        for subject, state in now.states.items():
            engine = now.engines[subject[0]]
            if not engine.declared.facts:
                results[subject] = engine.ranked(state) if engine.declared.scored else engine.result(state)
        number = self._store.numbers().of
        watched = ((seq, each["class"]) for seq, about in self.changes().items() for each in about.get("watched", ()))
        since = {name: number(seq) for seq, name in watched}
        events = self._store.memory.rule_events()
        scores = self._store.memory.lost_scores()
        return RuleHistory(results, events, self.memory(), self._state.last_batch(), since, scores)

    def violations(self, rule: str | None = None) -> Listings:
        """The violations of one given rule, by its name or text, or of all of them."""
        self.opened()
        if not (given := self._given()):
            path = self.path
            raise BadInput(f"{path}: no rules are given here; add some with: {command('rules', path, 'add', 'FILE')}")
        found = self.listings(rule)
        if rule is not None and not found:
            names = sorted(finding["name"] for finding in given)
            near = nearest_names(rule, [*names, *(finding["text"] for finding in given)])
            hint = f"did you mean {near}?" if near else f"the rules are: {', '.join(names)}"
            raise BadInput(f"there is no rule {rule!r}; {hint}")
        return Listings(found)

    def listings(self, rule: str | None = None) -> list[Listing]:
        """The violations of all given rules, or of one, by its name or text; none where there are no such rules."""
        now = self.opened()
        found = now.listings(rule)
        if found or rule is None:
            return found
        table, text = split_table(rule)
        return [each for each in now.listings(text) if table in ("", each.rule.table)]

    def rows(
        self, numbers: Sequence[int] = (), *, where: Mapping[str, Any] | None = None, table: str | None = None
    ) -> list[Row]:
        """Rows by their numbers, or by values of columns; also dead ones, as far as they are stored."""
        own = self.opened().tables[self._state.table_name(table)].table
        return rows_of(own, self._store, numbers if where is None else [*numbers, *matching(own, where).tolist()])

    def given(self, rule: str, *, table: str | None = None) -> dict[str, Any] | None:
        """How the given rule with a name or text stands, if there is such a rule. Several tables may have rules with
        the same text: `table` chooses one.
        """
        known = self._given()
        if named := [each for each in known if each["name"] == rule]:
            return named[0]
        text, about = of_table(rule, table)
        return next((each for each in known if each["text"] == text and about in (None, each["table"])), None)

    def _given(self) -> list[dict[str, Any]]:
        store, engines = self._store, self._state.workspace.engines
        return [line for name, engine in engines.items() if engine.declared.given for line in store.rules.results(name)]

    def explain(self, rule: str, *, table: str | None = None) -> list[str]:
        """Whether a rule holds, how far, which rows to look at, and which broke it before: in lines of text.

        Name a given rule, or write any rule. Functional dependencies (`Zip -> State`), keys (`key(Zip)`) and lists
        (`[Salary] orders [Tax]`) need not be watched; inclusion dependencies (`orders.cust in customers.id`) must be
        watched or given.
        """
        return self.explanation(rule, table=table).lines()

    def explanation(self, rule: str, *, table: str | None = None, rows: Sequence[int] = ()) -> Explanation:
        """The same as a value: `lines()` are its text, and `to_json()` is a plain object. `rows` asks why just these
        break the rule, where a class of rules can say so. Both have the batches that broke or mended the rule.
        """
        watched = self.opened()
        if given := self.given(rule, table=table):
            rule, table = given["text"], given["table"]
        else:
            rule, table = of_table(rule, table)
        declared = given_class(rule) if given else class_of_text(rule, watched.engines)
        if declared is None:
            near = nearest_names(rule, [each["name"] for each in self._given()])
            hint = f"did you mean {near}?" if near else nearest_kind(rule)
            raise BadInput(f"{rule!r} is neither the name of a rule nor the text of one; {hint}")
        name = ALL_TABLES if declared.across else self._table_of(rule, table)
        engine = watched.engines.get(declared.name) or make_engine(declared.name)
        now = engine.explain(watched.states.get((declared.name, name)), watched.subject(name), rule, rows)
        about = now.to_json()
        kind = declared.name if declared.given else about["kind"]  # FDs and keys are explained by the same engine
        events = self.memory().events_of(kind, name, about["text"])
        is_alarm = given is not None and given.get("origin") == "alarm"
        if is_alarm and (found := class_of_text(about["text"], watched.engines)) is not None:  # as which it broke first
            as_found = self.memory().events_of(found.name, name, about["text"])
            since = min((event.seq for event in events), default=self._state.last_seq() + 1)
            events = [*(e for e in as_found if e.event in ("lost", "gained") and e.seq < since), *events]
        return Explanation(now, tuple(events), self._state.last_batch(), given["note"] if given and is_alarm else "")

    def _table_of(self, rule: str, table: str | None) -> str:
        """The table of a rule that is not given; of several, it must be chosen."""
        near = nearest_names(rule, [each["text"] for each in self._given()]) if table is None else ""
        try:
            return self._state.table_name(table)
        except BadInput as error:
            raise (BadInput(f"there is no given rule {rule!r}; did you mean {near}?") if near else error) from None

    def expectations(self) -> Expectations:
        """What batches are expected to look like: each figure with what is usual now."""
        from holdfast.api.expectations import expectations_in

        self._state.now()
        return expectations_in(str(self.path), self._store.expectations, self._state.tables)

    def suggest(
        self,
        rules: str | Sequence[str] | None = None,
        *,
        top: int = TOP,
        max_lhs: int = MAX_LHS,
        alarm_budget: float | None = None,
    ) -> Suggestions:
        """Rules that the tables seem to follow now, exactly or nearly, whether they are watched or not. The alarm
        budget is that of the state, unless another is given.
        """
        from holdfast.api.suggestions import classes_of, suggestions_in
        from holdfast.engines.scored import Wanted

        progress = self._state.progress
        watched = self.opened()
        expectation = self._expectation(watched, alarm_budget)
        return suggestions_in(watched, progress, classes_of(rules), Wanted(top, max_lhs), self._given(), expectation)

    def _expectation(self, watched: Workspace, budget: float | None) -> Expectation:
        """What usual batches are by those of the history, and the alarm budget."""
        from holdfast.ranking.expectation import Expectation, Usual, refuse_bad_budget

        if budget is not None:
            refuse_bad_budget(budget)
        sizes: dict[str, list[int]] = {name: [] for name in watched.tables}
        for batch in self.history():
            for part in batch.parts or [batch]:
                if part.table in sizes and part.inserted:
                    sizes[part.table].append(part.inserted)
        usual = {name: Usual.of(own, watched.tables[name].table.rows) for name, own in sizes.items()}
        return Expectation(usual, budget_of(self._store) if budget is None else budget)

    def advise(self, clause: str, *, table: str | None = None, have: str | Sequence[str] = ()) -> Advice:
        """Which columns of a clause (`ORDER BY Year, Salary, Bin`, `GROUP BY …`, `DISTINCT …`) are redundant, and which
        other orders serve it, from the rules that hold now. `have` names orders that exist, such as those of indexes:
        `"Year, Salary desc"`.
        """
        from holdfast.api.advice import advice_on

        watched, name = self.opened(), self._state.table_name(table)
        results = {rules: found for (rules, subject), found in watched.results().items() if subject == name}
        return advice_on(clause, [have] if isinstance(have, str) else have, watched.schemas[name], results)

    def agree_sets(self, *, table: str | None = None, count: bool = False) -> AgreeSets:
        """On which columns two rows of a table agree, and how many pairs do, now. Found keys and FDs keep that counted
        where they are kept by counting; elsewhere `count` has all pairs counted, and without it an error says what that
        takes.
        """
        from holdfast.api.agree_sets import agree_sets_in

        watched, name = self.opened(), self._state.table_name(table)
        return agree_sets_in(watched, name, partial(self._change_of, name), self._state.progress, count=count)

    def agree_set_change(self, batch: int, *, table: str | None = None) -> AgreeSetChange:
        """The agree-sets of a table that came and went with a batch, by its number, as the history has them."""
        self._state.refuse_closed()
        return self._change_of(self._state.table_name(table), batch)

    def _change_of(self, table: str, batch: int) -> AgreeSetChange:
        for change in self.memory().agree_sets(table, batch):
            return change
        if batch not in range(1, (last := self._state.last_batch()) + 1):
            raise BadInput(
                f"there is no batch {batch} in {self.path}; "
                + (f"the last is {last}" if last else "none was applied yet")
            )
        raise BadInput(
            f"batch {batch}: nothing is stored of the agree-sets of {table}; the batch did not change this table, or "
            "they were not counted then"
        )

    def column(self, name: str, *, table: str | None = None) -> ColumnProfile:
        """A column looked at closely: its values, what determines it and what it determines, all rules that name it."""
        from holdfast.api.column_profile import column_profile
        from holdfast.api.state_report import columns_content

        return column_profile(columns_content(self._state), self._state.table_name(table), name)

    def document(self, *, redact: bool = False, live: bool = False, most: int | None = None) -> dict[str, Any]:
        """What a page of the state shows, as one plain object: as many rules as fit a page, or at most `most`."""
        from holdfast.api.state_report import state_document

        return state_document(self._state, redact=redact, live=live, most=most)

    def report(self, path: str | Path, *, redact: bool = False) -> int:
        """Write a page that shows what holds, what broke, since when and because of which rows; gives its size in
        bytes. With `redact` it shows hashes in place of values.
        """
        from holdfast.api.tables_report import write_document

        return write_document(Path(path), self.document(redact=redact))

    def rules(self) -> Rules:
        """The rules that are given, as values; `str()` of them is a rule file."""
        from holdfast.api.checks import rules_in

        return rules_in(stored_rules(self._store))

    def sensitive_columns(self) -> dict[str, tuple[str, ...]]:
        """The columns that are declared sensitive, by table."""
        return stored_sensitive(self._store)

    def marks(self) -> MarkedRules:
        """The found rules that are ignored, and those that are pinned."""
        return stored_marks(self._store)

    def changes(self) -> dict[int, dict[str, Any]]:
        """What changes of rules, columns and tables did, by their `seq` in the history."""
        return self._store.changes()

    def memory(self) -> Memory:
        """What the state remembers: what batches did to rules, and how figures moved."""
        return Memory(self._store, self._state.row_names())

    def history(self, last: int | None = None) -> list[BatchRecord]:
        """The applied batches, the oldest first: all of them, or the last ones."""
        refuse_below(0, last, "the number of batches to list")
        return self._store.history(last)
