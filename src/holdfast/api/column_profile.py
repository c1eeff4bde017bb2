"""The profile of a column: its facts and pictures, and all rules that name it, as a page shows them."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.engines.registry import rule_class
from holdfast.errors import BadInput, suggest
from holdfast.report.document.build import BUDGET
from holdfast.report.document.columns import FIRST
from holdfast.report.document.content import Content
from holdfast.report.document.context import Context
from holdfast.report.document.tables import column_of
from holdfast.results.column import ColumnProfile
from holdfast.results.redaction import ShownValues
from holdfast.rules.dependency import FD
from holdfast.text.quotes import quoted
from holdfast.visible import visible

_OWN, _DETERMINED, _DETERMINES, _BROKEN = "your rules", "determined by", "determines", "broken"


def column_profile(content: Content, table: str, name: str) -> ColumnProfile:
    """The profile of a column of a state."""
    of = Context(content, ShownValues(), BUDGET, None)
    own = {visible(each): place for place, each in enumerate(of.schemas[table].names)}
    if visible(name) not in own:
        raise BadInput(f"there is no column {name!r} in {table}; {suggest(name, own)}")
    about = column_of(of, table, own[visible(name)])
    sign = chr(FIRST + of.columns.places[table, of.schemas[table].names[own[visible(name)]]])
    found: dict[str, list[str]] = {_OWN: [], _DETERMINED: [], _DETERMINES: []}
    for kind, text in _rules_with(of, sign):
        found.setdefault(kind, []).append(text)
    found[_BROKEN] = found.pop(_BROKEN, [])  # the last
    drawn = ("distribution", "nulls_line")
    facts = {key: value for key, value in about.items() if key not in (*drawn, "name", "quoted")}
    pictures = tuple(about[key] for key in drawn if about.get(key))
    return ColumnProfile(table, name, facts, {kind: tuple(texts) for kind, texts in found.items() if texts}, pictures)


def _rules_with(of: Context, sign: str) -> Iterator[tuple[str, str]]:
    """The rules that name a column, each with its part in the profile; the texts are searched as they are stored."""
    rules = of.block.to_json({})
    texts = rules["texts"].split("\n")
    for section in rules["sections"]:
        for number in range(section["first"], section["first"] + section["count"]):
            if sign in texts[number]:
                if section["given"]:
                    kind = _OWN
                elif rules["states"][number] in (0, 3):  # it holds
                    kind = _group(section["kind"], texts[number], sign)
                else:
                    kind = _BROKEN
                yield kind, _written(of, texts[number], across=not section["table"])


def _group(kind: str, text: str, sign: str) -> str:
    if FD in rule_class(kind).rules:
        return _DETERMINED if text.rpartition(" -> ")[2] == sign else _DETERMINES
    return rule_class(kind).title


def _written(of: Context, text: str, across: bool) -> str:
    """A rule as people write it."""
    columns, names = list(of.columns.places), {}
    for sign in {each for each in text if 0 <= ord(each) - FIRST < len(columns)}:
        table, column = columns[ord(sign) - FIRST]
        names[ord(sign)] = (f"{quoted(visible(table))}." if across else "") + visible(quoted(column))
    return text.translate(names)
