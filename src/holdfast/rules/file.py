"""Rule files in YAML.

    rules:
      - name: fair                # default: dc1, dc2, …, fd1, …, key1, … in the order of the rules without a name
        table: tax                # optional where there is only one table
        rule: "not(t.State = s.State and t.Salary > s.Salary and t.Rate < s.Rate)"
        severity: error           # or warn
        note: who earns more pays no lower rate
      - {name: zip, rule: "Zip -> State"}               # a functional dependency
      - {name: phone, rule: "key(AreaCode, Phone)"}     # a key
      - {name: bins, rule: "[Year, Salary] orders [Year, Bin]"}     # a list order dependency
      - {name: payer, rule: "tax.Payer in people.Id"}   # a reference to another table
      - {name: age, rule: "t.Age between 0 and 120"}    # about one row
      - {name: size, rule: "rows >= 1000"}              # about the table
    ordered: [Grade]              # text columns that may stand under <; or, by table, {tax: [Grade]}

`read_rules` returns frozen values: it parses rules of classes that can be given and makes their text canonical.

rules.schema.json is the JSON Schema of the format for editors; `python -m holdfast.rules.file` prints it.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from holdfast.errors import BadInput, suggest
from holdfast.rules.given import GivenRule
from holdfast.rules.registry import of_table, parse, rule_type, split_table
from holdfast.rules.rule import Severity
from holdfast.rules.yaml_lines import Steps, read_yaml
from holdfast.visible import visible_json

# ---- the format -----------------------------------------------------------------------------------------------------

_LONGEST_NAME, _LONGEST_RULE, _SHOWN = 200, 10_000, 60
_PLAIN = re.compile(r"(?!(?:true|false|yes|no|on|off|null|nan|inf)$)[A-Za-z][\w-]*( -> [A-Za-z][\w-]*)?", re.IGNORECASE)
_Name = Annotated[str, StringConstraints(pattern=r"^\S(.*\S)?$", max_length=_LONGEST_NAME)]


class RuleModel(BaseModel):
    """One rule."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, title="Rule")

    name: _Name | None = Field(None, description="The name of the rule in results; default: dc1, fd1, key1, …")
    table: _Name | None = Field(None, description="The table of the rule; optional where there is only one.")
    rule: str = Field(
        pattern=r"\S",
        max_length=_LONGEST_RULE,
        description="The rule, such as not(t.Zip = s.Zip and t.City != s.City), Zip -> State, key(AreaCode, Phone), "
        "[Year, Salary] orders [Year, Bin], orders.cust in customers.id within 2 batches, t.Age between 0 and 120, "
        "avg(Price) <= 20, or rows_in_batch >= 20; each may end with a condition on rows: where t.State = 'NY'.",
    )
    severity: Severity = Field("error", description="Whether a violation is an error or a warning.")
    note: str = Field("", description="What the rule is for, in your own words.")


class FileModel(BaseModel):
    """Rules that Holdfast watches."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, title="Holdfast rules")

    rules: list[RuleModel] = Field(description="The rules.")
    ordered: list[str] | dict[str, list[str]] = Field(
        default_factory=list,
        description="Text columns whose order means something, so that <, <=, > and >= may compare them: "
        "one list for all tables, or a list for each table.",
    )


def schema_text() -> str:
    """The JSON Schema of rule files."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **FileModel.model_json_schema()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


# ---- the values -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RuleEntry(GivenRule):
    """A rule of a file; its text is canonical if its class can be given."""

    where: str = field(default="", compare=False, repr=False)  # "rules.yaml, line 3", for errors
    numbered: bool = field(default=False, compare=False, repr=False)  # the user gave it no name

    @property
    def place(self) -> str:
        """`rules.yaml, line 3: rule 'fair'`."""
        return f"{self.where}: rule {self.name!r}" if self.where else f"rule {self.name!r}"


