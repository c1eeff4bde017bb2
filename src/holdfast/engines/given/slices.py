"""Rules about some rows: a keeper of rules with `where` watches the rows for which the condition is true, as if they
were the whole table.

A **slice** is a table with the same files, codes and row ids in which all other rows are dead; what keepers share of a
table (`engines/watched.py`), such as frequencies, is that of its rows. Rows that a batch brings belong to it if the
condition is true of them, and leave it only when they die, as a row never changes. So no class of rules knows of
`where`: it has a keeper for each slice that its rules name, and one for the rules about all rows, which pays nothing.

Invariant: the living rows of a slice are those of its table for which the condition is true.
Cost: each slice looks at a batch once, besides what its keeper costs. A dump holds a bit a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.conditions.columns import NamedColumns
from holdfast.engines.conditions.truth import truth
from holdfast.engines.contract import CurrentExplanation, Json
from holdfast.engines.given import GivenClass
from holdfast.engines.given.keeper import Answer, Arrays, Cut, Keeper, Old, Previous, RowsOf, Tally
from holdfast.engines.listing import Listing
from holdfast.engines.watched import FILES, WatchedTable, below, inside
from holdfast.progress import SILENT, Progress
from holdfast.rules.check import Checker
from holdfast.rules.conditions import Condition
from holdfast.rules.given import TableRules
from holdfast.rules.registry import parse
from holdfast.table.change import Batch, ChangeOfSome
from holdfast.table.rewrite import UsedCodes
from holdfast.table.rows import Rows
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Table

Marks = NDArray[np.bool_]  # of the rows of a shard
_SLICES = "slices"  # the fact of a dump that describes them, which no rule has as its text


# ---- some rows of a table -------------------------------------------------------------------------------------------


class Slice:
    """The rows of a table for which a condition is true, as a table that keepers watch."""

    def __init__(self, condition: Condition, table: Table, marks: Sequence[Marks] | None = None) -> None:
        self.condition, self.source = condition, table
        if marks is None:
            marks = [_marked(condition, table, number) for number in range(len(table.shards))]
        self.watched = WatchedTable(_only(table, marks))

    @property
    def _marks(self) -> Iterator[Marks]:
        for mark in self.watched.table.alive:
            assert mark is not None, "a slice marks its rows in every shard"
            yield mark

    def follow(self, batch: Batch) -> Batch:
        """Take in a batch; gives the batch with the rows of the slice alone."""
        change = batch.of(self.source.schema.name)
        if change is None:
            return batch
        before, marks, ids = self.watched.table, list(self._marks), [np.empty(0, np.int64)]
        for number, (shard, alive) in enumerate(change.after.living()):
            if number < len(marks) and shard is before.shards[number]:
                if alive is not None and alive is not change.before.alive[number]:
                    marks[number] = marks[number] & alive
            else:
                marks[number:] = [_marked(self.condition, change.after, number)]
                ids.append(shard.ids_of(np.flatnonzero(marks[number])))
        self.source = change.after
        _, were_here = before.which_live(change.dead)
        own = ChangeOfSome(
            before, _only(change.after, marks), change.born, change.dead[were_here], ids=np.concatenate(ids)
        )
        self.watched.follow(own, Threads())
        return Batch([own if each is change else each for each in batch], batch.at)

    def rewritten(self, table: Table, kept: UsedCodes) -> Slice:
        """The same of a table that was rewritten."""
        made = Slice(self.condition, table)
        made.watched, filtered = self.watched, made.watched.table
        made.watched.rewritten(filtered, kept)
        return made

    def dump(self) -> tuple[Arrays, Mapping[str, Any]]:
        """Which rows belong to it, and what keepers share of them."""
        arrays, facts = self.watched.dump()
        living = zip(self._marks, self.source.alive, strict=True)
        bits = [mark if alive is None else mark[alive] for mark, alive in living]
        return {"rows": np.packbits(np.concatenate([np.empty(0, np.bool_), *bits])), **below("parts/", arrays)}, facts

    @staticmethod
    def load(condition: Condition, table: Table, arrays: Arrays, facts: Mapping[str, Any]) -> Slice:
        """The slice that `dump` described."""
        belongs, marks, first = np.unpackbits(arrays["rows"], count=table.rows).view(np.bool_), [], 0
        for shard, alive in table.living():
            mark = np.ones(len(shard), np.bool_) if alive is None else alive.copy()
            end = first + int(mark.sum())
            mark[mark] = belongs[first:end]
            marks.append(mark)
            first = end
        made = Slice(condition, table, marks)
        made.watched = WatchedTable(made.watched.table, inside("parts/", arrays), facts)
        return made


def _marked(condition: Condition, table: Table, number: int) -> Marks:
    """Which rows of a shard live and satisfy a condition."""
    rows, alive = Rows.living(table, number), table.alive[number]
    holds = truth(condition, NamedColumns.of(rows)) > 0 if len(rows) else np.empty(0, np.bool_)
    if alive is None:
        return holds
    marks = np.zeros(len(alive), np.bool_)
    marks[alive] = holds
    return marks


def _only(table: Table, marks: Sequence[Marks]) -> Table:
    return replace(table, alive=tuple(marks), rows=sum(int(mark.sum()) for mark in marks))


# ---- the keeper -----------------------------------------------------------------------------------------------------


class Part(NamedTuple):
    """Rules about the same rows of a table, and what keeps them; without a condition, those about all rows."""

    table: str
    condition: Condition | None
    keeper: Keeper[Any, Any]

    @property
    def key(self) -> tuple[str, str]:
        """What rows they are about."""
        return (self.table, self.condition.text) if self.condition else ("", "")


@dataclass
class PartState:
    """What a part knows; `batch` is what it sees of the batch that is being applied."""

    texts: Sequence[str]
    slice: Slice | None
    own: Any
    batch: Batch | None = None

    def subject(self, subject: Any) -> Any:
        """What its keeper looks at: its slice in place of the table."""
        if self.slice is None:
            return subject
        if isinstance(subject, Mapping):
            return {**subject, self.slice.source.schema.name: self.slice.watched}
        return self.slice.watched


State = dict[tuple[str, str], PartState]


def keeper_of(
    declared: GivenClass[Any], settings: Any, given: Mapping[str, TableRules], subject: Any
) -> Keeper[Any, Any]:
    """What keeps the rules that were given: a keeper of the class, or several where some rules are about some rows."""
    parts: dict[tuple[str, str], tuple[Condition | None, dict[str, TableRules]]] = {}
    tables = subject if isinstance(subject, Mapping) else {subject.table.schema.name: subject}
    for name, own in given.items():
        for rule in own.rules if declared.is_sliced and name in tables else ():
            where = parse(rule.text).where
            key = (name, where.text) if where else ("", "")
            checker = Checker.of(tables[name].table.schema, own.ordered)
            _, rules = parts.setdefault(key, (checker.condition(where) if where else None, {}))
            rules[name] = TableRules((*rules.get(name, TableRules()).rules, rule), own.ordered)
    if all(condition is None for condition, _ in parts.values()):
        return declared.keeper(settings, given, subject)
    in_order = [rule.text for own in given.values() for rule in own.rules]
    made = [Part(key[0], where, declared.keeper(settings, own, subject)) for key, (where, own) in parts.items()]
    return SlicesKeeper(made, in_order)


def without_slices(old: Previous) -> Old:
    """What a keeper of rules about all rows can take over."""
    part = old.state.get(("", ""))
    return None if part is None else Previous(list(part.texts), part.own)


class SlicesKeeper(Keeper[Any, State]):
    """The rules of one class, those about some rows in slices."""

    is_sliced = True

    def __init__(self, parts: Sequence[Part], in_order: Sequence[str]) -> None:
        self._parts = {part.key: part for part in parts}
        found = [(named, part.key, at) for part in parts for at, named in enumerate(part.keeper.rules)]
        found.sort(key=lambda each: in_order.index(each[0].text))
        self.rules = [named for named, _, _ in found]
        self._places = [(key, at) for _, key, at in found]
        one = parts[0].keeper
        self.has_track, self.counts_restated, self.shown = one.has_track, one.counts_restated, one.shown

    def _in_order(self, answers: Mapping[tuple[str, str], Sequence[Any]]) -> list[Any]:
        """What the parts say of their rules, in the order of all rules."""
        return [answers[key][at] for key, at in self._places]

    def cuts(self) -> Sequence[Sequence[Cut]]:
        """As the keeper of each rule says."""
        return self._in_order({key: part.keeper.cuts() for key, part in self._parts.items()})

    def begin(self, subject: Any, runner: Runner, progress: Progress = SILENT, old: Old = None) -> State:
        """The states of all parts."""
        known: State = {}
        if old is not None:
            known = old.state if isinstance(old.state, dict) else {("", ""): PartState(old.texts, None, old.state)}
        state: State = {}
        for key, part in self._parts.items():
            before = known.get(key)
            own = PartState(part.keeper.texts, self._slice(part, subject, before), None)
            previous = None if before is None else Previous(list(before.texts), before.own)
            seen_by = runner if own.slice is None else Threads()  # a task would see all rows
            own.own = part.keeper.begin(own.subject(subject), seen_by, progress, previous)
            state[key] = own
        return state

    def _slice(self, part: Part, subject: Any, before: PartState | None) -> Slice | None:
        """The slice of a part, which may be known."""
        if part.condition is None:
            return None
        table = _table(subject, part.table)
        known = before.slice if before is not None else None
        return known if known is not None and known.source is table else Slice(part.condition, table)

    # ---- batches ----------------------------------------------------------------------------------------------------

    def ready(self, state: State, batch: Batch) -> State:
        """Each part with what it sees of the batch."""
        for key, own in state.items():
            own.batch = batch if own.slice is None else own.slice.follow(batch)
            own.own = self._parts[key].keeper.ready(own.own, own.batch)
        return state

    def look(self, state: State, born: RowsOf, dead: RowsOf) -> tuple[State, Answer]:
        """Each part at its rows."""
        answers = {}
        for key, own in state.items():
            come, gone = born, dead
            if own.slice is not None and own.batch is not None:
                come, gone = ({each.table: getattr(each, side) for each in own.batch} for side in ("come", "gone"))
            own.own, answers[key] = self._parts[key].keeper.look(own.own, come, gone)
        return state, self._in_order(answers)

    def settle(self, state: State, batch: Batch) -> State:
        """The states of all parts."""
        for key, own in state.items():
            own.own, own.batch = self._parts[key].keeper.settle(own.own, own.batch or batch), None
        return state

    def recall(self, state: State, stored: Mapping[str, Json]) -> State:
        """The states of all parts."""
        for key, own in state.items():
            own.own = self._parts[key].keeper.recall(own.own, stored)
        return state

    # ---- looking ----------------------------------------------------------------------------------------------------

    def tallies(self, state: State) -> Sequence[Tally]:
        """How each rule stands."""
        return self._in_order({key: self._parts[key].keeper.tallies(own.own) for key, own in state.items()})

    def measured(self, state: State) -> Sequence[Tally]:
        """The same with what only a look at the tables shows."""
        return self._in_order({key: self._parts[key].keeper.measured(own.own) for key, own in state.items()})

    def listing(self, state: State, subject: Any, rule: int) -> Listing:
        """The violations of a rule."""
        key, at = self._places[rule]
        return self._parts[key].keeper.listing(state[key].own, state[key].subject(subject), at)

    def explain(self, state: State, subject: Any, rule: int, rows: Sequence[int]) -> CurrentExplanation:
        """Why a rule doesn't hold, or why just these rows break it."""
        key, at = self._places[rule]
        return self._parts[key].keeper.explain(state[key].own, state[key].subject(subject), at, rows)

    # ---- in files ---------------------------------------------------------------------------------------------------

    def dump(self, state: State) -> tuple[Arrays, Mapping[str, Any]]:
        """What each part dumps, and its slice."""
        arrays: dict[str, Any] = {}
        slices, others = [], []
        for number, (key, own) in enumerate(state.items()):
            kept, facts = self._parts[key].keeper.dump(own.own)
            arrays |= below(f"{number}/", kept)
            others += facts.get(FILES, ())
            parts: Mapping[str, Any] = {}
            if own.slice is not None:
                shared, parts = own.slice.dump()
                arrays |= below(f"{number}/slice/", shared)
                others += parts.get(FILES, ())
            slices.append({"key": list(key), "facts": facts, "parts": parts})
        return arrays, {_SLICES: slices, **({FILES: others} if others else {})}

    def load(self, subject: Any, arrays: Arrays, facts: Mapping[str, Any]) -> State:
        """The states that `dump` described."""
        state: State = {}
        for number, stored in enumerate(facts[_SLICES]):
            part, own = self._parts[tuple(stored["key"])], inside(f"{number}/", arrays)
            made = PartState(part.keeper.texts, None, None)
            if part.condition is not None:
                table = _table(subject, part.table)
                made.slice = Slice.load(part.condition, table, inside("slice/", own), stored["parts"])
            made.own = part.keeper.load(made.subject(subject), own, stored["facts"])
            state[part.key] = made
        return state

    def rewritten(self, state: State, subject: Any, kept: Mapping[str, UsedCodes]) -> State:
        """The same states of tables of which some were rewritten."""
        for key, own in state.items():
            part = self._parts[key]
            if own.slice is not None and part.table in kept:
                own.slice = own.slice.rewritten(_table(subject, part.table), kept[part.table])
            own.own = part.keeper.rewritten(own.own, own.subject(subject), kept)
        return state


def _table(subject: Any, name: str) -> Table:
    table: Table = (subject[name] if isinstance(subject, Mapping) else subject).table
    return table


def only_where(condition: Condition | None, name: str, subject: Any) -> Any:
    """A subject of which one table has only the rows that satisfy a condition."""
    if condition is None:
        return subject
    return PartState((), Slice(condition, _table(subject, name)), None).subject(subject)
