"""Rule files from suggestions: the shown rules with names, severities and the evidence for each."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from holdfast.engines.registry import given_class
from holdfast.ranking.expectation import Expectation
from holdfast.ranking.suggestion import Suggestion
from holdfast.rules.dependency import Key
from holdfast.rules.file import RuleEntry, free_name, rule_entry
from holdfast.rules.names import name_of
from holdfast.rules.rule import Severity
from holdfast.visible import visible

_THEN = "when suggested: "  # before the evidence, which new rows may change
HEADING = "# Rules that the data seem to follow"


def given_rules(
    suggestions: Sequence[Suggestion], expectation: Expectation | None = None, as_exact: Container[Suggestion] = ()
) -> list[RuleEntry]:
    """Suggestions as given rules: each with a name of its own, and the evidence for it as its note. Violations of exact
    rules are errors, as many as the alarm budget allows, and those of rules that are `as_exact`.
    """
    taken: set[str] = set()
    rules = []
    errors = [each.severity == "error" for each in suggestions]
    breaks = [each.expected_breaks if error else None for each, error in zip(suggestions, errors, strict=True)]
    allowed = (expectation or Expectation()).errors(breaks)
    for each, error, is_allowed in zip(suggestions, errors, allowed, strict=True):
        text = each.scored.as_given
        declared = given_class(text)
        if declared is None:  # a rule that can't be given
            continue
        base = _name(each, text)
        name, table = free_name(base, taken, f"{base}-", 2), "" if declared.across else each.table
        taken.add(name)
        evidence = "; ".join(filter(None, [each.scored.sentence, each.chance]))
        note = f"{_THEN}{evidence} (score {each.scored.score:.2f})"
        severity: Severity = "error" if (error and is_allowed) or each in as_exact else "warn"
        rules.append(RuleEntry(name, table, text, severity, note))
    return rules


def was_suggested(note: str) -> bool:
    """Whether a note is the evidence for a suggestion."""
    return note.startswith(_THEN)


def rules_text(suggestions: Sequence[Suggestion], expectation: Expectation | None = None) -> str:
    """A rule file of suggestions, to read, edit and give."""
    lines = [f"{HEADING}. Delete those that are not meant, and watch the others:", "rules:"]
    for rule in given_rules(suggestions, expectation):
        lines += [f"  # {visible(rule.note.removeprefix(_THEN))}", rule_entry(replace(rule, note=""))]
    return "\n".join(lines) + "\n"


def _name(each: Suggestion, text: str) -> str:
    """`zip-city` for `Zip -> City`, from the text as it is given."""
    return name_of(["key", *each.scored.columns] if isinstance(each.scored.rule, Key) else [text])
