"""The verbs of a monitor that change what a state watches: rules, expectations, columns and tables.

Each is one change by a function of `api/change`, with a `change_id` that makes it happen once. Modules that applying a
batch does not need are imported where they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.api.expectations import History
from holdfast.api.open_state import OpenState
from holdfast.engines.registry import refuse_unknown_settings, to_find
from holdfast.intake.source import ReadOptions
from holdfast.results.changed import Changed
from holdfast.rules.rule import Severity
from holdfast.sources.ddl import type_named
from holdfast.table.columns import ColumnChange
from holdfast.table.types import Column

if TYPE_CHECKING:
    import pyarrow as pa

    from holdfast.api.change.rules import RuleEdit
    from holdfast.api.change.spec import WatchSpec
    from holdfast.rules.file import Rules


class Changing:
    """Changes what an open state watches. Of a `Monitor` it needs that state alone."""

    _state: OpenState

    # ---- rules that are given ---------------------------------------------------------------------------------------

    def add_rules(
        self,
        rules: str | Path | Sequence[str] | Rules,
        *,
        table: str | None = None,
        change_id: str | None = None,
    ) -> Changed:
        """Give more rules: a rule file, a text, or texts, which are about `table` where they name none. A rule that is
        given already takes the new name, severity and note. A change id that was used before changes nothing.
        """
        return self._change_rules(change_id, lambda edit: edit.spec.with_rules(edit.checked(rules, table)))

    def remove_rules(self, rules: str | Path | Sequence[str] | Rules, *, change_id: str | None = None) -> Changed:
        """Remove rules, by their names or texts, or those of a rule file. The history keeps what they did."""
        return self._change_rules(change_id, lambda edit: edit.spec.without_rules(edit.named(rules)))

    def replace_rules(self, rules: str | Path | Sequence[str] | Rules, *, change_id: str | None = None) -> Changed:
        """Give exactly the rules of a file, a text, or texts: others are removed, new ones are added, and rules that
        were given before keep what is known of them.
        """
        return self._change_rules(change_id, lambda edit: replace(edit.spec, rules=edit.checked(rules)))

    def promote(
        self,
        rule: str,
        *,
        name: str | None = None,
        severity: Severity = "error",
        note: str = "",
        table: str | None = None,
        change_id: str | None = None,
    ) -> Changed:
        """Give a rule that was found: from now on its violations are counted and listed, and it stays when it breaks.

        An order dependency, also a pointwise one, is given as the denial constraint that says the same.
        """
        return self._change_rules(change_id, lambda edit: edit.promote(rule, name, severity, note, table))

    def accept(
        self, rule: str, *, table: str | None = None, undo: bool = False, change_id: str | None = None
    ) -> Changed:
        """Accept the violations that a given rule has now: they are counted and shown, and violations that come later
        raise an alarm. Name the rule, or give its text. `undo` takes that back.
        """
        from holdfast.api.change.rules import accept

        return accept(self._state, rule, table, undo, change_id)

    def unmute(self, rule: str, *, change_id: str | None = None) -> Changed:
        """Have a suggested rule speak again that muted itself, as new rows broke it as often as chance does. It is a
        rule of your own from now on, and is never muted again.
        """
        return self._change_rules(change_id, lambda edit: edit.spec.with_own(edit.named(rule)))

    # ---- what batches are expected to look like ---------------------------------------------------------------------

    def expect(self, on: bool = True, *, history: History = None, change_id: str | None = None) -> Changed:
        """Compare each batch with those before it from now on, or no longer. `history` is as with `create`."""
        from holdfast.api.change.expectations import switch

        return switch(self._state, on, history, change_id)

    def accept_figure(self, figure: str, *, table: str | None = None, change_id: str | None = None) -> Changed:
        """Take a figure that was far outside of the last batch, such as `orders: rows_in_batch`, for what is usual from
        now on. Nothing is said of it before 8 batches of that kind.
        """
        from holdfast.api.change.expectations import accept

        return accept(self._state, figure, table, change_id)

    def mute_figure(
        self, figure: str, *, table: str | None = None, undo: bool = False, change_id: str | None = None
    ) -> Changed:
        """Say nothing of a figure of batches from now on. `undo` takes that back."""
        from holdfast.api.change.expectations import mute

        return mute(self._state, figure, table, undo, change_id)

    def alarm_budget(self, budget: float, *, change_id: str | None = None) -> Changed:
        """Change how many breaks by chance all suggested errors together may have in 100 usual batches. Suggested rules
        that hold become errors or warnings by it, and by how large batches were.
        """
        from holdfast.api.change.budget import change_budget

        return change_budget(self._state, budget, change_id)

    # ---- rules that were found --------------------------------------------------------------------------------------

    def ignore(
        self, rule: str, *, table: str | None = None, undo: bool = False, change_id: str | None = None
    ) -> Changed:
        """Ignore a found rule: it raises no alarm, and a page lists it last. `undo` takes that back."""
        return self._change_rules(change_id, lambda edit: edit.mark(rule, table, None if undo else "ignored"))

    def pin(self, rule: str, *, table: str | None = None, undo: bool = False, change_id: str | None = None) -> Changed:
        """Have a found rule matter, whatever its score is: it raises an alarm when it breaks, and a page lists it
        first. `undo` takes that back.
        """
        return self._change_rules(change_id, lambda edit: edit.mark(rule, table, None if undo else "pinned"))

    def watch(self, classes: str | Sequence[str], *, change_id: str | None = None, **settings: Any) -> Changed:
        """Find the rules of more classes, and maintain them from now on. `settings` are those of the classes."""
        wanted = to_find(classes)
        refuse_unknown_settings(settings)
        return self._change_rules(change_id, lambda edit: edit.spec.with_classes(wanted, settings))

    def unwatch(self, classes: str | Sequence[str], *, change_id: str | None = None) -> Changed:
        """Stop watching classes of rules. The history keeps what their rules did."""
        wanted = to_find(classes)
        return self._change_rules(change_id, lambda edit: edit.spec.without_classes(wanted))

    def _change_rules(self, change_id: str | None, edit: Callable[[RuleEdit], WatchSpec]) -> Changed:
        from holdfast.api.change.rules import change_rules

        return change_rules(self._state, change_id, edit)

    # ---- columns and tables -----------------------------------------------------------------------------------------

    def add_column(
        self, name: str, kind: str | pa.DataType, *, table: str | None = None, change_id: str | None = None
    ) -> Changed:
        """Add a column of a type such as `integer`, `decimal(10,2)` or `text`; it is null in all rows that exist."""
        return self._change_columns(table, change_id, ColumnChange(added=(Column(name, type_named(kind)),)))

    def drop_column(self, name: str, *, table: str | None = None, change_id: str | None = None) -> Changed:
        """Drop a column with the rules that name it; later files may still have it."""
        return self._change_columns(table, change_id, ColumnChange(dropped=(name,)))

    def rename_column(self, old: str, new: str, *, table: str | None = None, change_id: str | None = None) -> Changed:
        """Rename a column; it keeps its rules."""
        return self._change_columns(table, change_id, ColumnChange(renamed={old: new}))

    def retype_column(
        self, name: str, kind: str | pa.DataType, *, table: str | None = None, change_id: str | None = None
    ) -> Changed:
        """Give a column a wider type, in which every value keeps its meaning; or make it text."""
        return self._change_columns(table, change_id, ColumnChange(retyped={name: type_named(kind)}))

    def declare_sensitive(
        self,
        columns: str | Sequence[str],
        *,
        table: str | None = None,
        undo: bool = False,
        change_id: str | None = None,
    ) -> Changed:
        """Declare columns sensitive: reports show hashes in place of their values, and what `notify` sends has none of
        them. `undo` takes that back.
        """
        from holdfast.api.change.columns import declare_sensitive

        named = [columns] if isinstance(columns, str) else list(columns)
        return declare_sensitive(self._state, table, named, undo, change_id)

    def _change_columns(self, table: str | None, change_id: str | None, change: ColumnChange) -> Changed:
        from holdfast.api.change.columns import change_columns

        return change_columns(self._state, table, change_id, change)

    def add_table(
        self,
        name: str,
        source: Any,
        *,
        key: str | Sequence[str] = (),
        columns: str | Sequence[str] = (),
        options: ReadOptions | None = None,
        change_id: str | None = None,
    ) -> Changed:
        """Watch one more table: it is read whole, and the rules of all watched classes are found in it."""
        from holdfast.api.change.tables import add_table

        return add_table(self._state, name, source, key, columns, options, change_id)

    def drop_table(self, name: str, *, change_id: str | None = None) -> Changed:
        """Stop watching a table, and remove the rules that name it. The history keeps what happened to it."""
        from holdfast.api.change.tables import drop_table

        return drop_table(self._state, name, change_id)
