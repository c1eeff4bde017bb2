"""`python -m benchmarks [names…]`: run benchmarks one after another, show their tables, keep their results.

Exit codes: 0 all ran and all answers were equal, 1 one failed, 2 wrong usage, 130 stopped by Ctrl-C.
"""

import argparse
import json
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.frame import HERE, Benchmark, Outcome, as_json, load, run_apart


def main(arguments: Sequence[str] | None = None, folder: Path = HERE, results: Path = HERE / "results") -> int:
    """Run what the arguments ask for, out of the bench_*.py of `folder`."""
    wish = _parse(arguments)
    known, broken = _find(folder)
    if wish.list:
        for found in known.values():
            print(f"{found.name:24} {found.what}")
        return int(broken)
    unknown = [name for name in wish.names if name not in known]
    if unknown or not known:
        _say(f"There is no benchmark {', '.join(unknown)}; known are: {', '.join(known) or 'none'}.")
        return 2
    try:
        outcomes = _run_all([known[name] for name in wish.names or known], wish.quick, results)
    except KeyboardInterrupt:
        _say("Stopped.")
        return 130
    if wish.json:
        _write(wish.json, [as_json(outcome) for outcome in outcomes])
    return int((broken and not wish.names) or any(outcome.failed for outcome in outcomes))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Holdfast against its rivals.")
    parser.add_argument("names", nargs="*", help="which benchmarks to run; all, if none is named")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and leave")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results of this run to one file too")
    parser.add_argument("--quick", action="store_true", help="small data, few repeats: does it work at all")
    return parser.parse_args(arguments)


def _find(folder: Path) -> tuple[dict[str, Benchmark], bool]:
    """All benchmarks by name, and whether a module of them couldn't be taken in."""
    known: dict[str, Benchmark] = {}
    broken = False
    for file in sorted(folder.glob("bench_*.py")):
        try:
            for found in load(file):
                if found.name in known:
                    other = known[found.name].file.name
                    raise ValueError(f"{other} has a benchmark named {found.name!r} too; rename one")
                known[found.name] = found
        except Exception:
            broken = True
            _say(f"{file.name} can't be taken in, so it is left out:\n{traceback.format_exc()}")
    return dict(sorted(known.items())), broken


def _run_all(chosen: list[Benchmark], quickly: bool, results: Path) -> list[Outcome]:
    # What ends a make or a CI job shall also end the child that runs just then.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Rich takes 80 columns where there is no terminal, too few for our tables.
    console = Console(width=None if sys.stdout.isatty() else 150)
    outcomes = []
    try:
        for number, each in enumerate(chosen, 1):
            _say(f"[{number}/{len(chosen)}] {each.name}: {each.what} …")
            outcome = run_apart(each, quickly)
            outcomes.append(outcome)
            console.print(table(outcome))
            _write(results / f"{each.name}.json", as_json(outcome))
            _say(f"[{number}/{len(chosen)}] {each.name}: {_verdict(outcome)}")
    finally:
        signal.signal(signal.SIGTERM, before)
    return outcomes


def table(outcome: Outcome) -> Table:
    """The outcome as a table for people."""
    shown = Table(title=escape(f"{outcome.name}: {outcome.what}"), title_justify="left")
    shown.add_column("case", overflow="fold")
    is_of_paper = any(case.published for case in outcome.cases)
    if is_of_paper:
        shown.add_column("published", overflow="fold")
    for heading in ("ours", "rival", "ratio", "peak RSS"):
        shown.add_column(heading, justify="right", overflow="fold")
    for heading in ("answers equal", "goal", "met", "note"):
        shown.add_column(heading, overflow="fold")
    for case in outcome.cases:
        rival = f"{seconds_in_words(case.rival)} {case.rival_name}".strip()
        ratio = "-" if case.ratio is None else f"{case.ratio:.3g}x"
        peak = "-" if case.peak_rss_mb is None else f"{case.peak_rss_mb:,.0f} MB"
        cells = [
            case.case,
            *([case.published or "-"] if is_of_paper else []),
            seconds_in_words(case.ours),
            rival,
            ratio,
            peak,
        ]
        cells += [_yes_or_no(case.equal), case.goal or "-", _yes_or_no(case.met), case.note]
        shown.add_row(*map(escape, cells))
    return shown


def seconds_in_words(value: float | None) -> str:
    """Seconds as people read them."""
    if value is None:
        return "-"
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if value * factor >= 1.0:
            return f"{value * factor:,.3g} {unit}" if value * factor < 1_000 else f"{value * factor:,.0f} {unit}"
    return f"{value * 1e6:.3g} µs"


def _yes_or_no(value: bool | None) -> str:
    return "-" if value is None else "yes" if value else "no"


def _verdict(outcome: Outcome) -> str:
    why = outcome.error or "answers differ"
    end = f"FAILED ({why})" if outcome.failed else "done"
    return f"{end}, {len(outcome.cases)} cases in {outcome.seconds:.1f} s"


def _write(file: Path, content: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
