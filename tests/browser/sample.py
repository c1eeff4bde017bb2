"""Documents to look at: a small one in which everything occurs, and one of a million rules.

`python -m tests.browser.sample FOLDER` writes both as pages.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import combinations, islice
from pathlib import Path
from typing import Any

from holdfast.engines.registry import rule_class
from holdfast.report.bundle import html_page
from holdfast.report.diagram import Edge, tables
from holdfast.report.pictures import Span, bars, histogram, line, strip
from holdfast.text.quotes import quoted

Json = dict[str, Any]

ODD_TABLE = 'odd <b>"table"</b>'
EVIL = "<script>alert(1)</script>"
BATCHES = 12
HOLDS, VIOLATED, BROKE, IMPLIED, UNTESTED = range(5)

_COLUMNS = (
    *((0, name) for name in ("Id", "Zip", "City", "State", "Salary", "Rate", "Phone", "AreaCode", "Note")),
    *((1, name) for name in ("id", "cust", "amount", "placed on")),
    *((2, name) for name in ("id", 'full "name"', "<b>bold</b>")),
)
_NUMBERS = ("Salary", "Rate", "amount")


def sample(live: bool = False) -> Json:
    """A state of three tables after twelve batches."""
    rules = _Rules()
    _found(rules)
    _given(rules)
    references = rules.section("ind", "inclusion dependencies", "")
    references.add(f"{sign(10)} in {sign(13)}", 97, BROKE, _orphan())
    references.add(f"{sign(9)} in {sign(13)}", 12, HOLDS)
    batches = [_batch(seq) for seq in range(1, BATCHES + 1)]
    return {
        "title": "state/",
        "made": "2026-11-16T09:30:00+00:00",
        "version": "0.1.0",
        "live": live,
        "state": True,
        "redacted": False,
        "nulls": "equal",
        "notes": ["The column blob of tax can't be compared and is left out."],
        "overview": _overview(rules),
        "tables": _tables(),
        "columns": [_column(table, name) for table, name in _COLUMNS],
        "picture": tables(
            [("tax", ["Id"]), ("orders", ["id", "cust"]), (ODD_TABLE, ["id"])],
            [Edge("orders", ("cust",), ODD_TABLE, ("id",), 0.998, 12), Edge("orders", ("id",), "tax", ("Id",), 1.0, 0)],
            "three tables and two foreign keys",
        ),
        "references": [
            {
                "rule": rules.at[f"{sign(10)} in {sign(13)}"],
                "text": f"orders.cust in {quoted(ODD_TABLE)}.id",
                "from": "orders.cust",
                "to": f"{quoted(ODD_TABLE)}.id",
                "coverage": 0.998,
                "orphans": 12,
                "sentence": f"Every orders.cust is an id of {ODD_TABLE}, but for 12 rows.",
            }
        ],
        "batches": [_with_events(batch, rules) for batch in batches],
        "rules": rules.written(),
        "strips": _strips(),
    }


def sign(column: int) -> str:
    """A column as the texts of rules have it."""
    return chr(0xE000 + column)


class _Section:
    def __init__(self, rules: _Rules, about: Json) -> None:
        self._rules = rules
        self.about = about

    def add(self, text: str, score: int, state: int = HOLDS, detail: Json | None = None) -> None:
        rules = self._rules
        rules.at[text] = rules.at.get(text, len(rules.texts))
        if detail is not None:
            rules.details[str(len(rules.texts))] = detail
        rules.texts.append(text)
        rules.scores.append(score)
        rules.states.append(state)
        self.about["count"] += 1
        self.about["total"] += 1


class _Rules:
    """Rules as the document has them."""

    def __init__(self) -> None:
        self.sections: list[Json] = []
        self.texts: list[str] = []
        self.scores: list[int] = []
        self.states: list[int] = []
        self.details: Json = {}
        self.at: dict[str, int] = {}

    def section(self, kind: str, title: str, table: str, given: bool = False) -> _Section:
        about = {"kind": kind, "title": title, "table": table, "given": given}
        about |= {"lens": rule_class(kind).lens, "first": len(self.texts), "count": 0, "total": 0}
        self.sections.append(about)
        return _Section(self, about)

    def written(self) -> Json:
        return {
            "sections": self.sections,
            "texts": "\n".join(self.texts),
            "scores": self.scores,
            "states": self.states,
            "details": self.details,
            "left_out": "",
        }


def _given(rules: _Rules) -> None:
    named = rules.section("named", "dependencies that you gave", "tax", given=True)
    named.add(f"{sign(1)} -> {sign(2)}", 96, VIOLATED, _named("zip", 7, 3))
    named.add(f"key({sign(7)}, {sign(6)})", 88, HOLDS, _named("phone", None, 0) | {"since": 9, "broke": 1, "strip": 2})
    denials = rules.section("dc", "denial constraints", "tax", given=True)
    fair = f"not(t.{sign(3)} = s.{sign(3)} and t.{sign(4)} > s.{sign(4)} and t.{sign(5)} < s.{sign(5)})"
    denials.add(fair, -1, VIOLATED, _denial())
    denials.add(f"not(t.{sign(4)} < 0 and t.{sign(8)} = 'it''s Zip')", -1, HOLDS, {"name": "no debt", "since": 0})


def _found(rules: _Rules) -> None:
    dependencies = rules.section("fd", "functional dependencies", "tax")
    dependencies.add(f"{sign(1)} -> {sign(3)}", 98, HOLDS, _held())
    dependencies.add(f"{sign(6)}, {sign(7)} -> {sign(2)}", 91)
    dependencies.add(f"{sign(2)}, {sign(4)} -> {sign(3)}", 74, BROKE, _lost(7))
    dependencies.add(f"{sign(1)}, {sign(2)} -> {sign(3)}", 71, IMPLIED, {"implied_by": "Zip -> State", "strip": 4})
    for place, (one, other, third) in enumerate(combinations(range(8), 3)):
        dependencies.add(f"{sign(one)}, {sign(other)} -> {sign(third)}", max(2, 66 - place))
    keys = rules.section("ucc", "keys", "tax")
    keys.add(f"key({sign(0)})", 100)
    keys.add(f"key({sign(1)}, {sign(6)})", 62, UNTESTED, {"strip": 5})
    odd = rules.section("fd", "functional dependencies", ODD_TABLE)
    odd.add(f"{sign(14)} -> {sign(15)}", 55)
    orders = rules.section("od", "order dependencies", "tax")
    orders.add(f"{{{sign(3)}}}: {sign(4)} ~ {sign(5)}", 83)
    orders.add(f"{{}}: {sign(4)} ~ {sign(5)} desc", 9)


def _overview(rules: _Rules) -> Json:
    zip_city, fair = rules.at[f"{sign(1)} -> {sign(2)}"], next(at for text, at in rules.at.items() if "not(" in text)
    lost = rules.at[f"{sign(2)}, {sign(4)} -> {sign(3)}"]
    counts: dict[tuple[str, str, bool], list[int]] = {}
    for section in rules.sections:
        states = rules.states[section["first"] : section["first"] + section["count"]]
        found = counts.setdefault((section["kind"], section["title"], section["given"]), [0] * 5)
        for state in states:
            found[state] += 1
    return {
        "sentence": "2 of your 4 rules are violated. Batch 11 broke 2 rules.",
        "classes": [
            {"kind": kind, "title": title, "given": given, "holds": c[0] + c[3], "violated": c[1], "broke": c[2]}
            for (kind, title, given), c in counts.items()
        ],
        "broke": [fair, zip_city, lost, rules.at[f"{sign(10)} in {sign(13)}"]],
        "best": sorted(range(len(rules.texts)), key=lambda at: (rules.states[at] != HOLDS, -rules.scores[at]))[:8],
        "look_at": [
            _to_look_at(20017, "breaks zip and fair", [zip_city, fair], ["City", "Rate"]),
            _to_look_at(17, "breaks fair with 44 other rows", [fair], ["Salary", "Rate"]),
        ],
    }


def _to_look_at(row: int, why: str, broken: list[int], marked: list[str]) -> Json:
    columns = [name for table, name in _COLUMNS if table == 0]
    about = {"table": "tax", "row": row, "name": f"Id {row}", "why": why, "rules": broken}
    return {**about, "columns": columns, "values": _values(row, EVIL), "marked": marked}


def _values(row: int, note: str | None) -> list[str | None]:
    city, state = [("Montgomery", "AL"), ("Salem", "OR")][row % 2]
    return [str(row), "36104", city, state, f"{52_000 + row}", "4.1", "555-0133", "334", note]


def _pair(batch: int, one: int, other: int, sentence: str, rule_columns: list[str], marked: list[str]) -> Json:
    rows = [(one, True, EVIL), (other, batch != 3, None)]
    return {
        "batch": batch,
        "sentence": sentence,
        "columns": [name for table, name in _COLUMNS if table == 0],
        "rule_columns": rule_columns,
        "marked": marked,
        "rows": [
            {"row": row, "name": f"Id {row}", "alive": alive, "values": _values(row, note)} for row, alive, note in rows
        ],
    }


def _named(name: str, broke: int | None, violations: int) -> Json:
    both = "Both rows have Zip 36104, but City is Montgomery in one and Salem in the other."
    pairs = [] if broke is None else [_pair(batch, 17, 20018, both, ["Zip", "City"], ["City"]) for batch in (broke, 3)]
    counts = [(0, 0.0), (3, 1.0), (5, 0.0), (7, 2.0), (10, 3.0)]
    worklist = {
        "sentence": f"Remove these {violations} rows, and it holds.",
        "columns": ["Id", "Zip", "City"],
        "rows": [{"row": row, "name": f"Id {row}", "values": _values(row, None)[:3]} for row in (20018, 20021, 20030)],
        "more": 0,
    }
    return {
        "name": name,
        "severity": "error",
        "note": "the post office says so",
        "says": "Rows that share Zip share City.",
        "evidence": ["5,312 rows share their Zip with another row and could have broken it.", "All but 3 passed."],
        "violations": violations,
        "counted": "rows to remove",
        "g3": violations / 20_000,
        "strip": 3,
        "line": line(counts, "violations over time", last=BATCHES),
        "since": None,
        "pairs": pairs,
        "listed": True,
        **({"worklist": worklist} if violations else {}),
        "copy": {
            "text": "Zip -> City",
            "sql": 'SELECT "Zip" FROM "tax" GROUP BY "Zip" HAVING COUNT(DISTINCT "City") > 1',
            "rule": f'- {{name: {name}, rule: "Zip -> City"}}',
        },
    }


def _denial() -> Json:
    why = "Both rows have State AL; Id 17 has more Salary (90,000) than Id 44 (52,000), but less Rate (3.9)."
    pair = _pair(11, 17, 44, why, ["State", "Salary", "Rate"], ["Salary", "Rate"])
    return {
        "name": "fair",
        "severity": "warn",
        "says": "In one State nobody earns more and pays a lower Rate.",
        "violations": 1_044,
        "counted": "violations",
        "strip": 1,
        "line": line([(0, 0.0), (11, 1044.0)], "violations over time", last=BATCHES),
        "since": None,
        "broke": 1,
        "pairs": [pair],
        "listed": True,
        "copy": {"text": "not(…)", "sql": "SELECT 1", "rule": '- {name: fair, rule: "not(…)"}'},
    }


def _lost(batch: int) -> Json:
    why = "Both rows have City Salem and Salary 52,000, but State is OR in one and AL in the other."
    pair = _pair(batch, 19, 20020, why, ["City", "Salary", "State"], ["State"])
    return {"says": "Rows that share City and Salary share State.", "strip": 3, "pairs": [pair], "broke": 2}


def _held() -> Json:
    evidence = ["5,312 rows share their Zip with another row and could have broken it.", "None of them did."]
    return {"says": "Rows that share Zip share State.", "evidence": evidence, "support": 5312, "strip": 0, "since": 0}


def _orphan() -> Json:
    row = {"row": 812, "name": "id 812", "alive": True, "values": ["812", "10115", "9.50", "2026-01-31"]}
    pair = {
        "batch": 9,
        "sentence": f"No row of {ODD_TABLE} has id 10115.",
        "columns": ["id", "cust", "amount", "placed on"],
        "rule_columns": ["cust"],
        "marked": ["cust"],
        "rows": [row],
    }
    return {"says": "Every order has its customer.", "violations": 12, "counted": "rows", "strip": 2, "pairs": [pair]}


def _strips() -> list[str]:
    last = BATCHES
    rows: list[tuple[str, Sequence[Span]]] = [
        ("held after every batch", [Span(0, last, "held")]),
        ("broke with batch 11", [Span(0, 10, "held"), Span(11, last, "broken", "Id 17 and Id 44")]),
        ("broke with batch 4", [Span(0, 3, "held"), Span(4, 8, "broken", "Id 4 and Id 5"), Span(9, last, "held")]),
        (
            "broke twice, the last time with batch 7",
            [
                Span(0, 2, "held"),
                Span(3, 4, "broken", "Id 1 and Id 2"),
                Span(5, 6, "held"),
                Span(7, last, "broken", f"Id 17 and {EVIL}"),
            ],
        ),
        ("follows from another rule", [Span(0, 4, "held"), Span(5, last, "implied", "Zip -> State")]),
        ("not tested at the end", [Span(0, 1, "absent"), Span(2, 9, "held"), Span(10, last, "untested")]),
    ]
    return [strip(runs, label) for label, runs in rows]


def _batch(seq: int) -> Json:
    table = "orders" if seq == 9 else "tax"
    return {
        "seq": seq,
        "batch": seq,
        "id": f"2026-11-{seq:02}",
        "table": table,
        "at": f"2026-11-{seq:02}T08:15:30+00:00",
        "how": "a changelog" if seq % 3 else "inserts",
        "inserted": 10 * seq,
        "deleted": seq % 3,
        "ignored": int(seq == 4),
        "seconds": 0.012 * seq,
        "rows": 20_000 + 55 * seq,
    }


def _with_events(batch: Json, rules: _Rules) -> Json:
    zip_city, phone = rules.at[f"{sign(1)} -> {sign(2)}"], rules.at[f"key({sign(7)}, {sign(6)})"]
    lost, implied = rules.at[f"{sign(2)}, {sign(4)} -> {sign(3)}"], rules.at[f"{sign(1)}, {sign(2)} -> {sign(3)}"]
    fair = next(at for text, at in rules.at.items() if "not(" in text)
    orphan, untested = rules.at[f"{sign(10)} in {sign(13)}"], rules.at[f"key({sign(1)}, {sign(6)})"]
    events: dict[int, list[list[Any]]] = {
        2: [["gained", untested]],
        3: [["lost", zip_city], ["lost", lost]],
        4: [["lost", phone]],
        5: [["gained", zip_city], ["gained", lost], ["implied", implied, "Zip -> State"]],
        7: [["lost", zip_city], ["lost", lost]],
        9: [["gained", phone], ["lost", orphan]],
        10: [["worse", zip_city], ["untested", untested]],
        11: [["lost", fair]],
    }
    own = events.get(batch["seq"], [])
    names = ("lost", "worse", "gained", "implied", "untested")
    return {
        **batch,
        **{name: sum(event[0] == name for event in own) + (name == "implied" and batch["seq"] == 5) for name in names},
        "events": own,
        "more": int(batch["seq"] == 5),
    }


def _tables() -> list[Json]:
    names, rows = ("tax", "orders", ODD_TABLE), (20_660, 6_000, 812)
    over_time = [(seq, 20_000.0 + 55 * seq) for seq in range(BATCHES + 1)]
    return [
        {
            "name": name,
            "rows": rows[at],
            "key": ["Id"] if at == 0 else [],
            "left_out": ["blob"] if at == 0 else [],
            "columns": [place for place, (table, _) in enumerate(_COLUMNS) if table == at],
            "rows_line": line(over_time, f"rows of {name}", last=BATCHES) if at == 0 else "",
        }
        for at, name in enumerate(names)
    ]


def _column(table: int, name: str) -> Json:
    rows = (20_660, 6_000, 812)[table]
    nulls = 1_204 if name == "Note" else 0
    label = f"values of {name}"
    frequent = [("36104", 44), (EVIL, 12), ('a "quoted" text', 7)]
    drawn = (
        histogram([3, 40, 180, 420, 360, 120, 44, 9, 0, 1], "0.5", "99,000", nulls, label)
        if name in _NUMBERS
        else bars(frequent, rows - 63 - nulls, nulls, label)
    )
    return {
        "table": table,
        "name": name,
        **({"quoted": quoted(name)} if quoted(name) != name else {}),
        "type": "double" if name in _NUMBERS else "text",
        "nulls": nulls,
        "rows": rows,
        "distinct": 812,
        "min": "0.5" if name in _NUMBERS else "Aachen",
        "max": "99,000" if name in _NUMBERS else EVIL,
        "frequent": [[value, count] for value, count in frequent],
        "distribution": drawn,
        "nulls_line": line([(0, 1_000.0), (6, 1_204.0)], f"nulls of {name}", last=BATCHES) if nulls else "",
    }


def many(count: int = 1_000_000, columns: int = 109) -> Json:
    """The report of one wide table with the given number of dependencies."""
    document = sample()
    chosen = islice(combinations(map(sign, range(columns)), 4), count)
    texts = [f"{', '.join(left)} -> {right}" for *left, right in chosen]
    section: Json = {"kind": "fd", "title": "functional dependencies", "table": "tax", "given": False}
    scores = sorted((at * 7919 % 101 for at in range(count)), reverse=True)
    names = [f"column {at}" if at % 10 == 0 else f"Column{at}" for at in range(columns)]
    about = [
        {"table": 0, "name": name, "type": "text", "nulls": 0, "rows": 1000, "distinct": 17, "quoted": quoted(name)}
        for name in names
    ]
    holds = {
        "kind": "fd",
        "title": "functional dependencies",
        "given": False,
        "holds": count,
        "violated": 0,
        "broke": 0,
    }
    return document | {
        "title": "flight",
        "state": False,
        "overview": {
            "sentence": f"{count:,} rules hold.",
            "classes": [holds],
            "broke": [],
            "best": [0, 1, count - 1],
            "look_at": [],
        },
        "tables": [
            {"name": "tax", "rows": 1000, "key": [], "left_out": [], "columns": [*range(columns)], "rows_line": ""}
        ],
        "columns": about,
        "picture": "",
        "references": [],
        "batches": [],
        "strips": [],
        "rules": {
            "sections": [
                section | {"lens": rule_class(str(section["kind"])).lens, "first": 0, "count": count, "total": count}
            ],
            "texts": "\n".join(texts),
            "scores": scores,
            "states": [0] * count,
            "details": {},
            "left_out": "",
        },
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / "sample.html").write_text(html_page(sample()), encoding="utf-8")
    (folder / "many.html").write_text(html_page(many()), encoding="utf-8")
