"""Rules as a rule file writes them."""

from __future__ import annotations

import json
import re

from holdfast.rules.file import Rules
from holdfast.visible import visible_json

_PLAIN = re.compile(r"(?!(?:true|false|yes|no|on|off|null|nan|inf)$)[A-Za-z][\w-]*( -> [A-Za-z][\w-]*)?", re.IGNORECASE)


def rules_yaml(rules: Rules) -> str:
    """A rule file that `read_rules` reads back as these rules."""
    lines = ["rules:" if rules.entries else "rules: []"]
    lines += [rule_entry(each.name, each.table, each.text, each.severity, each.note) for each in rules.entries]
    ordered = {table: columns for table, columns in rules.ordered.items() if columns}
    if "" in ordered:
        lines.append(f"ordered: {_list(ordered[''])}")
    elif ordered:
        lines += ["ordered:", *(f"  {_scalar(table)}: {_list(columns)}" for table, columns in ordered.items())]
    return "\n".join(lines) + "\n"


def rule_entry(name: str, table: str, text: str, severity: str, note: str = "") -> str:
    """A rule as it stands in a rule file; `table` may be empty where that is plain."""
    fields = {"name": name, **({"table": table} if table else {}), "rule": text, "severity": severity}
    fields |= {"note": note} if note else {}
    return "\n".join(
        f"  {'- ' if place == 0 else '  '}{key}: {_scalar(value)}" for place, (key, value) in enumerate(fields.items())
    )


def _list(columns: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_scalar, columns))}]"


def _scalar(text: str) -> str:
    """A text as YAML writes it on one line: plain words as they are, others as JSON, which is YAML."""
    return text if _PLAIN.fullmatch(text) else visible_json(json.dumps(text, ensure_ascii=False))
