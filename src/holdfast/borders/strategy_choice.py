"""Which of the two strategies finds the rules of a table: counting all pairs of rows, or borders.

The field calls borders hybrid discovery: sample, then validate.

Counting looks at every pair of rows once, and then knows all; it grows with the square of the rows, and hardly with the
number of rules. Borders look at the rows once for each of the contexts that come into question; they grow with the
rows, and with the number of rules, which on a wide table is beyond all bounds.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, get_args

from holdfast.errors import BadInput

Method = Literal["auto", "counts", "borders"]
HELP = "How: by counting all pairs of rows, or by borders (evidence and proof). By itself it picks by rows and columns."


@dataclass(frozen=True)
class Budget:
    """Up to how many pairs of rows counting is fast; and, in tables of at least `wide` columns, up to how many
    counting still is the better strategy.
    """

    pairs: int
    wide: int
    wide_pairs: int


AGREE_SETS = Budget(pairs=100_000_000, wide=40, wide_pairs=50_000_000_000)
APPROXIMATE = Budget(pairs=1_000_000_000, wide=40, wide_pairs=50_000_000_000)  # agree-sets, beside groups of rows
_NS_AN_AGREE_SET = 1.5  # to compare two rows and count it
_NS_A_COLUMN = 0.14  # the same in wide tables, where counts lie in a hash table, for each column
SIGNATURES = Budget(pairs=2_000_000, wide=64, wide_pairs=200_000_000)  # of order
MOST_PLAIN = 25  # columns up to which many pairs are counted in a plain table (see `pairs.counting`)
NARROW = 16  # columns up to which patterns of pairs are counted in a plain table
PATTERNS = Budget(pairs=1_500_000_000, wide=NARROW + 1, wide_pairs=1_500_000_000)
WIDE_PATTERNS = Budget(pairs=30_000_000, wide=NARROW + 1, wide_pairs=30_000_000)


@dataclass(frozen=True)
class StrategyChoice:
    """A strategy, and why it was chosen."""

    name: str
    why: str


def seconds_to_count(pairs: int, columns: int) -> float:
    """About how long it takes here to count the agree-sets of some pairs of rows."""
    one = max(_NS_AN_AGREE_SET, _NS_A_COLUMN * columns if columns > MOST_PLAIN else 0.0)
    return pairs * one / (os.cpu_count() or 1) / 1e9


def refuse_unknown(method: str) -> None:
    """Say so where a method is none."""
    if method not in get_args(Method):
        raise BadInput(f"there is no method {method!r}; choose from: {', '.join(get_args(Method))}")


def choose(method: Method, rows: int, columns: int, budget: Budget) -> StrategyChoice:
    """The requested strategy, or the one that fits a table."""
    pairs = rows * (rows - 1) // 2
    if method != "auto":
        return StrategyChoice(method, f"as --method {method} asks")
    if pairs <= budget.pairs:
        return StrategyChoice("counts", f"as {pairs:,} pairs of rows are few")
    if columns >= budget.wide and pairs <= budget.wide_pairs:
        return StrategyChoice("counts", f"as {columns:,} columns are many, and {pairs:,} pairs of rows can be counted")
    return StrategyChoice("borders", f"as {rows:,} rows make {pairs:,} pairs, too many to count them all")


def strategy_in_words(name: str, why: str) -> str:
    """A strategy as people read it."""
    how = {
        "counts": "by counting all pairs of rows",
        "borders": "by borders (evidence and proof)",
        "groups": "by counting groups of rows that agree",
        "removals": "by counting the rows that must go",
    }[name]
    return f"{how}, {why}" if why else how
