"""The document, written from what was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from holdfast import __version__
from holdfast.changes.names import quoted
from holdfast.engines.declared import is_given
from holdfast.engines.meaning import Partner
from holdfast.engines.registry import ALL_TABLES, rule_class
from holdfast.report.document.columns import ColumnIndex
from holdfast.report.document.details import Details, meaning_of, wanted_rows
from holdfast.report.document.fates import BROKEN, Fate
from holdfast.report.document.portraits import Portrait, portraits
from holdfast.report.document.rules import VIOLATED, RuleBlock, RuleName, Section
from holdfast.report.document.seen import Rows, RuleKey, RuleSeen, Seen
from holdfast.report.document.shown import Hashed, Shown, row_name
from holdfast.report.pictures import Edge, bars, histogram, line, strip, tables
from holdfast.table.naming import key_names
from holdfast.table.types import show_type
from holdfast.visible import visible

BUDGET = 2_400_000  # bytes of rules, deflated: with all else, and as text, the page stays below 5 MB
_FIRST = 12  # rules in the overview
_LOOK_AT = 20  # rows in it
_EVENTS, _EVENTS_A_BATCH = 20_000, 200

Json = dict[str, Any]


def document(
    seen: Seen, *, redact: bool = False, live: bool = False, budget: int = BUDGET, most: int | None = None
) -> Json:
    """All that a page shows; of the rules as many as fit the budget, or at most so many."""
    return _Document(seen, Hashed() if redact else Shown(), live, budget, most).to_json()


class _Document:
    """One document in the making."""

    def __init__(self, seen: Seen, shown: Shown, live: bool, budget: int, most: int | None) -> None:
        self._seen, self._shown, self._live = seen, shown, live
        self._schemas = {name: each.table.schema for name, each in seen.watched.items()}
        self._columns = ColumnIndex({name: schema.names for name, schema in self._schemas.items()})
        self._block = RuleBlock(self._sections(), self._columns, self._wanted(), budget, most)
        wanted = wanted_rows(seen.rules)
        for table, row, _, _ in seen.doubts:
            wanted.setdefault(table, set()).add(row)
        self._rows = Rows(seen.watched, wanted)
        self._strips: dict[tuple[object, ...], int] = {}
        self._drawn: list[str] = []
        self._strip(Fate("held"))

    def to_json(self) -> Json:
        """The whole."""
        seen = self._seen
        details = self._details()
        return {
            "title": visible(seen.title),
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "version": __version__,
            "live": self._live,
            "state": seen.is_state,
            "redacted": self._shown.redacted,
            "nulls": seen.nulls,
            "notes": [*map(visible, seen.notes), *filter(None, [self._block.left_out])],
            "overview": self._overview(),
            "tables": self._tables(),
            "columns": self._all_columns(),
            "picture": self._picture(),
            "references": self._references(),
            "batches": self._batches(),
            "rules": self._block.to_json(details),
            "strips": self._drawn,
        }

    def _sections(self) -> list[Section]:
        """The rules that there are; constants in them are values, too."""
        return [
            replace(
                section,
                lines=[replace(line, text=self._text(section.declared.name, line.text)) for line in section.lines],
            )
            for section in self._seen.sections
        ]

    def _wanted(self) -> set[RuleName]:
        """The rules that something else refers to."""
        keys = [rule.key for rule in self._seen.rules] + [event.rule for event in self._seen.events[:_EVENTS]]
        return {self._named(key) for key in [*keys, *map(_reference_key, self._seen.references)]}

    def _named(self, key: RuleKey) -> RuleName:
        engine, subject, text = key
        return engine, "" if rule_class(engine).across else subject, self._text(engine, text)

    def _place(self, key: RuleKey) -> int | None:
        return self._block.place(self._named(key))

    def _text(self, engine: str, text: str) -> str:
        """The text of a rule as the page has it."""
        meaning = meaning_of(engine, text) if self._shown.redacted else None
        return self._shown.rule(text, meaning) if meaning else text

    # ---- rules ------------------------------------------------------------------------------------------------------

    def _details(self) -> dict[int, Json]:
        writer = Details(self._schemas, self._rows, self._shown, self._seen.last, self._live)
        found: dict[int, Json] = {}
        for rule in self._seen.rules:
            place = self._place(rule.key)
            if place is not None:
                found[place] = writer.of(rule, lambda each: self._strip(each.fate))
        return found

    def _strip(self, fate: Fate | None) -> int:
        """The number of a strip; rules that fared alike share one."""
        runs = (fate or Fate("held")).runs(self._seen.last)
        shown = [run if not self._shown.redacted else type(run)(run.first, run.last, run.state) for run in runs]
        key = tuple((run.first, run.last, run.state, run.why) for run in shown)
        if key not in self._strips:
            self._strips[key] = len(self._drawn)
            self._drawn.append(strip(shown, "how the rule fared, batch by batch") if self._seen.batches else "")
        return self._strips[key]

    # ---- the overview -----------------------------------------------------------------------------------------------

    def _overview(self) -> Json:
        return {
            "sentence": self._sentence(),
            "classes": self._classes(),
            "broke": self._places([rule for rule in self._by_worth() if _is_broken(rule)]),
            "best": self._places(
                [
                    rule
                    for rule in self._by_worth()
                    if not _is_broken(rule) and not rule.given and rule.score is not None
                ]
            ),
            "look_at": self._look_at(),
        }

    def _places(self, rules: Sequence[RuleSeen]) -> list[int]:
        found = [self._place(rule.key) for rule in rules[: 2 * _FIRST]]
        return [place for place in found if place is not None][:_FIRST]

    def _by_worth(self) -> list[RuleSeen]:
        """Given rules first, errors before warnings, then by score; of equals what broke last."""
        return sorted(
            self._seen.rules,
            key=lambda rule: (
                not rule.given,
                rule.finding.get("severity") == "warn",
                -(rule.score or 0.0),
                -(rule.fate.since if rule.fate else 0),
            ),
        )

    def _sentence(self) -> str:
        seen, parts = self._seen, []
        given = [rule for rule in seen.rules if rule.given]
        violated = sum(bool(rule.finding["violations"]) for rule in given)
        if given:
            parts.append(_given_sentence(len(given), violated))
        found = sum(len(section.result) for section in seen.sections if not section.declared.given)
        if found:
            parts.append(
                f"{found:,} {'rules' if found > 1 else 'rule'} that were found {'hold' if found > 1 else 'holds'}."
            )
        if seen.batches:
            lost = seen.counts.get(seen.last, {}).get("lost", 0)
            broke = f"broke {lost:,} {'rules' if lost > 1 else 'rule'}" if lost else "broke nothing"
            parts.append(f"Batch {seen.last:,}, the last, {broke}.")
        elif seen.is_state:
            parts.append("No batch has come yet.")
        return " ".join(parts) or "Nothing is watched here but the facts of columns."

    def _classes(self) -> list[Json]:
        by_kind: dict[str, Json] = {}
        for section in self._seen.sections:
            declared = section.declared
            states = Counter(line.state for line in section.lines)
            one = by_kind.setdefault(
                declared.name,
                {"kind": declared.name, "title": section.title, "given": declared.given}
                | dict.fromkeys(("holds", "violated", "broke"), 0),
            )
            one["holds"] += len(section.result) + states[0]
            one["violated"] += states[VIOLATED]
            one["broke"] += states[2]
        return list(by_kind.values())

    def _look_at(self) -> list[Json]:
        """The rows that break the most rules, of those that live."""
        broken: dict[tuple[str, int], list[RuleSeen]] = {}
        for rule in self._by_worth():
            for row in self._faulty(rule):
                broken.setdefault((rule.table, row), []).append(rule)
        first = sorted(broken.items(), key=lambda each: (not any(rule.given for rule in each[1]), -len(each[1])))
        doubted = [(table, row, (column,), rules) for table, row, column, rules in self._seen.doubts]
        told = [(table, row, _marked(rules), rules) for (table, row), rules in first]
        listed = [self._row(table, row, marked, rules) for table, row, marked, rules in told[:_LOOK_AT]]
        listed += [self._doubt(table, row, marked, rules) for table, row, marked, rules in doubted]
        return listed[:_LOOK_AT]

    def _faulty(self, rule: RuleSeen) -> list[int]:
        """The living rows that break a rule, the newer of two."""
        if not _is_broken(rule):
            return []
        if rule.listing is not None and rule.listing.pairs is not None:
            rows = rule.listing.pairs[:_LOOK_AT, 0].tolist()
        else:
            rows = [max(told.rows) for told in rule.told if told.rows]
        return [row for row in dict.fromkeys(rows) if self._rows.lives(rule.table, row)]

    def _row(self, table: str, row: int, marked: Sequence[str], rules: Sequence[RuleSeen]) -> Json:
        names = [rule.finding.get("name") or self._text(rule.engine, rule.text) for rule in rules]
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        places = [place for rule in rules[:3] if (place := self._place(rule.key)) is not None]
        why = f"breaks {', '.join(names[:3])}{more}"
        return self._looked_at(table, row, marked, why, places) | {"more": max(len(names) - 3, 0)}

    def _doubt(self, table: str, row: int, marked: Sequence[str], rules: Sequence[str]) -> Json:
        more = f" and {len(rules) - 1:,} more" if len(rules) > 1 else ""
        return self._looked_at(table, row, marked, f"breaks {rules[0]}{more}", [])

    def _looked_at(self, table: str, row: int, marked: Sequence[str], why: str, places: list[int]) -> Json:
        values = self._rows.values(table, row)
        columns = list(dict.fromkeys([*marked, *self._rows.key(table), *self._schemas[table].names]))[:8]
        return {
            "table": table,
            "row": row,
            "name": row_name(self._shown, row, self._rows.key(table), values, marked),
            "why": visible(why),
            "rules": places,
            "columns": columns,
            "values": [self._shown.value(values.get(column)) for column in columns],
            "marked": [column for column in marked if column in columns],
        }

    # ---- tables and columns -----------------------------------------------------------------------------------------

    def _tables(self) -> list[Json]:
        over_time = _rows_over_time(self._seen)
        return [
            {
                "name": visible(name),
                "rows": each.table.rows,
                "key": key_names(each.table.schema),
                "left_out": list(map(visible, self._seen.left_out.get(name, ()))),
                "columns": [self._columns.places[name, column] for column in each.table.schema.names],
                "rows_line": line(over_time[name], f"rows of {name}", last=self._seen.last)
                if len(over_time[name]) > 1
                else "",
            }
            for name, each in self._seen.watched.items()
        ]

    def _all_columns(self) -> list[Json]:
        found = []
        for place, (name, watched) in enumerate(self._seen.watched.items()):
            for column, portrait in zip(watched.table.schema.columns, portraits(watched), strict=True):
                told = self._column(name, column.name, portrait)
                found.append({"table": place, "type": show_type(column.type), **told})
        return found

    def _column(self, table: str, name: str, portrait: Portrait) -> Json:
        show = self._shown.value
        frequent = [(show(value), count) for value, count in portrait.frequent]
        others = portrait.rows - portrait.nulls - sum(count for _, count in frequent)
        nulls = self._seen.nulls_over_time.get((table, name), ())
        label = f"values of {table}.{name}"
        if portrait.bins and not self._shown.redacted:
            drawn = histogram(portrait.bins, show(portrait.least), show(portrait.greatest), portrait.nulls, label)
        else:
            drawn = bars(frequent, others, portrait.nulls, label)
        as_written = quoted(name)
        return {
            "name": visible(name),
            **({"quoted": visible(as_written)} if as_written != name else {}),
            "rows": portrait.rows,
            "nulls": portrait.nulls,
            "distinct": portrait.distinct,
            "min": show(portrait.least) if portrait.distinct else "",
            "max": show(portrait.greatest) if portrait.distinct else "",
            "frequent": frequent,
            "distribution": drawn,
            "nulls_line": line(nulls, f"nulls of {table}.{name}", last=self._seen.last) if len(nulls) > 1 else "",
        }

    # ---- references -------------------------------------------------------------------------------------------------

    def _references(self) -> list[Json]:
        told = []
        for rule in self._seen.references:
            partner = _partner(rule)
            missing = rule.get("missing_rows", rule.get("violations", 0))
            coverage = rule.get("row_coverage", 1.0 - rule.get("g3", 0.0))
            from_, to = (
                _side(*side) for side in ((partner.table, partner.columns), (partner.other, partner.other_columns))
            )
            but = f", but for {missing:,} {'rows' if missing > 1 else 'row'}" if missing else ""
            place = self._place(_reference_key(rule))
            told.append(
                {
                    **({} if place is None else {"rule": place}),
                    "text": visible(rule["text"]),
                    "from": visible(from_),
                    "to": visible(to),
                    "coverage": coverage,
                    "orphans": missing,
                    "sentence": visible(f"Every {from_} is a {to}{but}."),
                }
            )
        return told

    def _picture(self) -> str:
        if not self._seen.references:
            return ""
        edges = []
        used: dict[str, dict[str, None]] = {name: dict.fromkeys(key_names(s)) for name, s in self._schemas.items()}
        for rule in self._seen.references:
            partner = _partner(rule)
            used[partner.table] |= dict.fromkeys(partner.columns)
            used[partner.other] |= dict.fromkeys(partner.other_columns)
            missing = rule.get("missing_rows", rule.get("violations", 0))
            coverage = rule.get("row_coverage", 1.0 - rule.get("g3", 0.0))
            edges.append(Edge(partner.table, partner.columns, partner.other, partner.other_columns, coverage, missing))
        return tables([(name, list(columns)) for name, columns in used.items()], edges, "tables and foreign keys")

    # ---- batches ----------------------------------------------------------------------------------------------------

    def _batches(self) -> list[Json]:
        seen = self._seen
        listed: dict[int, list[list[Any]]] = {}
        for event in seen.events[:_EVENTS]:
            own = listed.setdefault(event.seq, [])
            place = self._place(event.rule) if len(own) < _EVENTS_A_BATCH else None
            if place is not None:
                own.append([event.event, place, *([visible(event.by)] if event.by else [])])
        after = dict(_rows_after(seen))
        told = []
        for batch in seen.batches:
            counts = {kind: seen.counts.get(batch.seq, {}).get(kind, 0) for kind in _EVENT_KINDS}
            events = listed.get(batch.seq, [])
            told.append(
                {
                    "seq": batch.seq,
                    "id": visible(batch.batch_id),
                    "table": visible(batch.table),
                    "at": batch.at,
                    "how": batch.kind,
                    "inserted": batch.inserted,
                    "deleted": batch.deleted,
                    "ignored": batch.ignored,
                    "seconds": round(batch.seconds, 4),
                    "rows": after[batch.seq],
                    **counts,
                    "events": sorted(events, key=lambda each: _EVENT_KINDS.index(each[0])),
                    "more": sum(counts.values()) - len(events),
                }
            )
        return told


_EVENT_KINDS = ("lost", "worse", "gained", "implied", "untested")


def _given_sentence(count: int, violated: int) -> str:
    if not violated:
        return "Your rule holds." if count == 1 else f"All {count:,} of your rules hold."
    if count == 1:
        return "Your rule is violated."
    return f"{violated:,} of your {count:,} rules {'are' if violated > 1 else 'is'} violated."


def _is_broken(rule: RuleSeen) -> bool:
    if rule.given:
        return bool(rule.finding["violations"])
    return rule.fate is not None and rule.fate.state == BROKEN


def _marked(rules: Sequence[RuleSeen]) -> tuple[str, ...]:
    """The columns in which one looks for the fault."""
    meanings = [meaning_of(rule.engine, rule.text) for rule in rules[:3]]
    faults = [column for each in meanings if each for breach in each.breaches[:1] for column in breach.faults]
    partners = [column for each in meanings if each and each.partner for column in each.partner.columns]
    return tuple(dict.fromkeys([*faults, *partners]))


def _partner(rule: Mapping[str, Any]) -> Partner:
    own, other = rule["dependent"], rule["referenced"]
    return Partner(own[0], tuple(own[1:]), other[0], tuple(other[1:]))


def _reference_key(rule: Mapping[str, Any]) -> RuleKey:
    return "reference" if is_given(rule) else "ind", ALL_TABLES, rule["text"]


def _side(table: str, columns: Sequence[str]) -> str:
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table}({', '.join(columns)})"


def _rows_after(seen: Seen) -> list[tuple[int, int]]:
    """The rows of its table after each batch."""
    now = {name: each.table.rows for name, each in seen.watched.items()}
    told = []
    for batch in reversed(seen.batches):
        told.append((batch.seq, now[batch.table]))
        now[batch.table] += batch.deleted - batch.inserted
    return told[::-1]


def _rows_over_time(seen: Seen) -> dict[str, list[tuple[int, float | None]]]:
    """The rows of each table at the start, and after each of its batches."""
    points: dict[str, list[tuple[int, float | None]]] = {name: [] for name in seen.watched}
    for batch, (seq, rows) in zip(seen.batches, _rows_after(seen), strict=True):
        own = points[batch.table]
        if not own:
            own.append((0, rows + batch.deleted - batch.inserted))
        own.append((seq, rows))
    return points
