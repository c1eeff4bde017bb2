"""The expected results for two tables, by the oracles: rules that hold, violations of given ones, and what breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from tests.engines.inclusion.several import texts_of
from tests.oracle import column, denial, functional, inclusion, list_order, order, pointwise
from tests.oracle import row as single

Row = tuple[Any, ...]
Tables = dict[str, list[Row]]
Rule = tuple[str, str]  # table (`*` for all of them) and text
Lines = Mapping[Rule, Mapping[str, Any]]
NAMES = {"t": ("id", "n", "s", "f", "y"), "u": ("id", "m", "s")}
ID, N, S, F, Y = range(5)

# Denial constraints of table t, as texts and as the oracle reads them.
DENIED: dict[str, list[denial.Predicate]] = {
    "not(t.n < 0)": [(("t", N), "<", ("constant", 0))],
    "not(t.n = 1 and t.y = true)": [(("t", N), "=", ("constant", 1)), (("t", Y), "=", ("constant", True))],
    "not(t.n > t.id)": [(("t", N), ">", ("t", ID))],
    "not(t.n = s.n and t.s != s.s)": [(("t", N), "=", ("s", N)), (("t", S), "!=", ("s", S))],
    "not(t.s = s.s and t.n > s.n)": [(("t", S), "=", ("s", S)), (("t", N), ">", ("s", N))],
    "not(t.n >= s.n and t.f < s.f)": [(("t", N), ">=", ("s", N)), (("t", F), "<", ("s", F))],
    "not(t.id = s.n and t.y != s.y)": [(("t", ID), "=", ("s", N)), (("t", Y), "!=", ("s", Y))],
    "not(t.f = s.n and t.y = true)": [(("t", F), "=", ("s", N)), (("t", Y), "=", ("constant", True))],
}
# Keys and FDs of table t: the left side, and the right side unless it is a key.
NAMED: dict[str, tuple[tuple[int, ...], int | None]] = {
    "n -> s": ((N,), S),
    "() -> y": ((), Y),
    "n, s -> f": ((N, S), F),
    "f -> n": ((F,), N),
    "y -> id": ((Y,), ID),
    "key(n)": ((N,), None),
    "key(s, y)": ((S, Y), None),
    "key(f)": ((F,), None),
}
# List order dependencies of table t: columns, and whether they are sorted downwards.
LISTED: dict[str, tuple[list_order.SortList, list_order.SortList]] = {
    "[n] orders [f]": ([(N, False)], [(F, False)]),
    "[s, n desc] orders [s, f desc]": ([(S, False), (N, True)], [(S, False), (F, True)]),
    "[] orders [y]": ([], [(Y, False)]),
    "[id] orders [n, s desc]": ([(ID, False)], [(N, False), (S, True)]),
}
# References from table t to table u: columns of both.
REFERENCED: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "t.n in u.m": ((N,), (1,)),
    "t.id in u.id": ((ID,), (0,)),
    "t.f in u.m": ((F,), (1,)),
    "t(id, s) in u(id, s)": ((ID, S), (0, 2)),
}
# Rules about one row of table t, and about the table: what is measured, and what it is compared with.
SINGLE: dict[str, Any] = {
    "t.n between 0 and 1": ("between", ("column", N), ("constant", 0), ("constant", 1)),
    "t.s is not null": ("not", ("null", ("column", S))),
    "t.s in ('', 'a') or t.y = true": (
        "or",
        [("in", ("column", S), ["", "a"]), ("compare", ("column", Y), "=", ("constant", True))],
    ),
    "t.id + t.n >= t.f": ("compare", ("+", ("column", ID), ("column", N)), ">=", ("column", F)),
    "t.f = t.n": ("compare", ("column", F), "=", ("column", N)),
}
MEASURED: dict[str, tuple[str, int | None, str, Any]] = {
    "rows >= 4": ("rows", None, ">=", 4),
    "share(null s) < 0.25": ("share", S, "<", Decimal("0.25")),
    "distinct(n) <= 2": ("distinct", N, "<=", 2),
    "min(n) >= 0": ("min", N, ">=", 0),
    "max(f) < 2": ("max", F, "<", 2),
}


class Expected:
    """The expected results for the tables at one moment; `by_id` are the rows of table t."""

    def __init__(
        self, tables: Tables, by_id: Mapping[int, Row], given: Sequence[str], nulls: str, settings: Mapping[str, Any]
    ) -> None:
        self._tables, self._by_id, self._nulls, self._settings = dict(tables), by_id, nulls, settings
        self.pairs = {text: denial.violations(by_id, DENIED[text]) for text in given if text in DENIED}
        self.pairs |= {text: {*list_order.violations(by_id, *LISTED[text])} for text in given if text in LISTED}
        self.pairs |= {
            text: {(row, -1) for row in inclusion.orphans(by_id, columns, tables["u"], of)}
            for text, (columns, of) in REFERENCED.items()
            if text in given
        }
        self.pairs |= {
            text: {(row, -1) for row in single.violators(by_id, SINGLE[text])} for text in given if text in SINGLE
        }
        self._to_remove = {
            text: functional.to_remove_by_group(tables["t"], *NAMED[text], nulls) for text in given if text in NAMED
        }
        self.violated = {text: len(pairs) for text, pairs in self.pairs.items()}
        self.violated |= {text: groups.total() for text, groups in self._to_remove.items()}
        self.violated |= {
            text: int(single.is_broken(tables["t"], *MEASURED[text])) for text in given if text in MEASURED
        }

    # ---- rules that are found ---------------------------------------------------------------------------------------

    @cached_property
    def _dependencies(self) -> dict[Rule, tuple[Sequence[int], int | None, float]]:
        """Minimal keys and FDs: left side, right side, and error."""
        found: dict[Rule, tuple[Sequence[int], int | None, float]] = {}
        for name, rows in self._tables.items():
            table = rows, len(NAMES[name]), self._nulls, str(self._settings["error"]), self._settings["max_lhs"]
            for (lhs, rhs), error in functional.fds(*table).items():
                found[name, f"{_listed(name, lhs) or '()'} -> {NAMES[name][rhs]}"] = lhs, rhs, error
            for key, error in functional.keys(*table).items():
                found[name, f"key({_listed(name, key)})"] = key, None, error
        return found

    def _has_order(self, column: str) -> bool:
        """Whether a column has an order: text has one only where the settings say so."""
        return column != "s" or bool(self._settings.get("ordered"))

    @cached_property
    def _orders(self) -> dict[Rule, tuple[Any, ...]]:
        """Minimal order dependencies: context, and column; or context, both columns, and direction."""
        found: dict[Rule, tuple[Any, ...]] = {}
        for name, rows in self._tables.items() if "max_level" in self._settings else ():
            table = rows, len(NAMES[name]), self._nulls, self._settings["max_level"]
            for context, a in order.constants(*table):
                text = f"{{{_listed(name, context)}}}: [] -> {NAMES[name][a]}"
                found[name, text] = context, a
            unordered = [c for c, column in enumerate(NAMES[name]) if not self._has_order(column)]
            for context, a, b, direction in order.pairs(*table, unordered=unordered):
                text = f"{{{_listed(name, context)}}}: {NAMES[name][a]} ~ {NAMES[name][b]}"
                found[name, text + (" desc" if direction == "desc" else "")] = context, a, b, direction
        return found

    @cached_property
    def _pointwise(self) -> dict[Rule, pointwise.Pod]:
        """Minimal pointwise order dependencies, vacuous ones if the settings say so."""
        found: dict[Rule, pointwise.Pod] = {}
        most = 3 if self._settings["max_lhs"] is None else self._settings["max_lhs"]
        for name, rows in self._tables.items() if "vacuous" in self._settings else ():
            table = _ordered_rows(rows), list(map(self._has_order, NAMES[name])), self._nulls, most
            for rule in pointwise.rules(*table) if len(rows) > 1 else ():
                left = [f"{column}{mark}" for column, mark in zip(NAMES[name], rule.left, strict=True) if mark]
                if self._is_listed(rule, *table[:3]):
                    found[name, f"{{{', '.join(left)}}} -> {NAMES[name][rule.column]}{rule.operator}"] = rule
        return found

    def _is_empty(self, rule: Rule) -> bool:
        """Whether nothing tests a key, an FD or an order."""
        needed = order.needed(self._orders[rule]) if rule in self._orders else self._dependencies[rule][0]
        return functional.is_empty(self._tables[rule[0]], needed, self._nulls)

    def _is_listed(self, rule: pointwise.Pod, rows: Sequence[Row], ordered: Sequence[bool], nulls: str) -> bool:
        """Whether enough pairs of rows test a rule, or it is vacuous and vacuous rules are listed too."""
        if rule.vacuous:
            return bool(self._settings["vacuous"])
        return pointwise.coverage(rows, ordered, nulls, rule.left) >= float(self._settings.get("min_coverage", 0.0))

    def _pointwise_holds(self, table: str, rule: pointwise.Pod) -> bool:
        ordered = list(map(self._has_order, NAMES[table]))
        pairs = pointwise.Pairs(_ordered_rows(self._tables[table]), ordered, self._nulls)
        return not pairs.meeting(rule.left) & pairs.breaking(rule.column, rule.operator)

    def _order_holds(self, table: str, rule: tuple[Any, ...]) -> bool:
        holds: Any = order.constant_holds if len(rule) == 2 else order.pair_holds
        return bool(holds(self._tables[table], *rule, self._nulls))

    @cached_property
    def _plain(self) -> inclusion.Tables:
        return {name: (list(NAMES[name]), rows) for name, rows in self._tables.items()}

    @property
    def _compare(self) -> inclusion.Compare:
        return "text" if self._settings["compare"] == "text" else "typed"

    @cached_property
    def _unary(self) -> dict[str, tuple[int, int, bool]]:
        """Inclusion dependencies of one column: the values and rows that are missing, and whether nothing tests it."""
        held = inclusion.columns(self._plain, self._compare)
        found = inclusion.unary(self._plain, self._compare, self._settings["error"])
        return {_text(pair): (*missing, not held[pair[0]]) for pair, missing in found.items()}

    @cached_property
    def _several(self) -> dict[str, tuple[inclusion.Pairs, bool]]:
        """Those of several columns: their pairs, and whether nothing tests it."""
        found = inclusion.several(self._plain, self._compare, self._settings["max_arity"], self._settings["error"])
        return {_text(pairs): (pairs, empty) for pairs, empty in found.items()}

    def check_rules(self, rules: Lines) -> None:
        """The rules are exactly those that hold, with the same figures."""
        orders = {rule: line for rule, line in rules.items() if line["kind"] == "od"}
        assert {rule: line.get("empty", False) for rule, line in orders.items()} == {
            rule: self._is_empty(rule) for rule in self._orders
        }
        assert {rule: line["vacuous"] for rule, line in rules.items() if line["kind"] == "pod"} == {
            rule: expected.vacuous for rule, expected in self._pointwise.items()
        }
        found = {rule: line for rule, line in rules.items() if line["kind"] in ("fd", "ucc")}
        assert {rule: (line.get("error", 0.0), line.get("empty", False)) for rule, line in found.items()} == {
            rule: (error, self._is_empty(rule)) for rule, (_, _, error) in self._dependencies.items()
        }
        lines = {text: line for (_, text), line in rules.items() if line["kind"] == "ind"}
        assert lines.keys() == {*self._unary, *self._several}
        for text, expected in self._unary.items():
            line = lines[text]
            assert (line["missing_values"], line["missing_rows"], line.get("empty", False)) == expected, text
        for text, (_, empty) in self._several.items():
            assert lines[text].get("empty", False) == empty, text

    def check_facts(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Rows, nulls and distinct values of each column."""
        for line in lines:
            place = NAMES[line["table"]].index(line["column"])
            rows, nulls, distinct, *_ = column.facts([row[place] for row in self._tables[line["table"]]])
            assert (line["rows"], line["nulls"], line["distinct"]) == (rows, nulls, distinct), line

    # ---- what a batch changed ---------------------------------------------------------------------------------------

    def lost_to(self, now: Expected) -> Iterator[Rule]:
        """The rules that something tested, and that don't hold any more."""
        for rule in self._dependencies.keys() - now._dependencies.keys():
            lhs, rhs, _ = self._dependencies[rule]
            if now._is_broken(rule[0], lhs, rhs) and not self._is_empty(rule):
                yield rule
        for rule in self._orders.keys() - now._orders.keys():
            if not now._order_holds(rule[0], self._orders[rule]) and not self._is_empty(rule):
                yield rule
        for rule in self._pointwise.keys() - now._pointwise.keys():
            if not now._pointwise_holds(rule[0], self._pointwise[rule]):
                yield rule
        yield from (("*", text) for text, (_, _, empty) in self._unary.items() if text not in now._unary and not empty)
        for text, (pairs, empty) in self._several.items():
            if not empty and not inclusion.all_parts_hold(now._plain, pairs, now._compare, self._settings["error"]):
                yield "*", text

    def _is_broken(self, table: str, lhs: Sequence[int], rhs: int | None) -> bool:
        """Whether more pairs of rows break an FD or a key than may."""
        rows = self._tables[table]
        agreeing = functional.agree_sets(rows, self._nulls)
        breaking = sum(n for agree, n in agreeing.items() if agree.issuperset(lhs) and rhs not in agree)
        return breaking > Fraction(str(self._settings["error"])) * (len(rows) * (len(rows) - 1) // 2)

    def moved_since(self, before: Expected, text: str, key: Sequence[int]) -> tuple[int, int]:
        """How many violations of a given rule are new, and how many are gone."""
        if text in NAMED:
            old, now = before._to_remove[text], self._to_remove[text]
            steps = [now[group] - old[group] for group in {*old, *now}]
            return sum(step for step in steps if step > 0), -sum(step for step in steps if step < 0)
        if text in MEASURED:
            step = self.violated[text] - before.violated[text]
            return max(step, 0), max(-step, 0)
        were, are = before._violators(text, key), self._violators(text, key)
        return len(are - were), len(were - are)

    def turned_since(self, before: Expected, key: Sequence[int]) -> dict[str, str]:
        """The given rules that broke, got worse or hold again, by text."""
        found = {}
        for text, are in self.violated.items():
            were = before.violated[text]
            if bool(were) != bool(are):
                found[text] = "lost" if are else "gained"
            elif are > were if self.was_counted(before, text) else self.moved_since(before, text, key)[0]:
                found[text] = "worse"
        return found

    def was_counted(self, before: Expected, text: str) -> bool:
        """Whether only the number of violations was kept, before the batch or after it."""
        limit = self._settings["pair_limit"]
        return not keeps_all(text) and limit is not None and max(before.violated[text], self.violated[text]) > limit

    def may_lack_rows(self, before: Expected, text: str) -> bool:
        """Whether a rule may have new violations without listed rows."""
        by_other_rows = text in MEASURED and MEASURED[text][0] not in ("min", "max")
        return by_other_rows or self.was_counted(before, text)

    def shows_new(self, before: Expected, text: str, rows: Sequence[int], key: Sequence[int]) -> bool:
        """Whether some rows show a violation that was not there before."""
        if text in MEASURED:
            return single.is_broken([self._by_id[row] for row in rows], *MEASURED[text])
        if text not in NAMED:
            pair = (rows[0], rows[1] if len(rows) > 1 else -1)
            return self.pairs[text] >= {pair} and bool(
                self._violators(text, key, {pair}) - before._violators(text, key)
            )
        (lhs, rhs), own = NAMED[text], [self._by_id[row] for row in rows]
        group = tuple(own[0][c] for c in lhs)
        agree = functional.agree_sets(own, self._nulls)
        breaks = any(same.issuperset(lhs) and rhs not in same for same in agree)
        return breaks and self._to_remove[text][group] > before._to_remove[text][group]

    def _violators(self, text: str, key: Sequence[int], some: set[tuple[int, int]] | None = None) -> set[Any]:
        """The violations, or some of them, by their rows: by the key, where there is one, and else by the id."""

        def name(row: int) -> Any:
            return row if row < 0 or not key else tuple(self._by_id[row][c] for c in key)

        pairs = [(name(t), name(s)) for t, s in (self.pairs[text] if some is None else some)]
        return (
            {frozenset(pair) for pair in pairs} if text in DENIED and denial.is_symmetric(DENIED[text]) else set(pairs)
        )


def keeps_all(text: str) -> bool:
    """Whether all violations of a rule are kept, whatever the limit is."""
    return any(text in known for known in (NAMED, REFERENCED, SINGLE, MEASURED))


def _ordered_rows(rows: Sequence[Row]) -> list[Row]:
    """Rows whose values Python orders as we do: NaN is the largest number."""
    return [tuple((v != v, 0.0 if v != v else v) if isinstance(v, float) else v for v in row) for row in rows]


def _listed(table: str, columns: Sequence[int]) -> str:
    return ", ".join(NAMES[table][c] for c in columns)


def _text(pair: Any) -> str:
    return next(iter(texts_of([pair])))