@dataclass(frozen=True)
class Rules:
    """Rules in their order. `ordered` maps a table to its ordered text columns; "" means every table."""

    entries: tuple[RuleEntry, ...] = ()
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    where: str = field(default="", compare=False, repr=False)

    def with_others(self, others: Rules) -> Rules:
        """These rules and others that differ from them; a name that is taken gets a number."""
        taken = {entry.name for entry in self.entries}
        added = []
        for entry in others.entries:
            if (entry.table, entry.text) in {(mine.table or entry.table, mine.text) for mine in self.entries}:
                continue
            name = free_name(entry.name, taken, f"{entry.name}-")
            taken.add(name)
            added.append(replace(entry, name=name))
        return replace(self, entries=(*self.entries, *added))

    def __str__(self) -> str:
        """A rule file, from which `read_rules` makes equal rules."""
        lines = ["rules:" if self.entries else "rules: []"]
        lines += [rule_entry(each) for each in self.entries]
        ordered = {table: columns for table, columns in self.ordered.items() if columns}
        if "" in ordered:
            lines.append(f"ordered: {_list(ordered[''])}")
        elif ordered:
            lines += ["ordered:", *(f"  {_scalar(table)}: {_list(columns)}" for table, columns in ordered.items())]
        return "\n".join(lines) + "\n"

    def ordered_in(self, table: str) -> frozenset[str]:
        """The text columns of a table that are declared ordered."""
        return frozenset([*self.ordered.get("", ()), *self.ordered.get(table, ())])


# ---- in and out -----------------------------------------------------------------------------------------------------


def read_rules(path: str | Path) -> Rules:
    """The rules of a YAML or JSON file; an error names the file, the line and the rule."""
    marked = read_yaml(path)
    if marked.root is None:
        raise BadInput(f"{path}: the file is empty; start it with rules:")
    rules = _rules(marked.data, marked.place)
    if not rules.entries:
        raise BadInput(f"{marked.place(('rules',))}: there are no rules; write at least one under rules:")
    return rules


def rules_of(texts: Iterable[str]) -> Rules:
    """Rules from their texts, without names."""
    listed = [texts] if isinstance(texts, str) else list(texts)
    if not listed:
        raise BadInput("there are no rules; give at least one, such as Zip -> State")
    return _rules({"rules": [{"rule": text} for text in listed]}, lambda _: "rules")


def _rules(data: Any, place: Callable[[Steps], str]) -> Rules:
    try:
        model = FileModel.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"{place(first['loc'])}: {_label(data, first['loc'])}{_sentence(first)}") from None
    _refuse_same_names(model, place)
    names = _names(model)
    entries = [_entry(rule, name, i, place) for i, (rule, name) in enumerate(zip(model.rules, names, strict=True))]
    ordered = model.ordered if isinstance(model.ordered, dict) else {"": model.ordered}
    lists = {table: tuple(columns) for table, columns in ordered.items() if columns}
    return Rules(tuple(entries), lists, place(("ordered",)))


def _entry(rule: RuleModel, name: str, index: int, place: Callable[[Steps], str]) -> RuleEntry:
    where = place(("rules", index, "rule"))
    try:
        text, table = of_table(rule.rule.strip(), rule.table)
        found = rule_type(text)
        text = parse(text).text if found and found.given_as else text
    except BadInput as error:
        raise BadInput(f"{where}: rule {name!r}: {error}") from None
    return RuleEntry(name, table or "", text, rule.severity, rule.note, where=where, numbered=rule.name is None)


def _names(model: FileModel) -> list[str]:
    """The name of each rule: its own, or the next free one of dc1, dc2, … (fd1, key1, …)."""
    taken = {rule.name for rule in model.rules}
    free: dict[str, Iterator[str]] = {}
    names = []
    for rule in model.rules:
        found = rule_type(split_table(rule.rule)[1])
        prefix = found.prefix if found and found.given_as else "rule"
        numbered = free.setdefault(prefix, _numbered(prefix, taken))
        names.append(next(numbered) if rule.name is None else rule.name)
    return names


