"""References that were given, kept true under batches on either side, or on both at once: the rows that have no partner
in another table (see `partners`).

A dump holds the ids of these rows; what else is needed follows from the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.engines.given.finder import Finder, TableFinder
from holdfast.engines.given.keeper import Answer, Arrays, Cut, Keeper, Old, RowsOf, Tally, alone, listed
from holdfast.engines.inclusion import InclusionSettings, explain, witness
from holdfast.engines.inclusion.partners import Compared, Reference
from holdfast.engines.inclusion.state import INDState, attributes_of
from holdfast.engines.inclusion.translate import Translations
from holdfast.engines.listing import Listing
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.error_measures import g3
from holdfast.rules.given import Named, TableRules
from holdfast.rules.inclusion import IND
from holdfast.rules.registry import parse
from holdfast.table.change import Batch
from holdfast.table.runner import Runner
from holdfast.table.table import Table

Subject = Mapping[str, WatchedTable]
_SETTINGS = InclusionSettings()


@dataclass
class OrphansState:
    """The columns of the tables that references name, and each reference with its orphans."""

    columns: INDState  # of tables without rows: what codes mean, and how often they occur
    references: list[Reference]
    tables: dict[str, Table]  # with rows: what `ready` sees
    finders: Mapping[str, Finder] = field(default_factory=dict)  # of older rows, by table


@dataclass(frozen=True)
class OrphansKeeper(Keeper[Subject, OrphansState]):
    """The references between some tables."""

    rules: tuple[Named[IND], ...]
    compared: tuple[Compared, ...]  # the columns of each rule

    shown = "rows without a partner for"

    @staticmethod
    def of(given: Mapping[str, TableRules], subject: Subject) -> OrphansKeeper:
        """The references that were given, on the tables that there are."""
        rules: list[Named[IND]] = []
        for given_rule in (rule for own in given.values() for rule in own.rules):
            rule = parse(given_rule.text)
            assert isinstance(rule, IND)
            rules.append(Named(rule, given_rule.name, given_rule.severity, given_rule.note, given_rule.origin))
        tables = {name: subject[name].table for name in _tables(rules)}
        columns = INDState(tables, attributes_of(tables, _SETTINGS.compare), {}, _SETTINGS)
        return OrphansKeeper(tuple(rules), tuple(witness.compared(columns, named.rule) for named in rules))

    def cuts(self) -> Sequence[Sequence[Cut]]:
        """Rows meet those that have the same values: of each reference, its dependent side and its referenced one."""
        sides = [zip(*compared, strict=True) for compared in self.compared]
        return [[Cut(side[0].table, "hash", tuple(each.column for each in side)) for side in both] for both in sides]

    # ---- finding ----------------------------------------------------------------------------------------------------

    def begin(self, subject: Subject, runner: Runner, progress: Progress = SILENT, old: Old = None) -> OrphansState:
        """Look for the partner of every row, by the references that are new."""
        known = zip(old.texts, old.state.references, strict=True) if old else ()
        orphans = {text: (each.orphans, each.support) for text, each in known}
        return self._made(self._columns(subject, runner, progress), orphans)

    def _made(self, columns: INDState, known: Mapping[str, tuple[Any, int]]) -> OrphansState:
        """All references; of those that are known, the orphans and how many rows have no null."""
        made = []
        for named, compared in zip(self.rules, self.compared, strict=True):
            rows = columns.tables[named.table].rows
            old = known.get(named.text)
            made.append(Reference(columns, compared, *old, rows) if old else Reference.of(columns, compared))
        tables = dict(columns.tables)
        columns.tables = {name: table.encoding for name, table in tables.items()}
        return OrphansState(columns, made, tables)

    def _columns(self, subject: Subject, runner: Runner | None = None, progress: Progress = SILENT) -> INDState:
        """The columns of the tables that references name."""
        return INDState.of({name: subject[name] for name in _tables(self.rules)}, _SETTINGS, runner, progress)

    # ---- batches ----------------------------------------------------------------------------------------------------

    def ready(self, state: OrphansState, batch: Batch) -> OrphansState:
        """Count the partners that nobody has counted, and say where older rows can be found."""
        changed = {change.table: change.after for change in batch if change.table in state.tables}
        for each in state.references:
            if each.dependent in changed or each.referenced in changed:
                each.count(state.tables[each.referenced])
        state.tables |= changed
        state.finders = {name: TableFinder(table) for name, table in state.tables.items()}
        return state

    def look(self, state: OrphansState, born: RowsOf, dead: RowsOf) -> tuple[OrphansState, Answer]:
        """Look for the partners of rows born, and for rows whose partner came or went."""
        state.columns.tables |= {name: rows.encoding for name, rows in born.items() if name in state.columns.tables}
        maps = Translations(state.columns)
        moved = [each.look(born, dead, maps, state.finders[each.dependent]) for each in state.references]
        return state, [listed(alone(added), alone(resolved)) for added, resolved in moved]

    # ---- looking ----------------------------------------------------------------------------------------------------

    def tallies(self, state: OrphansState) -> Sequence[Tally]:
        """How many rows have no partner; the share of rows to remove so that none is without; and, as score, the share
        of rows that have one, of those without a null in the columns.
        """
        return [_tally(each) for each in state.references]

    def listing(self, state: OrphansState, subject: Subject, rule: int) -> Listing:
        """The rows without a partner."""
        named, orphans = self.rules[rule], state.references[rule].orphans
        looked_at = {"t": list(dict.fromkeys(named.rule.dependent.columns))}
        return Listing(named, subject[named.table].table, len(orphans), alone(orphans), looked_at)

    def explain(self, state: OrphansState, subject: Subject, rule: int, rows: Sequence[int]) -> explain.INDExplanation:  # noqa: ARG002
        """How far a reference holds, and which values and rows break it."""
        return explain.by_rows(self._columns(subject), self.rules[rule].rule)

    # ---- in files ---------------------------------------------------------------------------------------------------

    def dump(self, state: OrphansState) -> tuple[Arrays, Mapping[str, Any]]:
        """The orphans; and how many rows have no null."""
        kept = dict(zip(self.texts, state.references, strict=True))
        return {text: each.orphans for text, each in kept.items()}, {text: each.support for text, each in kept.items()}

    def load(self, subject: Subject, arrays: Arrays, facts: Mapping[str, Any]) -> OrphansState:
        """The state from its orphans."""
        return self._made(self._columns(subject), {text: (arrays[text], int(some)) for text, some in facts.items()})


def _tables(rules: Sequence[Named[IND]]) -> list[str]:
    """The tables that some references name, each once."""
    return list(dict.fromkeys(side.table for each in rules for side in (each.rule.dependent, each.rule.referenced)))


def _tally(reference: Reference) -> Tally:
    """Where all rows have a partner, it does not matter how many they are."""
    orphans = len(reference.orphans)
    missing = orphans / reference.support if orphans else 0.0
    return Tally(orphans, {"g3": g3(orphans, reference.rows), "score": 1.0 - missing})
