"""`python -m benchmarks.same BASE [DATA…]`: does this version say the same as that one?

For changes that must change nothing. Runs `discover`, `check`, `init`, `apply`, `status`, `violations`, `explain` and
`history` with `--format json` on the data sets in `../shared/data`, for all classes of rules and both meanings of null,
on the commit BASE and on the project as it is now (or on another commit, with `--new`). What they print is compared as
objects, line by line in the order in which they are printed; the order of keys is free, and times, durations and the
folder are set aside, and so are the fields that `--aside` names: those that a change was meant to change. Prints the
first differences.

    make same BASE=HEAD~3
    make same BASE=HEAD~3 NAMES="iris tax_10k"
    make same BASE=HEAD~3 ASIDE="reason sentence"

Each data set is cut to its first rows and columns. Each version answers in one process of its own, both at once.
Exit codes: 0 the same, 1 different, 2 wrong usage or nothing to compare, 130 stopped by Ctrl-C.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.data import SHARED
from benchmarks.trees import ROOT, NotThere, environment_of, tree_of

ROWS, COLUMNS, QUICK_ROWS, QUICK_COLUMNS = 1_000, 10, 40, 4
SHOWN = 20  # differences
TIMES = {"at", "seconds"}
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?\+00:00")
_MISSING = object()


@dataclass(frozen=True)
class Said:
    """What a command did: its exit code, and its lines as objects; one that failed has its sentence as its line."""

    code: int
    lines: tuple[Any, ...]


class Version:
    """A version of Holdfast that answers commands in a process of its own, whose folder is `folder`."""

    def __init__(self, tree: Path, folder: Path, aside: Collection[str] = ()) -> None:
        folder.mkdir()
        child = [sys.executable, "-P", str(Path(__file__).with_name("answering.py"))]
        self._process = subprocess.Popen(
            child, cwd=folder, env=environment_of(tree), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._folder, self._aside = str(folder), TIMES | {*aside}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._process:  # closes its pipes and waits
            self._process.kill()

    def ask(self, words: Sequence[str]) -> None:
        """Begin a command."""
        assert self._process.stdin is not None
        print(json.dumps(list(words)), file=self._process.stdin, flush=True)

    def said(self) -> Said:
        """What the command that was begun did."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a version ended in the middle of a command; see what it said above")
        answer = json.loads(line)
        if answer["code"] not in (0, 1):
            return Said(answer["code"], (answer["err"].replace(self._folder, "…").splitlines()[-1:],))
        lines = answer["out"].replace(self._folder, "…").splitlines()
        return Said(answer["code"], tuple(timeless(json.loads(each), self._aside) for each in lines))


def timeless(value: Any, aside: Collection[str] = TIMES) -> Any:
    """The same without times, when something was done and how long it took, and without the fields `aside`."""
    if isinstance(value, dict):
        return {key: timeless(each, aside) for key, each in value.items() if key not in aside}
    if isinstance(value, list):
        return [timeless(each, aside) for each in value]
    return _TIME.sub("(time)", value) if isinstance(value, str) else value


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Where two values differ, a line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from differences(old.get(key, _MISSING), new.get(key, _MISSING), f"{place}.{key}")
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple):
        for number, pair in enumerate(zip_longest(old, new, fillvalue=_MISSING)):
            yield from differences(*pair, f"{place}[{number}]")
    elif type(old) is not type(new) or (old != new and not (old != old and new != new)):  # NaN is itself here
        yield f"{place}: {_shown(old)} -> {_shown(new)}"


def _shown(value: Any) -> str:
    text = "nothing" if value is _MISSING else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]} …"


