"""Desbordante's algorithms, each in a process of its own: its memory is its own, and it can be stopped after a while.

python -m benchmarks.rivals ALGORITHM FILE [ERROR]
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.frame import Rss

# Rules by column numbers: a context or left side, and what it is about: a column (-1: the side is a key), or two
# columns and whether they go in opposite directions.
Rule = tuple[tuple[int, ...], int | tuple[int, int, bool]]

_OD = re.compile(r"\{(?P<context>[\d,]*)\} : (?:\[\] -> (?P<constant>\d+)|(?P<a>\d+)(?P<way>[<>])= ~ (?P<b>\d+))")


@dataclass(frozen=True)
class Found:
    """What an algorithm found, and what it took. Stopped at the limit, `rules` is None."""

    load: float
    search: float
    rules: frozenset[Rule] | None = None
    peak_mb: float | None = None

    @property
    def seconds(self) -> float:
        """Reading the file included."""
        return self.load + self.search

    @property
    def stopped(self) -> str:
        """What to say beside its time, if it didn't come to an end."""
        return ", stopped" if self.rules is None else ""


def rules_by(algorithm: str, file: Path, limit: float, error: float | None = None) -> Found:
    """Run an algorithm on a CSV file for at most `limit` seconds; rules may have an error, where it knows errors."""
    errors = [] if error is None else [str(error)]
    command = [sys.executable, "-m", "benchmarks.rivals", algorithm, str(file), *errors]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return Found(0.0, limit)
    answer = json.loads(done.stdout)
    rules = frozenset((tuple(context), tuple(of) if isinstance(of, list) else of) for context, of in answer["rules"])
    return Found(answer["load"], answer["search"], rules, answer["peak_mb"])


def _fastod(algorithm: Any) -> set[Rule]:
    """Each pair is listed twice, once from either column."""
    every = [*algorithm.get_simple_ods(), *algorithm.get_asc_ods(), *algorithm.get_desc_ods()]
    return {order_rule(str(rule)) for rule in every}


def _order(algorithm: Any) -> set[Rule]:
    """Rules about lists of columns: these are numbered, as nothing of ours is compared with them."""
    return {((), number) for number, _ in enumerate(algorithm.get_list_ods())}


def order_rule(text: str) -> Rule:
    """An order dependency as Desbordante writes it, with columns counted from 1."""
    found = _OD.match(text)
    if found is None:
        raise ValueError(f"{text!r} is no order dependency of Desbordante's")
    context = tuple(sorted(int(c) - 1 for c in found["context"].split(",") if c))
    if found["constant"]:
        return context, int(found["constant"]) - 1
    a, b = sorted((int(found["a"]) - 1, int(found["b"]) - 1))
    return context, (a, b, found["way"] == ">")


def _fds(algorithm: Any) -> set[Rule]:
    return {(tuple(sorted(fd.lhs_indices)), fd.rhs_index) for fd in algorithm.get_fds()}


def _hpivalid(algorithm: Any) -> set[Rule]:
    return {(tuple(sorted(key.indices)), -1) for key in algorithm.get_uccs()}


def _run(name: str, file: str, error: str | None = None) -> dict[str, Any]:
    import desbordante

    known: dict[str, tuple[Any, Callable[[Any], set[Rule]]]] = {
        "Fastod": (desbordante.od.algorithms.Fastod, _fastod),
        "Order": (desbordante.od.algorithms.Order, _order),
        "HyFD": (desbordante.fd.algorithms.HyFD, _fds),
        "Pyro": (desbordante.fd.algorithms.Pyro, _fds),
        "HPIValid": (desbordante.ucc.algorithms.HPIValid, _hpivalid),
    }
    make, rules = known[name]
    algorithm = make()
    with Rss() as weight:
        started = time.perf_counter()
        algorithm.load_data(table=(file, ",", True))
        loaded = time.perf_counter()
        algorithm.execute(**({} if error is None else {"error": float(error)}))
        searched = time.perf_counter()
    found = list(rules(algorithm))
    return {"load": loaded - started, "search": searched - loaded, "rules": found, "peak_mb": weight.own_mb}


if __name__ == "__main__":
    print(json.dumps(_run(*sys.argv[1:])))
