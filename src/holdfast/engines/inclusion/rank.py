"""Foreign keys worth proposing: dependencies ranked by what foreign keys have in common, each with its reasons.

Every reason is a number from 0 to 1 with a weight; the score is their weighted mean, times the share of rows that are
included. Numbers that happen to lie within others (sizes within keys) fulfil some; true foreign keys fulfil most. A
column that both sides share, as the tenant in `t(tenant, parent) in t(tenant, id)`, fulfils all criteria for a
reference but that the tables are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache, partial

import numpy as np
import pyarrow as pa

from holdfast.changes.diff import Worth
from holdfast.engines.inclusion import tuples, witness
from holdfast.engines.inclusion.state import Attribute, INDState
from holdfast.rules.inclusion import IND, Side, parse

WEIGHTS = {"key": 8.0, "names": 6.0, "covered": 2.0, "range": 2.0, "type": 1.0, "rows": 1.0, "other table": 1.0}
_ALL_WEIGHTS = sum(WEIGHTS.values())
WORTHY = 0.65
_ALIKE = 0.6
_ID_WORDS = {"id", "key", "code", "no", "nr", "num", "number", "sk", "pk", "fk", "ref"}
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


def ranked(state: INDState) -> list[IND]:
    """All dependencies that were found, the best first; empty columns and, last, several columns at the end."""
    return [state.found[ind.text] for ind in _ranked(state, _Profile(state))]


def with_scores(state: INDState) -> dict[str, IND]:
    """The same, those that are not empty with their scores."""
    profile = _Profile(state)
    rated = {ind.text: ind for ind in _several(state, profile)}
    found = (state.found[ind.text] if ind.empty else rated.get(ind.text, ind) for ind in _ranked(state, profile))
    return {ind.text: ind for ind in found}


def _ranked(state: INDState, profile: _Profile) -> list[IND]:
    rated = sorted(_single(state, profile), key=lambda ind: (ind.empty, -_score(ind), ind.text))
    return rated + [ind for ind in state.found.values() if ind.arity > 1]


def _single(state: INDState, profile: _Profile) -> list[IND]:
    found = [ind for ind in state.found.values() if ind.arity == 1]
    return [_rated(ind, [profile.reasons(*witness.bound(state, ind))]) for ind in found]


def proposals(state: INDState, least_key: float = 1.0) -> list[IND]:
    """The best dependencies, rated, those of several columns among them, empty ones not. A column speaks as a key where
    this share of its rows has distinct values, at least.
    """
    profile = _Profile(state, least_key)
    found = [ind for ind in _single(state, profile) if not ind.empty]
    return best_first(found + _several(state, profile))


def best_first(rated: Iterable[IND]) -> list[IND]:
    """Rated dependencies in the order of their scores."""
    return sorted(rated, key=lambda ind: (-_score(ind), ind.text))


def _score(rated: IND) -> float:
    assert rated.score is not None
    return rated.score


def _several(state: INDState, profile: _Profile) -> list[IND]:
    several = [ind for ind in state.found.values() if ind.arity > 1 and not ind.empty]
    return [_rated(ind, profile.reasons_of_parts(ind)) for ind in several]


def worth(state: INDState, lost: Iterable[str]) -> dict[str, Worth]:
    """What dependencies were worth that a batch broke, by text, as it left the tables otherwise."""
    profile = _Profile(state)
    return {
        text: Worth(_score(_rated(ind, profile.reasons_of_parts(ind))), carried(state, ind))
        for text, ind in ((text, parse(text)) for text in lost)
    }


def carried(state: INDState, ind: IND) -> int:
    """How many rows have a value that could have no partner."""
    attributes = witness.attributes(state, ind.dependent)
    if len(attributes) > 1:
        return len(tuples.full_rows(*state.place(attributes)))
    return int(state.clusters.rows[attributes[0].number, attributes[0].number])


def worthy(rated: Iterable[IND]) -> list[IND]:
    """The dependencies to draw: good ones, and for the same columns the best."""
    best: dict[Side, IND] = {}
    for ind in rated:
        if _score(ind) >= WORTHY and dict(ind.reasons)["key"] == 1:
            best.setdefault(ind.dependent, ind)
    return list(best.values())


def _rated(ind: IND, parts: list[dict[str, float]]) -> IND:
    """With the mean of the reasons over the columns; the referenced side is a key iff all columns together are."""
    reasons = {name: sum(part[name] for part in parts) / len(parts) for name in WEIGHTS}
    score = sum(WEIGHTS[name] * value for name, value in reasons.items()) / _ALL_WEIGHTS
    rounded = tuple((name, round(value, 4)) for name, value in reasons.items())
    return replace(ind, score=score * ind.row_coverage, reasons=rounded)


class _Profile:
    """What ranking needs to know of columns."""

    def __init__(self, state: INDState, least_key: float = 1.0) -> None:
        self._state, self._least_key = state, least_key
        self._distinct = state.clusters.values.diagonal()
        prefixed = {name: _share_a_word(table.schema.names) for name, table in state.tables.items()}
        self._names = {each.number: _words(each.name)[prefixed[each.table] :] for each in state.attributes}
        self._range = cache(partial(_range, state))

    def reasons(self, a: Attribute, b: Attribute) -> dict[str, float]:
        """Why column a might be a foreign key that refers to column b."""
        state = self._state
        if a.number == b.number:
            return {**dict.fromkeys(WEIGHTS, 1.0), "other table": 0.0}
        distinct, rows = int(self._distinct[b.number]), state.tables[b.table].rows
        return {
            "key": self._as_key(distinct, rows),
            "names": self._likeness(a, b),
            "covered": min(1.0, int(self._distinct[a.number]) / distinct) if distinct else 0.0,
            "range": self._span(a, b),
            "type": float(a.kept == b.kept and (pa.types.is_integer(a.kept) or pa.types.is_string(a.kept))),
            "rows": float(rows <= state.tables[a.table].rows),
            "other table": float(a.table != b.table),
        }

    def reasons_of_parts(self, ind: IND) -> list[dict[str, float]]:
        """The same for each pair of several columns, with the key that the columns are together. Where those that both
        sides share are a key alone, each row can only refer to itself, and no key speaks for that.
        """
        pairs = witness.compared(self._state, ind)
        table = self._state.tables[ind.referenced.table]
        shared = [b.column for a, b in pairs if a.number == b.number]
        key = tuples.are_distinct(table, [b.column for _, b in pairs])
        if key and shared:
            key = not tuples.are_distinct(table, shared)
        return [{**self.reasons(a, b), "key": float(key)} for a, b in pairs]

    def _as_key(self, distinct: int, rows: int) -> float:
        share = distinct / rows if rows else 0.0
        return share if share >= self._least_key else 0.0

    def _likeness(self, a: Attribute, b: Attribute) -> float:
        """How alike the names are: `l_partkey` and `p_partkey`, or `cust_id` and `customers.id`."""
        own, other, table = self._names[a.number], self._names[b.number], _singular(_words(b.table))
        likeness = max(_alike(own, other), _alike(own, table + other))
        if set(other) <= _ID_WORDS:
            likeness = max(likeness, _alike([word for word in own if word not in _ID_WORDS], table))
        return round(likeness, 4)

    def _span(self, a: Attribute, b: Attribute) -> float:
        """How much of the range of b's values a's values span; text has no such range and says half."""
        inner, outer = self._range(a), self._range(b)
        if inner is None or outer is None:
            return 0.5
        width = outer[1] - outer[0]
        return min(1.0, (inner[1] - inner[0]) / width) if width > 0 else 1.0


def _range(state: INDState, attribute: Attribute) -> tuple[float, float] | None:
    """The least and greatest living value, where values are numbers or the like."""
    dictionary = state.tables[attribute.table].dictionaries[attribute.column]
    if pa.types.is_floating(attribute.kept) or not all(isinstance(run.values, np.ndarray) for run in dictionary.runs):
        return None
    counts = state.counts(attribute).array
    scale = 10.0 ** (attribute.kept.scale if pa.types.is_decimal(attribute.kept) else 0)
    found = [run.values[counts[run.first : run.first + len(run)] > 0] for run in dictionary.runs]
    living = [part for part in found if len(part)]
    if not living:
        return None
    return min(int(p.min()) for p in living) / scale, max(int(p.max()) for p in living) / scale


def _share_a_word(columns: Sequence[str]) -> bool:
    """Whether all columns of a table have the same first word, which then says nothing, and others behind it."""
    names = [_words(name) for name in columns]
    return len(names) > 1 and all(words[:1] == names[0][:1] and len(words) > 1 for words in names)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def _singular(words: list[str]) -> list[str]:
    return [*words[:-1], words[-1].removesuffix("s")] if words else []


def _alike(some: list[str], others: list[str]) -> float:
    """1 for equal names, near it where one begins the other, else how much they have in common, if that is much."""
    a, b = "".join(some), "".join(others)
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    if min(len(a), len(b)) >= 3 and (a.startswith(b) or b.startswith(a)):
        return 0.9
    shared = sum(min(a.count(letter), b.count(letter)) for letter in set(a))
    if 2 * shared < _ALIKE * (len(a) + len(b)):  # the ratio is at most this, which takes a tenth of the time
        return 0.0
    ratio = SequenceMatcher(None, a, b, autojunk=False).ratio()
    return ratio * 0.8 if ratio >= _ALIKE else 0.0