# ---- the data and the commands ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """Some rows and columns of a data set in three files: a start, rows that come later, and rows that go again."""

    name: str
    columns: tuple[str, ...]
    start: Path
    more: Path
    gone: Path

    @staticmethod
    def of(source: Path, folder: Path, rows: int, columns: int) -> "Cut":
        """Cut a data set."""
        with source.open(encoding="utf-8", newline="") as file:
            header, *records = (record[:columns] for record in islice(csv.reader(file), rows + 1))
        first = max(1, len(records) * 3 // 4)
        parts = {"start": records[:first], "more": records[first:], "gone": records[:first:7]}
        for part, chosen in parts.items():
            with (folder / f"{source.stem}-{part}.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([header, *chosen])
        return Cut(source.stem, tuple(header), *(folder / f"{source.stem}-{part}.csv" for part in parts))

    def rules(self) -> list[str]:
        """Rules of all classes about some of the columns; not all of them fit the types."""
        a, b, c = self.columns[0], self.columns[len(self.columns) // 2], self.columns[-1]
        return [
            *(f"{a} -> {b}", f"{b}, {c} -> {a}", f"key({a})", f"key({b}, {c})"),
            *(f"not(t.{b} = s.{b} and t.{c} != s.{c})", f"not(t.{a} < s.{a} and t.{b} > s.{b} and t.{c} >= s.{c})"),
            *(f"[{a}] orders [{b}]", f"[{c}, {b} desc] orders [{a}]"),
            *(f"t.{a} in t.{b}", f"t.{b} in t.{c}", f"t.{b} is not null", f"t.{a} <= t.{b} or t.{c} is null"),
            *("rows >= 50", f"share(null {b}) <= 0.01", f"distinct({c}) >= 10"),
        ]


FOUND = ("column", "ucc", "fd", "ind", "od", "pod")
BOUNDS = {"ucc": ("--max-lhs", "3"), "fd": ("--max-lhs", "3"), "od": ("--max-level", "2"), "pod": ("--max-lhs", "2")}
ALSO = (
    ("--rules", "ucc,fd", "--max-lhs", "2", "--error", "0.01"),
    ("--rules", "ucc,fd", "--max-lhs", "2", "--method", "borders"),
    ("--rules", "ind", "--max-arity", "2", "--error", "0.05"),
    ("--rules", "ind", "--compare", "text"),
    ("--rules", "od", "--max-level", "1", "--error", "0.02"),
    ("--rules", "pod", "--max-lhs", "1", "--vacuous"),
)


class Comparison:
    """Asks two versions the same, and keeps where their answers differ."""

    def __init__(self, old: Version, new: Version) -> None:
        self._old, self._new = old, new
        self.commands = self.lines = self.refused = 0
        self.found: list[str] = []

    def ask(self, *words: str) -> Said:
        """Run a command on both; gives what the old version said."""
        for version in (self._old, self._new):
            version.ask(words)
        old, new = self._old.said(), self._new.said()
        self.commands += 1
        self.lines += len(old.lines)
        self.refused += old.code not in (0, 1)
        if old != new:
            where = f"holdfast {' '.join(words)}"
            codes = differences(old.code, new.code, " exit code")
            self.found += [f"{where}\n    {each}" for each in (*codes, *differences(old.lines, new.lines, " line"))]
        return old

    def about(self, cut: Cut, nulls: str) -> None:
        """All commands on one data set."""
        how = ("--nulls", nulls, "--format", "json")
        self.ask("discover", f"t={cut.start}", *how)
        for options in (*(("--rules", name, *BOUNDS.get(name, ())) for name in FOUND), *ALSO):
            self.ask("discover", f"t={cut.start}", *options, *how)
        fitting = []
        for rule in cut.rules():
            checked = self.ask("check", f"t={cut.start}", "--rule", rule, "--rows", "--limit", "50", *how)
            if checked.code in (0, 1):
                fitting.append(rule)
        self.living(cut, fitting, how)

    def living(self, cut: Cut, rules: Sequence[str], how: Sequence[str]) -> None:
        """A state, two batches, and all that can be asked of it then."""
        state, file = f"{cut.name}-{how[1]}", cut.start.with_name(f"{cut.name}.yaml")
        file.write_text(json.dumps({"rules": [{"rule": rule} for rule in rules]}), encoding="utf-8")  # JSON is YAML
        bounds = ("--max-lhs", "2", "--max-level", "1")
        self.ask("init", state, f"t={cut.start}", "--watch", ",".join(FOUND), "--rules", str(file), *bounds, *how)
        in_json = ("--format", "json")
        self.ask("apply", state, "--insert", str(cut.more), "--batch-id", "more", *in_json)
        self.ask("apply", state, "--delete", str(cut.gone), "--batch-id", "gone", *in_json)
        held = self.ask("status", state, *in_json)
        self.ask("violations", state, "--limit", "50", *in_json)
        for rule in dict.fromkeys([*rules, *_some_of_each_class(held)]):
            self.ask("explain", state, rule, *in_json)
        self.ask("history", state, *in_json)
        self.ask("history", state, "--rules", *in_json)


def _some_of_each_class(held: Said, most: int = 2) -> list[str]:
    by_kind: dict[str, list[str]] = {}
    for line in held.lines:
        if isinstance(line, dict) and "text" in line:
            by_kind.setdefault(line["kind"], []).append(line["text"])
    return [text for texts in by_kind.values() for text in texts[:most]]


# ---- the command -----------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None, root: Path = ROOT, shared: Path = SHARED) -> int:
    """Compare what the arguments ask for."""
    wish = _parse(arguments)
    try:
        trees = tree_of(wish.base, root), tree_of(wish.new, root)
        sources = sorted(file for file in shared.glob("*.csv") if not wish.names or file.stem in wish.names)
        if unknown := sorted(set(wish.names) - {file.stem for file in sources}):
            raise NotThere(f"There is no data set {', '.join(unknown)} in {shared}.")
        if not sources:
            _say(f"Nothing compared: there are no data sets in {shared}.")
            return 0
        with tempfile.TemporaryDirectory(prefix="holdfast-same-", ignore_cleanup_errors=True) as folder:
            return _compared(trees, sources, Path(folder), wish)
    except NotThere as error:
        _say(str(error))
        return 2
    except KeyboardInterrupt:
        _say("Stopped.")
        return 130


def _compared(trees: tuple[Path, Path], sources: Sequence[Path], folder: Path, wish: argparse.Namespace) -> int:
    shape = (QUICK_ROWS, QUICK_COLUMNS) if wish.quick else (ROWS, COLUMNS)
    with Version(trees[0], folder / "old", wish.aside) as old, Version(trees[1], folder / "new", wish.aside) as new:
        comparison = Comparison(old, new)
        for source in sources:
            started, before = time.monotonic(), len(comparison.found)
            for nulls in ("equal", "distinct"):
                comparison.about(Cut.of(source, folder, *shape), nulls)
            seconds = time.monotonic() - started
            _say(f"{source.stem}: {len(comparison.found) - before} differences, {seconds:.0f} s")
    for difference in comparison.found[:SHOWN]:
        print(difference)
    if comparison.refused > comparison.commands / 2:
        print(f"{comparison.refused:,} of {comparison.commands:,} commands were refused: too many to compare anything")
        return 2
    counts = f"{comparison.commands:,} commands ({comparison.refused:,} refused), {comparison.lines:,} lines"
    print(f"{counts}: {len(comparison.found):,} differences" if comparison.found else f"{counts}: the same")
    return int(bool(comparison.found))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same", description="Compare what two versions say.")
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("names", nargs="*", help="which data sets; all, if none is named")
    parser.add_argument("--new", metavar="COMMIT", help="the newer commit; the project as it is now, if not given")
    parser.add_argument("--aside", nargs="*", default=[], metavar="FIELD", help="fields that are not compared")
    parser.add_argument("--quick", action="store_true", help="few rows and columns: does it work at all")
    return parser.parse_args(arguments)


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
