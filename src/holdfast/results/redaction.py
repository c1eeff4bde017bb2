"""Values in what leaves the team: as they are, hashed, or hashed in the columns that are declared sensitive.

A page shows each value by a `ShownValues`. A verdict is text that was made already, so `for_others` gives one without
values: rules without their constants, and rows by their numbers. A rule that names a sensitive column is redacted as a
whole: its constants and its sentences may have values of that column.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.changes.diff import Finding, Witness
from holdfast.engines.contract import Json
from holdfast.engines.registry import table_of_rows
from holdfast.expectations.unusual import Unusual
from holdfast.results.verdict import Examples, Verdict, Worse, evidence_in, explaining
from holdfast.rules.names import name_of
from holdfast.rules.registry import parse
from holdfast.rules.rule import Rule
from holdfast.rules.sql import expression_sql
from holdfast.text.quotes import command
from holdfast.text.row_names import Values, by_key, by_number, by_values, naming_columns
from holdfast.visible import cut, visible

Sensitive = Mapping[str, Collection[str]]  # columns by table

_LONGEST = 200  # letters of a value
_LONGEST_NAME = 60  # of a rule: a longer one was cut, perhaps within a constant
_ROWS = 5  # of a rule, by number


class ShownValues:
    """Values as they are."""

    redacted = False  # all values are hashed
    shows_all = True

    def value(self, value: Any) -> str:
        """One value."""
        return "null" if value is None else cut(visible(str(value)), _LONGEST)

    def cell(self, column: str, value: Any) -> str:  # noqa: ARG002
        """The value of a row in a column."""
        return self.value(value)

    def name(self, row: int, key: Values, values: Values, first: Sequence[str]) -> str:
        """The name of a row."""
        return visible(by_key(key) if key else by_values(row, values, first) if values else by_number(row))

    def rule(self, text: str, rule: Rule) -> str:  # noqa: ARG002
        """The text of a rule, or a text made from it."""
        return text

    def rule_name(self, name: str, rule: Rule) -> str:  # noqa: ARG002
        """The name of a rule."""
        return name

    def hides(self, column: str) -> bool:  # noqa: ARG002
        """Whether the values of a column are hashed."""
        return self.redacted

    def of_table(self, table: str) -> ShownValues:  # noqa: ARG002
        """How the values of a table are shown."""
        return self

    def of_rule(self, rule: Rule) -> ShownValues:  # noqa: ARG002
        """How the values in sentences about a rule are shown."""
        return self


class HashedValues(ShownValues):
    """Values as short hashes. Equal values have equal hashes within a page, and other hashes in another page."""

    redacted = True
    shows_all = False

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(16)

    def value(self, value: Any) -> str:
        """One value."""
        if value is None:
            return "null"
        hashed = hashlib.blake2b(str(value).encode("utf-8", "surrogatepass"), key=self._salt, digest_size=4)
        return f"#{hashed.hexdigest()}"

    def name(self, row: int, key: Values, values: Values, first: Sequence[str]) -> str:  # noqa: ARG002
        """The number of a row."""
        return by_number(row)

    def rule(self, text: str, rule: Rule) -> str:
        """Hashes the constants of a rule, too."""
        named = {each.text for each in rule.constants} | {expression_sql(each).text for each in rule.constants}
        constants = sorted(named, key=len, reverse=True)  # one may contain another
        if not constants:
            return text
        any_of = "|".join(map(re.escape, constants))
        return re.sub(rf"(?<![\w\"])(?:{any_of})(?![\w\"])", lambda found: self.value(found[0]), text)

    def rule_name(self, name: str, rule: Rule) -> str:
        """The name, unless it is made of the constants of the rule: then it is empty."""
        words = [name_of([constant.text]) for constant in rule.constants]
        is_cut = bool(words) and len(name) >= _LONGEST_NAME
        return "" if is_cut or any(word in name.lower() for word in words) else name


class HiddenValues(HashedValues):
    """No values at all, where texts must be the same in every run, as a hash with a salt is not."""

    def value(self, value: Any) -> str:  # noqa: ARG002
        """One value."""
        return "…"


class SensitiveValues(ShownValues):
    """Values as they are, but for those of sensitive columns, which are hashed; so is all that rules about such a
    column say.
    """

    shows_all = False

    def __init__(self, sensitive: Sensitive, table: str = "", hashed: HashedValues | None = None) -> None:
        self._sensitive, self._table = sensitive, table
        self._hashed = hashed or HashedValues()
        self._own = frozenset(sensitive.get(table, ()))

    def cell(self, column: str, value: Any) -> str:
        """The value of a row in a column."""
        return (self._hashed if self.hides(column) else self).value(value)

    def name(self, row: int, key: Values, values: Values, first: Sequence[str]) -> str:
        """Its key or some values, unless one of these is sensitive."""
        named = list(key) or naming_columns(list(values), first)
        return by_number(row) if self._own.intersection(named) else super().name(row, key, values, first)

    def rule(self, text: str, rule: Rule) -> str:
        """Hashes the constants of rules about sensitive columns."""
        return self.of_rule(rule).rule(text, rule) if self._hides(rule) else text

    def rule_name(self, name: str, rule: Rule) -> str:
        """The name of a rule."""
        return self.of_rule(rule).rule_name(name, rule) if self._hides(rule) else name

    def hides(self, column: str) -> bool:
        """Whether a column is sensitive."""
        return column in self._own

    def of_table(self, table: str) -> ShownValues:
        """How the values of a table are shown."""
        return SensitiveValues(self._sensitive, table, self._hashed)

    def of_rule(self, rule: Rule) -> ShownValues:
        """How the values in sentences about a rule are shown."""
        return self._hashed if self._hides(rule) else self

    def _hides(self, rule: Rule) -> bool:
        return names_sensitive(rule, self._table, self._sensitive)


def shown_values(redact: bool, sensitive: Sensitive) -> ShownValues:
    """How a page shows values."""
    return HashedValues() if redact else SensitiveValues(sensitive) if sensitive else ShownValues()


def names_sensitive(rule: Rule, table: str, sensitive: Sensitive) -> bool:
    """Whether a rule of a table ("": of any) names a sensitive column."""
    every = {name for names in sensitive.values() for name in names}
    for own, columns in rule.mentions():
        known = sensitive.get(own or table, ()) if own or table else every
        if not set(columns).isdisjoint(known):
            return True
    return False


# ---- verdicts --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RedactedRule:
    """A finding without values."""

    kind: str
    text: str
    line: Json
    violations: int = 0

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return dict(self.line)


def for_others(verdict: Verdict, *, values: bool = False) -> Verdict:
    """The verdict for those who may not read the table: without values, or with `values` without those of the columns
    that are declared sensitive.
    """
    return _Redaction(verdict, None if values else HashedValues()).verdict()


class _Redaction:
    """Redacts one verdict, so that equal constants have equal hashes in it."""

    def __init__(self, verdict: Verdict, everything: HashedValues | None) -> None:
        self._verdict, self._everything = verdict, everything
        self._hashed = everything or HashedValues()
        self._sensitive = verdict.around.sensitive

    def verdict(self) -> Verdict:
        """The verdict without the values."""
        own = self._verdict
        hidden = {each.key for each in own.worse if self._hides(each)}
        if self._everything is None and not self._sensitive:
            return own
        return replace(
            own,
            worse=[self._worse(each) if each.key in hidden else each for each in own.worse],
            mended=[self._rule(rule, str(rule.to_json().get("table", ""))) for rule in own.mended],
            muted=[self._rule_line(rule, str(rule["table"])) for rule in own.muted],
            examples={
                each.key: _rows(examples) if each.key in hidden else examples
                for each in own.worse
                if (examples := own.examples.get(each.key)) is not None
            },
        )

    def _hides(self, worse: Worse) -> bool:
        """Whether the lines about a rule have values that are to be hidden."""
        key = worse.key
        if self._everything is not None:
            return True
        if isinstance(worse.finding, Unusual):
            return worse.finding.column in self._sensitive.get(worse.finding.table, ())
        table, examples = table_of_rows(*key), self._verdict.examples.get(key)
        own = set(self._sensitive.get(table, ()))
        shown = own if examples is None else examples.columns
        return self._names_sensitive(key[2], table) or not own.isdisjoint(shown)

    def _names_sensitive(self, text: str, table: str) -> bool:
        return names_sensitive(parse(text), table, self._sensitive)

    def _worse(self, worse: Worse) -> Worse:
        if isinstance(worse.finding, Unusual):
            return replace(worse, finding=worse.finding.without_values())
        rule, state, see = self._rule(worse.finding, table_of_rows(*worse.key)), self._verdict.around.state, ""
        if rule.text != worse.finding.text:  # no command knows it by this text
            name = rule.to_json()["name"]
            see = explaining(state, name) if name else command("status", state)
        witness = None if worse.witness is None else Witness(worse.witness.rows)
        return replace(worse, finding=rule, witness=witness, see=see)

    def _rule(self, finding: Finding, table: str) -> Finding:
        line = self._rule_line(finding.to_json(), table)
        return RedactedRule(finding.kind, line["text"], line, int(getattr(finding, "violations", 0)))

    def _rule_line(self, line: Mapping[str, Any], table: str) -> dict[str, Any]:
        """What is said of a rule: its text and its name without constants."""
        shown: dict[str, Any] = {
            name: line[name] for name in ("kind", "table", "severity", "violations") if name in line
        }
        shown |= {"note": evidence_in(line.get("note", "")), "name": line.get("name", ""), "text": line["text"]}
        rule = parse(line["text"])
        if self._everything is not None or names_sensitive(rule, table, self._sensitive):
            shown["text"] = self._hashed.rule(line["text"], rule)
            shown["name"] = self._hashed.rule_name(shown["name"], rule)
        return shown


def _rows(examples: Examples) -> Examples:
    """The rows at fault by their numbers alone."""
    numbers = sorted(examples.rows)
    if not numbers:
        return Examples((), examples.rows, whole=True)
    more = f" and {len(numbers) - _ROWS:,} more" if len(numbers) > _ROWS else ""
    listed = ", ".join(map(str, numbers[:_ROWS]))
    return Examples((f"{'row' if len(numbers) == 1 else 'rows'} {listed}{more}",), examples.rows, whole=True)
