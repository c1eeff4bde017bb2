"""`python -m benchmarks.papers [names…]`: what the five papers measured, one table a figure.

With `--write FILE` the tables go into that Markdown file, too, between two marks, with the date and the machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.__main__ import main as run
from benchmarks.__main__ import seconds_in_words

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "papers"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
ORDER = ("dynast", "fastod", "incpod", "weever", "inclusion")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the arguments name, and write the tables where a file is given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description="Repeat what the papers measured.")
    parser.add_argument("names", nargs="*", help="figures, as dynast-T4; all, if none is named")
    parser.add_argument("--list", action="store_true", help="list the figures and leave")
    parser.add_argument("--quick", action="store_true", help="small data, few repeats: does it work at all")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables into this file, between its marks")
    wish = parser.parse_args(arguments)
    words = [*wish.names, *(["--list"] if wish.list else []), *(["--quick"] if wish.quick else [])]
    code = run(words, HERE, RESULTS)
    if wish.write and code in (0, 1):
        write(wish.write, [json.loads(file.read_text(encoding="utf-8")) for file in RESULTS.glob("*.json")])
    return code


def write(file: Path, outcomes: Iterable[Mapping[str, Any]]) -> None:
    """Put the tables of all figures between the marks of a file."""
    text = file.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    ordered = sorted(outcomes, key=_place)
    file.write_text(f"{head}{BEGIN}\n\n{document(ordered)}\n{END}{tail}", encoding="utf-8")


def _place(outcome: Mapping[str, Any]) -> tuple[int, str]:
    paper, _, figure = outcome["name"].partition("-")
    return ORDER.index(paper), figure


def document(outcomes: Sequence[Mapping[str, Any]]) -> str:
    """The tables as Markdown, after a line about the day and the machine."""
    if not outcomes:
        return ""
    machine = outcomes[0]["machine"]
    libraries = ", ".join(f"{name} {version}" for name, version in machine["libraries"].items() if name != "holdfast")
    head = (
        f"Measured on {date.today().isoformat()}: {machine['cpus']} cores, {machine['memory_gb']:g} GB, "
        f"{machine['system']}, Python {machine['python']}, {libraries}.\n"
    )
    return "\n".join([head, *map(_section, outcomes)])


def _section(outcome: Mapping[str, Any]) -> str:
    lines = [f"### {outcome['name']}. {outcome['what']}", ""]
    lines += [
        "| | published | ours | rival in the same run | rival / ours | equal | |",
        "|---|---|---:|---:|---:|---|---|",
    ]
    for case in outcome["cases"]:
        rival = f"{seconds_in_words(case['rival'])} {case['rival_name']}".strip() if case["rival"] is not None else ""
        ratio = "" if case["ratio"] is None else f"{case['ratio']:.3g}"
        equal = {True: "yes", False: "**no**", None: ""}[case["equal"]]
        ours = "" if case["ours"] is None else seconds_in_words(case["ours"])
        cells = [case["case"], case["published"], ours, rival, ratio, equal, case["note"]]
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    if outcome["error"]:
        lines += ["", f"It ended early: {outcome['error']}."]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
