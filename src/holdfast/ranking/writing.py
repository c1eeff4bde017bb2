"""Rule files from suggestions: the told rules with names, severities and what speaks for each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, count

from holdfast.engines.registry import given_class
from holdfast.ranking.suggestion import Suggestion
from holdfast.rules.dependency import Key
from holdfast.rules.file import rule_entry
from holdfast.rules.given import GivenRule
from holdfast.visible import visible

HEADING = "# Rules that the data look as if they were meant"
_LONGEST = 60
_NOT_WORDS = re.compile(r"[^\w]+")


def given_rules(suggestions: Iterable[Suggestion]) -> list[GivenRule]:
    """Suggestions as rules that one gives: each has a name of its own, and as its note what spoke for it."""
    taken: set[str] = set()
    rules = []
    for each in suggestions:
        text = each.scored.as_given
        declared = given_class(text)
        if declared is None:  # nothing that rule files take
            continue
        name, table = _free_name(each, taken), "" if declared.across else each.table
        taken.add(name)
        note = f"{each.scored.sentence} (score {each.scored.score:.2f})"
        rules.append(GivenRule(name, table, text, each.severity, note))
    return rules


def rules_text(suggestions: Iterable[Suggestion]) -> str:
    """A rule file of suggestions, ready to be read, edited and given."""
    lines = [f"{HEADING}. Delete what is not, and watch the others:", "rules:"]
    for rule in given_rules(suggestions):
        lines += [f"  # {visible(rule.note)}", rule_entry(rule.name, rule.table, rule.text, rule.severity)]
    return "\n".join(lines) + "\n"


def _free_name(each: Suggestion, taken: set[str]) -> str:
    """`zip-city` for `Zip -> City`; with a number where that is taken."""
    words = ["key", *each.scored.columns] if isinstance(each.scored.rule, Key) else [each.text]
    plain = (_NOT_WORDS.sub("-", word).strip("-_").lower() for word in words)
    base = "-".join(filter(None, plain))[:_LONGEST].rstrip("-") or "rule"
    numbered = (f"{base}-{number}" for number in count(2))
    return next(name for name in chain([base], numbered) if name not in taken)
