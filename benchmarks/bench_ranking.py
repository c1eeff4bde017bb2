"""How well rules are ranked: the JSON of `holdfast suggest` beside the measure µ+, judged by what people say is meant.

µ+ (Parciak et al., ICDE 2024) is that of the package afd-measures, over all single left sides; where it gives many
rules the same score, figures are means over orders of these by chance. The package asks for an older NumPy and pandas
than ours, so it is fetched without what it asks for, when first needed.
Ours competes with left sides of up to three columns. Average precision: of each rule that is meant, the share of meant
ones among the rules listed up to it; of those not listed, none.
"""

from __future__ import annotations

import importlib
import json
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import permutations
from time import perf_counter
from typing import Any

import pandas as pd

from benchmarks.data import CACHE, SHARED, shared
from benchmarks.frame import Case, benchmark

FILES = ("hospital", "hospital_dirty", "tax_10k", "tax_10k_dirty", "adult")
_AFD = "afd-measures==1.0.0 --hash=sha256:c18e35a2bbd58ff943f523ea5624e8e64f66d139b147f0578b53b6d54e3d956f"
ORDERS = 25
Pair = tuple[str, str]


def judged(name: str) -> tuple[set[Pair], set[Pair]]:
    """What is meant in a file and what nobody judged, in the words of its own header."""
    truth = json.loads((SHARED / "truth.json").read_text())[name.removesuffix("_dirty")]
    clean, own = (list(pd.read_csv(shared(each), nrows=0).columns) for each in (name.removesuffix("_dirty"), name))
    called = dict(zip(clean, own, strict=True))
    return tuple(  # type: ignore[return-value]
        {(called[left], called[right]) for left, rights in truth[part].items() for right in rights}
        for part in ("meant", "unjudged")
    )


def average_precision(order: Sequence[Any], meant: set[Pair], unjudged: set[Pair]) -> tuple[float, int]:
    """The average precision of an order, and how many of its first ten are meant."""
    listed = [rule for rule in order if rule not in unjudged]
    total, right = 0.0, 0
    for place, rule in enumerate(listed, 1):
        if rule in meant:
            right += 1
            total += right / place
    return total / len(meant), sum(rule in meant for rule in listed[:10])


def our_order(name: str) -> tuple[float, list[Any]]:
    """The FDs that the command tells, in the order of their ranks, and how long it took."""
    command = [sys.executable, "-m", "holdfast.cli", "suggest", str(shared(name)), "--format", "json"]
    command += ["--types", "text"] if name.endswith("_dirty") else []
    started = perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = perf_counter() - started
    rules = [line for line in map(json.loads, done.stdout.splitlines()) if line["kind"] == "fd"]
    rules.sort(key=lambda rule: rule["rank"])
    return seconds, [(*rule["lhs"], rule["rhs"]) for rule in rules]


def mu_plus(name: str) -> tuple[float, dict[Pair, float]]:
    """What µ+ gives all pairs of columns, and how long it took."""
    measures = _afd_measures()
    data = pd.read_csv(shared(name), dtype=str, keep_default_na=not name.endswith("_dirty"))
    started = perf_counter()
    scores = {}
    for left, right in permutations(data.columns, 2):
        known = data[[left, right]].dropna()
        trivial = known.empty or known[left].nunique() == len(known) or known[right].nunique() == 1
        scores[left, right] = 0.0 if trivial else measures.mu_plus(known, left, right)
    return perf_counter() - started, scores


def mean_precision(scores: dict[Pair, float], meant: set[Pair], unjudged: set[Pair]) -> tuple[float, float]:
    """The average precision, and how many of the first ten are meant, if equal scores are ordered by chance."""
    found = []
    for seed in range(ORDERS):
        mixed = random.Random(seed).sample(sorted(scores), len(scores))
        found.append(average_precision(sorted(mixed, key=lambda pair: -scores[pair]), meant, unjudged))
    return statistics.mean(precision for precision, _ in found), statistics.mean(first for _, first in found)


def _afd_measures() -> Any:
    """The rival, fetched when first needed."""
    folder = CACHE / "afd-measures-1.0.0"
    if not folder.is_dir():
        wanted = CACHE / "afd-measures.txt"
        wanted.write_text(f"{_AFD}\n")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
        subprocess.run([*command, "--target", str(folder), "-r", str(wanted)], check=True)
        wanted.unlink()
    sys.path.insert(0, str(folder))
    return importlib.import_module("afd_measures.measures")


@benchmark("ranking", "how well suggest ranks what people meant, beside the measure µ+")
def ranking() -> Iterator[Case]:
    for name in FILES:
        meant, unjudged = judged(name)
        seconds, order = our_order(name)
        rival, scores = mu_plus(name)
        ours, first = average_precision(order, meant, unjudged)
        mu, mu_first = mean_precision(scores, meant, unjudged)
        least = 0.95 if name.startswith("hospital") else mu
        yield Case(
            name, seconds, rival, "µ+ of afd-measures", None, None,
            f"average precision {least:.2f}, µ+'s", ours >= max(least, mu) - 1e-9,
            f"average precision {ours:.3f}, µ+ {mu:.3f}; meant of the first ten {first}, µ+ {mu_first:.1f}; "
            f"{len(meant)} meant, {len(order)} ranked",
        )  # fmt: skip
