"""Likely formats of text: what the distinct values of a column look like, as a regular expression.

Well-known formats come first: e-mail addresses, UUIDs, dates, times, web addresses. Then shapes: each text is read as
runs of digits, of capital and of small letters, and of other characters. If all texts have the same runs, these make
the format: `AA-9999`. Else all may be of one length, of digits and letters. Words are no format: a run of letters must
have one length, or be the same in all texts.

Runs of digits keep their length only where that is meant: some start with a zero, and the numbers are far from the end,
or do not grow. `C999` may be followed by `C1000`, so its digits are three or more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow.compute as pc

from holdfast.engines import chance
from holdfast.engines.row.seen import SeenColumn, evenly
from holdfast.rules.conditions import Matches, of_t
from holdfast.rules.regex import expression
from holdfast.rules.rule import listed
from holdfast.table import arrow

FEWEST = 30  # texts: fewer show no format
NEARLY = 0.01  # at most this share of the rows has another format
_SOME = 400  # texts that a format is made of; the others must have it
_MOST_RUNS = 14
_SHORTEST = 3  # characters of texts that have but their length in common
_DIGIT, _CAPITAL, _SMALL, _OTHER = "[0-9]", "[A-Z]", "[a-z]", ""
_SPECIAL = frozenset(r".^$*+?()[]{}|\\")
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_KNOWN = {
    "an e-mail address": r"[^@\s]+@[^@\s]+\.[^@\s]+",
    "a UUID": "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    "a date": _DATE,
    "a moment": rf"{_DATE}[ T][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]+)?)?(Z|[+-][0-9]{{2}}:?[0-9]{{2}})?",
    "a time": "[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?",
    "a web address": r"https?://\S+",
}


@dataclass(frozen=True)
class LikelyFormat:
    """A format, the distinct values and the rows that do not have it, and what speaks for it."""

    condition: Matches
    others: int
    broken: int
    chance: float
    sentence: str


def formats(column: SeenColumn) -> Iterator[LikelyFormat]:
    """The likely format of a column of texts, if it has one."""
    if not column.is_text or column.distinct < FEWEST:
        return
    some = column.values.take(arrow.from_numpy(evenly(column.distinct, _SOME))).to_pylist()
    for each in _proposed(some, column):
        condition = Matches(of_t(column.name), each.pattern)
        found = arrow.to_numpy(pc.match_substring_regex(column.values, expression(condition)))
        others = int(np.count_nonzero(~found))
        broken = int(column.counts[column.occurring][~found].sum())
        if broken <= NEARLY * column.filled:
            yield _likely(column, condition, others, broken, each)
            return


def _likely(column: SeenColumn, condition: Matches, others: int, broken: int, each: _Proposed) -> LikelyFormat:
    rows = int(column.counts.sum())
    if broken:
        estimate = chance.of_exceptions(broken, column.filled, column.filled / rows)
    else:
        estimate = chance.of_texts(column.distinct, each.varied, column.single, rows)
    how_many = (
        f"{column.distinct - others:,} of {column.distinct:,} values" if others else f"all {column.distinct:,} values"
    )
    return LikelyFormat(condition, others, broken, estimate, f"{how_many} are {each.called}")


@dataclass(frozen=True)
class _Proposed:
    """A pattern, what texts that match it are, and of how many letters this was read."""

    pattern: str
    called: str
    varied: int


def _proposed(texts: Sequence[str], column: SeenColumn) -> Iterator[_Proposed]:
    """Formats that nearly all of some texts have."""
    most = int((1 - 2 * NEARLY) * len(texts))
    for called, pattern in _KNOWN.items():
        whole = re.compile(pattern)
        if sum(whole.fullmatch(text) is not None for text in texts[:50]) >= 49 * min(len(texts), 50) // 50 and (
            sum(whole.fullmatch(text) is not None for text in texts) >= most
        ):
            yield _Proposed(pattern, f"like {called}", column.distinct)
            return
    if shape := _shape(texts, most, column):
        yield shape
    elif length := _one_length(texts, most):
        yield length


# ---- shapes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Run:
    """Characters of one class that follow each other."""

    kind: str
    text: str


def _kind(character: str) -> str:
    if "0" <= character <= "9":
        return _DIGIT
    if "A" <= character <= "Z":
        return _CAPITAL
    return _SMALL if "a" <= character <= "z" else _OTHER


def _runs(text: str) -> tuple[_Run, ...]:
    runs: list[_Run] = []
    for kind, characters in groupby(text, _kind):
        parts = "".join(characters)
        runs += [_Run(kind, parts)] if kind else [_Run(_OTHER, each) for each in parts]
    return tuple(runs)


def _shape(texts: Sequence[str], most: int, column: SeenColumn) -> _Proposed | None:
    """The shape that most of some texts have; None if they have none, or if it says nothing."""
    by_shape: dict[tuple[str, ...], list[tuple[_Run, ...]]] = {}
    for text in texts:
        runs = _runs(text)
        by_shape.setdefault(tuple(run.kind or run.text for run in runs), []).append(runs)
    shape, alike = max(by_shape.items(), key=lambda each: len(each[1]))
    if len(alike) < most or len(shape) > _MOST_RUNS or not any(kind == _DIGIT for kind in shape):
        return None
    parts, varied = [], column.distinct
    for place, kind in enumerate(shape):
        own = [runs[place].text for runs in alike]
        if not (part := _part(kind, own, column)):
            return None
        parts.append(part)
        different = len(set(own))
        if kind in (_CAPITAL, _SMALL) and different > 1:
            varied = min(varied, different)
    return _Proposed("".join(parts), "of one shape", varied)


def _part(kind: str, texts: Sequence[str], column: SeenColumn) -> str:
    """A run of a shape; empty where words stand there."""
    if kind not in (_DIGIT, _CAPITAL, _SMALL):
        return f"\\{kind}" if kind in _SPECIAL else kind
    lengths = {len(text) for text in texts}
    if len(lengths) == 1 and len(set(texts)) == 1:
        return texts[0]
    if kind != _DIGIT:
        return f"{kind}{{{lengths.pop()}}}" if len(lengths) == 1 else ""
    if len(lengths) > 1:
        return f"{kind}+"
    length = lengths.pop()
    return f"{kind}{{{length}}}" if _is_padded(texts, length, column) else f"{kind}{{{length},}}"


def _is_padded(texts: Sequence[str], length: int, column: SeenColumn) -> bool:
    """Whether digits have one length as zeros fill them up, and will not outgrow it."""
    if not any(text.startswith("0") for text in texts):
        return False
    numbers = [int(text) for text in texts]
    return max(numbers) * 10 < 10**length or not _rises(column)


def _rises(column: SeenColumn) -> bool:
    """Whether texts of later rows are greater than all of earlier rows."""
    values = column.texts_at(evenly(len(column.codes), _SOME)).drop_null().to_pylist()
    half = len(values) // 2
    return half > 0 and sum(each > max(values[:half]) for each in values[half:]) >= FEWEST


def _one_length(texts: Sequence[str], most: int) -> _Proposed | None:
    """Digits and letters of one length, as most of some texts are."""
    counts: dict[int, int] = {}
    for text in texts:
        counts[len(text)] = counts.get(len(text), 0) + 1
    length, count = max(counts.items(), key=lambda each: each[1])
    if count < most or length < _SHORTEST - 1:
        return None
    alike = [text for text in texts if len(text) == length]
    kinds = {_kind(character) for text in alike for character in text}
    if _OTHER in kinds or _SMALL in kinds or (length < _SHORTEST and kinds != {_CAPITAL}):
        return None
    characters = "".join(kind[1:-1] for kind in sorted(kinds))
    names = [{_DIGIT: "digits", _CAPITAL: "capitals"}[kind] for kind in sorted(kinds)]
    return _Proposed(f"[{characters}]{{{length}}}", f"{length} {listed(names)}", len(alike))