def free_name(name: str, taken: Container[str], prefix: str, first: int = 1) -> str:
    """A name; if it is taken, a prefix with the next free number: `fd2` for `fd1`."""
    return name if name not in taken else next(_numbered(prefix, taken, first))


def _numbered(prefix: str, taken: Container[str | None], first: int = 1) -> Iterator[str]:
    return (name for name in (f"{prefix}{number}" for number in itertools.count(first)) if name not in taken)


def _refuse_same_names(model: FileModel, place: Callable[[Steps], str]) -> None:
    met: dict[str | None, int] = {}
    for index, rule in enumerate(model.rules):
        if rule.name is not None and rule.name in met:
            where, first = place(("rules", index, "name")), place(("rules", met[rule.name], "name"))
            raise BadInput(f"{where}: rule {rule.name!r}: the name is taken ({first}); choose another")
        met[rule.name] = index


# ---- writing --------------------------------------------------------------------------------------------------------


def rule_entry(rule: GivenRule) -> str:
    """A rule in a rule file."""
    fields = {"name": rule.name, "table": rule.table, "rule": rule.text, "severity": rule.severity, "note": rule.note}
    return "  - " + "\n    ".join(f"{key}: {_scalar(value)}" for key, value in fields.items() if value)


def _list(columns: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_scalar, columns))}]"


def _scalar(text: str) -> str:
    """A text in YAML, on one line: plain words as they are, others as JSON, which is YAML, too."""
    return text if _PLAIN.fullmatch(text) else visible_json(json.dumps(text, ensure_ascii=False))


# ---- errors ---------------------------------------------------------------------------------------------------------


def _label(data: Any, steps: Steps) -> str:
    """`rule 'fair': ` for an error in a rule."""
    if len(steps) < 2 or steps[0] != "rules":
        return ""
    given = data["rules"][steps[1]]
    name = given.get("name") if isinstance(given, dict) else None
    return f"rule {_brief(name)}: " if isinstance(name, str) else f"rule {int(steps[1]) + 1}: "


def _sentence(error: ErrorDetails) -> str:
    kind, steps, given = error["type"], error["loc"], error["input"]
    key = str(steps[-1]) if steps else ""
    if not steps:
        return "expected keys and values; start the file with rules:"
    if kind == "extra_forbidden":
        known = RuleModel.model_fields if len(steps) > 1 else FileModel.model_fields
        return f"there is no key {_brief(key)}; {suggest(key, known)}"
    if key == "rule" and kind == "string_pattern_mismatch":
        return "the rule is empty; write one"
    if steps[0] == "ordered":
        return "ordered must be a list of column names, or such a list for each table; put names in quotes"
    most = error.get("ctx", {}).get("max_length")
    sentence = _SENTENCES.get(kind, f"{key}: {error['msg']}")
    return sentence.format(key=key, given=_brief(given), most=most) if kind in _SENTENCES else sentence


def _brief(given: Any) -> str:
    """A value in a few words: it may be huge, or aliases may blow it up."""
    if isinstance(given, list | tuple | set | dict):
        return "keys and values" if isinstance(given, dict) else "a list"
    shown = repr(given[:_SHOWN] if isinstance(given, str | bytes) else given)
    return shown if len(shown) <= _SHOWN + 2 else f"{shown[:_SHOWN]}…"


_SENTENCES = {
    "missing": "the key {key!r} is missing; add it",
    "list_type": "{key} must be a list; start each rule with a dash",
    "model_type": "expected keys and values, such as name: and rule:, not {given}",
    "string_type": "{key} must be text, not {given}; put it in quotes",
    "string_pattern_mismatch": "{key} must be one line that neither starts nor ends with a space, not {given}",
    "string_too_long": "{key} is longer than {most} characters; make it shorter",
    "literal_error": "{key} must be error or warn, not {given}",
}

if __name__ == "__main__":
    sys.stdout.write(schema_text())
