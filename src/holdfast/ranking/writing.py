"""Rule files from suggestions: the told rules with names, severities and what speaks for each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import chain, count

from holdfast.engines.declared import GivenRule
from holdfast.engines.registry import given_class
from holdfast.ranking.suggestion import Suggestion
from holdfast.visible import visible, visible_json

_LONGEST = 60
_NOT_WORDS = re.compile(r"[^\w]+")
_PLAIN = re.compile(r"(?!(?:true|false|yes|no|on|off|null|nan|inf)$)[A-Za-z][\w-]*( -> [A-Za-z][\w-]*)?", re.IGNORECASE)


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
    lines = ["# Rules that the data look as if they were meant. Delete what is not, and watch the others:", "rules:"]
    for rule in given_rules(suggestions):
        lines += [f"  # {visible(rule.note)}", rule_entry(rule.name, rule.table, rule.text, rule.severity)]
    return "\n".join(lines) + "\n"


def rule_entry(name: str, table: str, text: str, severity: str) -> str:
    """A rule as it stands in a rule file; `table` may be empty where that is plain."""
    fields = {"name": name, **({"table": table} if table else {}), "rule": text, "severity": severity}
    return "\n".join(
        f"  {'- ' if place == 0 else '  '}{key}: {_scalar(value)}" for place, (key, value) in enumerate(fields.items())
    )


def _scalar(text: str) -> str:
    """A text as YAML writes it on one line: plain words as they are, others as JSON, which is YAML."""
    return text if _PLAIN.fullmatch(text) else visible_json(json.dumps(text, ensure_ascii=False))


def _free_name(each: Suggestion, taken: set[str]) -> str:
    """`zip-city` for `Zip -> City`; with a number where that is taken."""
    words = ["key", *each.scored.columns] if each.kind == "ucc" else [each.text]
    plain = (_NOT_WORDS.sub("-", word).strip("-_").lower() for word in words)
    base = "-".join(filter(None, plain))[:_LONGEST].rstrip("-") or "rule"
    numbered = (f"{base}-{number}" for number in count(2))
    return next(name for name in chain([base], numbered) if name not in taken)
