"""The overview of a document: what a person should know within a minute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from holdfast.ranking.suggestion import Doubt
from holdfast.report.document.content import RuleContent
from holdfast.report.document.context import Context, Json
from holdfast.report.document.details import rule_of
from holdfast.report.document.rules import BROKE, HOLDS, VIOLATED
from holdfast.visible import counted, first_of, visible

_FIRST = 12  # rules
_LOOK_AT = 20  # rows


def overview(of: Context) -> Json:
    """A sentence, what holds by class, what broke, the best rules that hold, and the rows to look at."""
    rules = _by_worth(of)
    broken = sorted(
        (rule for rule in rules if rule.is_broken), key=lambda rule: (not rule.given, rule.mark != "pinned", rule.rank)
    )
    holding = [rule for rule in rules if rule.score and not rule.given and not rule.is_broken]
    return {
        "sentence": _sentence(of),
        "classes": _classes(of),
        "broke": _places(of, _each_fault_once(broken)),
        "best": _places(of, holding),
        "look_at": _look_at(of, broken),
    }


def _places(of: Context, rules: Sequence[RuleContent]) -> list[int]:
    found = [of.place(rule.key) for rule in rules[: 2 * _FIRST]]
    return [place for place in found if place is not None][:_FIRST]


def _by_worth(of: Context) -> list[RuleContent]:
    """Given rules first, then pinned ones, then by score. Without ignored rules, and without found ones that are given,
    too.
    """
    given = {(rule.table, rule.text) for rule in of.content.rules if rule.given}
    shown = [rule for rule in of.content.rules if rule.given or (rule.table, rule.text) not in given]
    return sorted(
        [rule for rule in shown if rule.mark != "ignored"],
        key=lambda rule: (
            not rule.given,
            rule.mark != "pinned",
            -(rule.score or 0.0),
        ),
    )


def _sentence(of: Context) -> str:
    content, parts = of.content, []
    if not content.is_state:
        return _look_sentence(_classes(of), len(content.doubts))
    given = [rule for rule in content.rules if rule.given]
    violated = sum(rule.is_broken for rule in given)
    if given:
        accepted = sum(bool(rule.finding.get("accepted")) for rule in given)
        parts.append(_given_sentence(len(given), violated, accepted))
    found = sum(len(section.result) for section in content.sections if not section.declared.given)
    if found:
        parts.append(f"{counted(found, 'found rule')} {'hold' if found > 1 else 'holds'}.")
    brought = [batch for batch in content.batches if not batch.is_change]
    if brought:
        lost = content.counts.get(brought[-1].seq, {}).get("lost", 0)
        broke = f"broke {counted(lost, 'rule')}" if lost else "broke nothing"
        parts.append(f"Batch {brought[-1].number:,}, the last, {broke}.")
    else:
        parts.append("No batch has come yet.")
    return " ".join(parts)


def _classes(of: Context) -> list[Json]:
    by_kind: dict[str, Json] = {}
    for section in of.content.sections:
        declared = section.declared
        states = Counter(line.state for line in section.lines)
        new = {"kind": declared.name, "title": section.title, "given": declared.given}
        one = by_kind.setdefault(declared.name, new | dict.fromkeys(("holds", "violated", "broke"), 0))
        one["holds"] += len(section.result) + states[HOLDS]
        one["violated"] += states[VIOLATED] if declared.given else 0
        one["broke"] += states[BROKE] + (0 if declared.given else states[VIOLATED])
    return list(by_kind.values())


def _look_at(of: Context, broken: Sequence[RuleContent]) -> list[Json]:
    """The living rows that break the most rules."""
    rules_of: dict[tuple[str, int], list[RuleContent]] = {}
    for rule in broken:
        for row in _faulty(of, rule):
            rules_of.setdefault((rule.table, row), []).append(rule)
    first = sorted(rules_of.items(), key=lambda each: (not any(rule.given for rule in each[1]), -len(each[1])))
    listed = [_row(of, table, row, rules) for (table, row), rules in first[:_LOOK_AT]]
    return [*listed, *(_doubt(of, each) for each in of.content.doubts)][:_LOOK_AT]


def _faulty(of: Context, rule: RuleContent) -> list[int]:
    """The living rows that break a rule: those to remove, or of two rows the newer one."""
    rows = rule.work[0] or [max(each.rows) for each in rule.broke if each.rows]
    return [row for row in dict.fromkeys(rows) if of.rows.lives(rule.table, row)]


def _row(of: Context, table: str, row: int, rules: Sequence[RuleContent]) -> Json:
    names = [
        of.name(rule.engine, rule.text, rule.finding.get("name", ""), table) or of.text(rule.engine, rule.text, table)
        for rule in rules
    ]
    places = [place for rule in rules[:3] if (place := of.place(rule.key)) is not None]
    looked_at = _looked_at(of, table, row, _marked(rules), f"breaks {first_of(names, 3)}", places)
    return looked_at | {"more": max(len(names) - 3, 0)}


def _doubt(of: Context, doubt: Doubt) -> Json:
    return _looked_at(of, doubt.table, doubt.row, [doubt.column], f"breaks {first_of(doubt.rules, 1)}", [])


def _looked_at(of: Context, table: str, row: int, marked: Sequence[str], why: str, places: list[int]) -> Json:
    side, shown = of.rows.side(table, row), of.shown.of_table(table)
    columns = list(dict.fromkeys([*marked, *of.rows.key(table), *of.schemas[table].names]))[:8]
    return {
        "table": table,
        "row": row,
        "name": shown.name(row, side.key, side.values, marked),
        "why": visible(why),
        "rules": places,
        "columns": columns,
        "values": [shown.cell(column, side.values.get(column)) for column in columns],
        "marked": [column for column in marked if column in columns],
    }


def _given_sentence(count: int, violated: int, accepted: int) -> str:
    if not violated:
        known = ", but for accepted violations" if accepted else ""
        return f"Your rule holds{known}." if count == 1 else f"All {count:,} of your rules hold{known}."
    if count == 1:
        return "Your rule is violated."
    if violated == count:
        return f"All {count:,} of your rules are violated."
    return f"{violated:,} of your {count:,} rules {'are' if violated > 1 else 'is'} violated."


def _look_sentence(classes: Sequence[Json], doubts: int) -> str:
    """What a single look found."""
    holds, nearly = (sum(each[kind] for each in classes) for kind in ("holds", "broke"))
    parts = [f"{counted(holds, 'rule')} {'hold' if holds != 1 else 'holds'} here."]
    parts += [f"{nearly:,} {'hold' if nearly != 1 else 'holds'} except for a few rows."] if nearly else []
    parts += [f"{counted(doubts, 'row')} {'look' if doubts != 1 else 'looks'} wrong."] if doubts else []
    return " ".join(parts)


def _each_fault_once(rules: Sequence[RuleContent]) -> list[RuleContent]:
    """Given rules, and one of the found rules that the same rows broke."""
    known: set[tuple[str, frozenset[int]]] = set()
    chosen = []
    for rule in rules:
        faults = {(rule.table, frozenset(each.rows)) for each in rule.broke}
        if rule.given or not faults or not faults <= known:
            chosen.append(rule)
        known |= faults
    return chosen


def _marked(rules: Sequence[RuleContent]) -> tuple[str, ...]:
    """The columns that may be at fault."""
    values = [rule_of(rule.engine, rule.text) for rule in rules[:3]]
    faults = [column for each in values if each for breach in each.breaches()[:1] for column in breach.faults]
    return tuple(dict.fromkeys(faults))
