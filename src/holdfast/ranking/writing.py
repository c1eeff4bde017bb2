"""Rule files from suggestions: the shown rules with names, severities and the evidence for each."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from holdfast.engines.registry import given_class
from holdfast.ranking.suggestion import Suggestion
from holdfast.rules.dependency import Key
from holdfast.rules.file import RuleEntry, free_name, rule_entry
from holdfast.rules.names import name_of
from holdfast.visible import visible

_THEN = "when suggested: "  # before the evidence, which new rows may change
HEADING = "# Rules that the data seem to follow"


def given_rules(suggestions: Iterable[Suggestion], as_exact: Container[Suggestion] = ()) -> list[RuleEntry]:
    """Suggestions as given rules: each with a name of its own, and the evidence for it as its note. Violations of exact
    rules are errors, and those of rules that are `as_exact`.
    """
    taken: set[str] = set()
    rules = []
    for each in suggestions:
        text = each.scored.as_given
        declared = given_class(text)
        if declared is None:  # a rule that can't be given
            continue
        base = _name(each, text)
        name, table = free_name(base, taken, f"{base}-", 2), "" if declared.across else each.table
        taken.add(name)
        note = f"{_THEN}{each.scored.sentence} (score {each.scored.score:.2f})"
        severity = "error" if each in as_exact else each.severity
        rules.append(RuleEntry(name, table, text, severity, note))
    return rules


def rules_text(suggestions: Iterable[Suggestion]) -> str:
    """A rule file of suggestions, to read, edit and give."""
    lines = [f"{HEADING}. Delete those that are not meant, and watch the others:", "rules:"]
    for rule in given_rules(suggestions):
        lines += [f"  # {visible(rule.note.removeprefix(_THEN))}", rule_entry(replace(rule, note=""))]
    return "\n".join(lines) + "\n"


def _name(each: Suggestion, text: str) -> str:
    """`zip-city` for `Zip -> City`, from the text as it is given."""
    return name_of(["key", *each.scored.columns] if isinstance(each.scored.rule, Key) else [text])
