"""`python -m benchmarks.compare BASE NAME…`: is this version slower than that one?

Runs benchmarks on the commit BASE and on the project as it is now (or on another commit, with `--new`), by turns, each
version first every other round, so that what disturbs the machine disturbs both. A first run of each, which compiles
kernels and makes data, is not measured. Prints for each figure of each case the ratio new / old: the median over the
rounds, the least and the greatest. A figure is called slower or faster where all rounds agree and the median is more
than 2 % off. The seconds of a rival that is another library say how calm the machine was: no version changes them.

    make compare BASE=HEAD~3 NAMES="apply-cli named-batches" ROUNDS=5

Exit codes: 0 compared, 1 a benchmark failed, 2 wrong usage, 130 stopped by Ctrl-C.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.trees import ROOT, NotThere, environment_of, tree_of

FIGURES = {"ours": "s", "rival": "s", "peak_rss_mb": "MB"}
NOISE = 0.02


class Failed(Exception):
    """A benchmark did not run to its end, or gave a wrong answer."""


@dataclass
class Figure:
    """One figure of a case, as measured in each round on each side."""

    benchmark: str
    case: str
    what: str
    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """New / old, round by round."""
        return [new / old for old, new in zip(self.old, self.new, strict=False) if old]

    @property
    def verdict(self) -> str:
        """Whether it became worse or better: all rounds say so, and by more than noise."""
        if len(self.old) != len(self.new):
            return "only in one version"
        if not self.ratios:
            return ""
        middle = statistics.median(self.ratios)
        if min(self.ratios) > 1 and middle > 1 + NOISE:
            return "more" if self.what == "peak_rss_mb" else "slower"
        if max(self.ratios) < 1 and middle < 1 - NOISE:
            return "less" if self.what == "peak_rss_mb" else "faster"
        return ""


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Compare what the arguments ask for."""
    wish = _parse(arguments)
    try:
        old, new = tree_of(wish.base, root), tree_of(wish.new, root)
        Console(width=None if sys.stdout.isatty() else 150).print(
            table(measured(old, new, wish.names, wish.rounds, wish.quick))
        )
    except NotThere as error:
        _say(str(error))
        return 2
    except Failed as error:
        _say(str(error))
        return 1
    except KeyboardInterrupt:
        _say("Stopped.")
        return 130
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description="Compare two versions' speed.")
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("names", nargs="+", help="which benchmarks to run")
    parser.add_argument("--new", metavar="COMMIT", help="the newer commit; the project as it is now, if not given")
    parser.add_argument("--rounds", type=int, default=5, help="how often each version is measured (5)")
    parser.add_argument("--quick", action="store_true", help="small data, few repeats: does it work at all")
    return parser.parse_args(arguments)


def measured(old: Path, new: Path, names: Sequence[str], rounds: int, quick: bool) -> list[Figure]:
    """The figures of all cases, round by round."""
    figures: dict[tuple[str, str, str], Figure] = {}
    for name in names:
        for turn in range(rounds + 1):
            _say(
                f"{name}: " + (f"round {turn} of {rounds} …" if turn else "compiling, and a run that does not count …")
            )
            sides = [("old", old), ("new", new)]
            for side, tree in sides if turn % 2 else reversed(sides):
                for case, what, value in _figures(tree, name, quick):
                    if turn:
                        figure = figures.setdefault((name, case, what), Figure(name, case, what))
                        getattr(figure, side).append(value)
    return list(figures.values())


def _figures(tree: Path, name: str, quick: bool) -> Iterator[tuple[str, str, float]]:
    """Run a benchmark in a tree: each figure of each case."""
    for case in _outcome(tree, name, quick)["cases"]:
        yield from ((case["case"], what, case[what]) for what in FIGURES if case.get(what) is not None)


def _outcome(tree: Path, name: str, quick: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="holdfast-compare-") as folder:
        file = Path(folder, "outcome.json")
        command = [sys.executable, "-m", "benchmarks", name, "--json", str(file), *(["--quick"] if quick else [])]
        ran = subprocess.run(command, cwd=tree, env=environment_of(tree), capture_output=True, text=True)
        if ran.returncode:
            raise Failed(f"{ran.stderr[-2000:]}\n{name} failed in {tree}.")
        (outcome,) = json.loads(file.read_text(encoding="utf-8"))
        return dict(outcome)


def table(figures: Sequence[Figure]) -> Table:
    """The figures as a table for people."""
    shown = Table(title="new / old", title_justify="left")
    for heading in ("benchmark", "case", "figure"):
        shown.add_column(heading, overflow="fold")
    for heading in ("old", "new", "ratio", "least … most"):
        shown.add_column(heading, justify="right", overflow="fold")
    shown.add_column("verdict")
    for each in figures:
        ratios = each.ratios
        spread = (
            [f"{statistics.median(ratios):.3f}", f"{min(ratios):.3f} … {max(ratios):.3f}"] if ratios else ["-", "-"]
        )
        medians = [
            f"{statistics.median(side):.4g} {FIGURES[each.what]}" if side else "-" for side in (each.old, each.new)
        ]
        what = "peak RSS" if each.what == "peak_rss_mb" else each.what
        shown.add_row(*map(escape, [each.benchmark, each.case, what, *medians, *spread, each.verdict]))
    return shown


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
