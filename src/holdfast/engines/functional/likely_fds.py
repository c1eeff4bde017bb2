"""The likely dependencies of a table, exact and nearly exact: the best by score, left sides up to three columns.

A left side of several columns is a candidate only with a score above that of each of its parts with the same right
side, and of at least `LEAST_OF_SEVERAL`: a longer rule must say more than a shorter one. Left sides grow column by
column; what can't become a candidate is left out, by bounds that are certain:

- rows that share the left side only get fewer as it grows, so a left side with too few needs no look at right sides,
  nor do longer ones (`fd_score.most`);
- where many rows differ from most of their group, agreement is low: a look ends when these are too many (see
  `kernels.agreement`), and is not even taken where the right side has too many values for its few groups;
- a column that others of the left side determine, exactly, changes no group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from holdfast.borders.rows import CodedColumns
from holdfast.engines.chance import of_dependency
from holdfast.engines.functional.fd_score import most
from holdfast.engines.functional.group_counts import AgreementResult, CodedRows, LeftSide, Lhs, parts_of
from holdfast.engines.functional.left_sides import tests_apart
from holdfast.engines.functional.texts import is_long_text
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import LEAST_OF_SEVERAL, ROWS_TO_REMOVE, least
from holdfast.engines.watched import WatchedTable
from holdfast.progress import Progress, search_progress
from holdfast.rules.dependency import FD
from holdfast.rules.error_measures import g1, g3
from holdfast.table.runner import Runner
from holdfast.table.threads import SoFar, each
from holdfast.table.types import is_measured
from holdfast.text.quotes import quoted

MOST_SIDES = 10_000  # more left sides of a length are not looked at
MOST_LOOKS = 30_000_000_000  # at a value of a row for a left side; some ten seconds a core and ten billion
_ROUNDED = 1.0 - 1e-9  # bounds are this much lower, as sums of floating-point numbers are rounded

_Piece = tuple[Lhs, list[int]]  # a left side, and the columns that make it longer


def likely(subject: WatchedTable, wanted: Wanted, runner: Runner, progress: Progress) -> list[Scored]:  # noqa: ARG001
    """The dependencies with the highest scores, the best first."""
    search = _FDSearch(CodedRows(subject.table, codes=subject.part(CodedColumns)), progress)
    for columns in range(1, wanted.max_lhs + 1):
        search.look_at(columns)
    return search.scored(wanted.top)


@dataclass(frozen=True)
class _Candidate:
    """A dependency by its column numbers, the left side ascending."""

    lhs: Lhs
    rhs: int
    score: float
    result: AgreementResult

    @property
    def rank(self) -> tuple[float, int, Lhs, int]:
        """The best first; of equals the shorter, and then by their columns."""
        return -self.score, len(self.lhs), self.lhs, self.rhs


class _FDSearch:
    """What was found up to some columns on the left."""

    def __init__(self, coded: CodedRows, progress: Progress) -> None:
        self._coded, self._progress = coded, progress
        self._columns = len(coded.table.schema.columns)
        self._scores: dict[tuple[Lhs, int], float] = {}  # those of candidates
        self._found: list[_Candidate] = []
        self._grow: set[Lhs] = {()}  # left sides of which longer ones may be candidates
        self._unsure: dict[int, bool] = {}  # columns on the left
        self._determined: set[tuple[Lhs, int]] = set()  # left sides, and columns that they determine in all rows

    # ---- finding ----------------------------------------------------------------------------------------------------

    def look_at(self, columns: int) -> None:
        """Look at all left sides of `columns` columns."""
        pieces = self._within_reason(self._pieces(columns), columns)
        rules = f"likely dependencies with {columns} on the left"
        said = search_progress(self._progress, rules, "parts", len(pieces), None)
        self._grow = set()
        for found, grown, determined in each(pieces, self._of_piece, progress=said):
            self._found += found
            self._grow |= grown
            self._determined |= determined
        self._scores.update({(one.lhs, one.rhs): one.score for one in self._found if len(one.lhs) == columns})

    def _within_reason(self, pieces: list[_Piece], columns: int) -> list[_Piece]:
        """The same pieces; none, where they would take too long."""
        sides = sum(len(more) for _, more in pieces)
        if columns == 1 or (sides <= MOST_SIDES and sides * self._columns * self._coded.rows <= MOST_LOOKS):
            return pieces
        self._progress.note(
            f"Dependencies with {columns} or more columns on the left are not looked for, as there are {sides:,} such "
            "left sides in a table of this size. To have them looked for, name fewer columns."
        )
        return []

    def _pieces(self, columns: int) -> list[_Piece]:
        """Left sides, each with the columns that make it longer."""
        order = self._coded.in_order(self._coded.varying)  # what is constant splits no group
        place = {c: at for at, c in enumerate(order)}
        pieces: list[_Piece] = []
        for start in sorted(self._grow):
            behind = place[start[-1]] + 1 if start else 0
            more = [c for c in order[behind:] if self._may_grow((*start, c), columns)]
            pieces += [(start, more)] if start else [(start, [c]) for c in more]
        return sorted((piece for piece in pieces if piece[1]), key=lambda piece: -len(piece[1]))  # threads end together

    def _may_grow(self, columns: Lhs, size: int) -> bool:
        """Whether a left side may be a candidate, as far as its parts show."""
        return all(part in self._grow for part in combinations(columns, size - 1)) and not any(
            (part, c) in self._determined for part in parts_of(columns) for c in columns if c not in part
        )

    def _of_piece(self, piece: _Piece, so_far: SoFar) -> tuple[list[_Candidate], set[Lhs], set[tuple[Lhs, int]]]:
        start, more = piece
        found: list[_Candidate] = []
        grow: set[Lhs] = set()
        determined: set[tuple[Lhs, int]] = set()
        shorter = self._coded.side(start) if start else None
        for column in more:
            so_far(len(found))
            side = self._coded.longer(shorter, column) if shorter else self._coded.side((column,))
            size = len(side.columns)
            if most(side.tested, self._coded.rows, size + 1) >= LEAST_OF_SEVERAL:
                grow.add(side.columns)
            results = self._results(side)
            lhs = tuple(sorted(side.columns))
            determined |= {(lhs, rhs) for rhs, one in results if not (one.exceptions or self._coded.nulls[rhs])}
            found += self._candidates(side, results)
        return found, grow, determined

    def _results(self, side: LeftSide) -> list[tuple[int, AgreementResult]]:
        """The evidence for the right sides that may be worth it."""
        others = [c for c in self._coded.varying if c not in side.columns]  # what is constant earns nothing
        if len(side.columns) == 1:
            needs = dict.fromkeys(others, 0.0)
        else:
            needs = {c: max(LEAST_OF_SEVERAL, self._best_part(side.columns, c)) for c in others}
        bound = most(side.tested, self._coded.rows, len(side.columns))
        rhs = [c for c in others if needs[c] < bound]
        results = self._coded.results(side, rhs, [needs[c] / bound * _ROUNDED for c in rhs])
        return [(c, one) for c, one in zip(rhs, results, strict=True) if one is not None]

    def _candidates(self, side: LeftSide, results: Sequence[tuple[int, AgreementResult]]) -> Iterable[_Candidate]:
        size, lhs = len(side.columns), tuple(sorted(side.columns))
        for rhs, one in results:
            score = one.evidence.score(size)
            enough = score >= LEAST_OF_SEVERAL if size > 1 else score > 0.0
            if enough and score > self._best_part(side.columns, rhs):
                yield _Candidate(lhs, rhs, score, one)

    def _best_part(self, columns: Lhs, rhs: int) -> float:
        """The best score of a candidate with a part of the columns on the left. Others don't matter: they have less
        than one of their parts, or than what is needed at least.
        """
        return max((self._scores.get((part, rhs), 0.0) for part in parts_of(columns)), default=0.0)

    # ---- results ----------------------------------------------------------------------------------------------------

    def scored(self, top: int) -> list[Scored]:
        """The `top` best dependencies, with the rows to remove."""
        best = sorted(self._found, key=lambda one: one.rank)[:top]
        sides: dict[Lhs, list[_Candidate]] = {}
        for one in best:
            sides.setdefault(one.lhs, []).append(one)
        scored = each(list(sides.values()), self._of_side)
        made = dict(zip(chain(*sides.values()), chain(*scored), strict=True))
        return [made[one] for one in best]

    def _of_side(self, found: Sequence[_Candidate], so_far: SoFar) -> list[Scored]:
        """The dependencies of one left side."""
        so_far(0)
        side = self._coded.side(self._coded.in_order(found[0].lhs))
        results = self._coded.whole(side, [one.rhs for one in found], [one.result for one in found])
        return [self._one_scored(side, one, now) for one, now in zip(found, results, strict=True)]

    def _one_scored(self, side: LeftSide, found: _Candidate, result: AgreementResult) -> Scored:
        table, names = self._coded.table, self._coded.table.schema.names
        lhs, rhs = tuple(names[c] for c in found.lhs), names[found.rhs]
        gone, rows = result.evidence.outside, ()
        if gone and found.score >= least(len(found.lhs)):
            rows = tuple(self._coded.outside(side, found.rhs)[:ROWS_TO_REMOVE].tolist())
        error = g1(result.broken_pairs, table.rows)
        return Scored(
            FD(table.schema.name, lhs, rhs, error=error),
            table.schema.name, found.score, result.evidence.tested, sentence(lhs, rhs, result), gone,
            g3(gone, table.rows), rows, sure=not any(map(self._is_unsure, found.lhs)),
            chance=of_dependency(result.evidence.tested, gone, table.rows, len(lhs), tests_apart(self._coded, side)),
        )  # fmt: skip

    def _is_unsure(self, column: int) -> bool:
        """Whether two things may well have the same value by accident: a measure, or a long text."""
        if column not in self._unsure:
            table = self._coded.table
            self._unsure[column] = is_measured(table.schema.columns[column].type) or is_long_text(table, column)
        return self._unsure[column]


def sentence(lhs: Sequence[str], rhs: str, result: AgreementResult) -> str:
    """What a score is made of, in words. By chance a row with a usual value differs from others of its group as often
    as any two such rows differ; rows without one stay exceptions.
    """
    evidence, left, right = result.evidence, " and ".join(map(quoted, lhs)), quoted(rhs)
    if not result.exceptions:
        return f"all {evidence.tested:,} rows that share {left} with another have its {right}"
    by_chance = evidence.tested - round(evidence.usual * evidence.chance)
    return (
        f"{result.exceptions:,} of {evidence.tested:,} rows that share {left} with another have another {right}; by "
        f"chance {by_chance:,} would"
    )
