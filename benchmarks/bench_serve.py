"""The live page: pages of a million violations from a server of its own, beside DuckDB, which joins for each page.

The server is the command `holdfast serve`, asked over HTTP as a browser does, at places all over the violations.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.bench_ground import scratch
from benchmarks.frame import Case, benchmark, quick
from holdfast.api.monitor import Monitor

RULE = "not(t.Zip = s.Zip and t.Salary < s.Salary and t.Tax > s.Tax)"
JOINED = """
    SELECT t.Id, s.Id FROM people t JOIN people s ON t.Zip = s.Zip AND t.Salary < s.Salary AND t.Tax > s.Tax
    ORDER BY t.Id, s.Id LIMIT 50 OFFSET ?"""
PAGES = 200


def people(rows: int) -> pa.Table:
    """21 rows for each Zip, whose salaries and taxes have nothing to do with each other: five violations a row."""
    draw = np.random.default_rng(14)
    return pa.table(
        {
            "Id": np.arange(rows),
            "Zip": [f"{number:06}" for number in draw.integers(0, rows // 21, rows)],
            "City": [f"city {number}" for number in draw.integers(0, 5_000, rows)],
            "Salary": draw.integers(0, 100_000, rows),
            "Tax": draw.integers(0, 100_000, rows),
        }
    )


class Server:
    """A server of a state, and one connection to it."""

    def __init__(self, process: subprocess.Popen[str], connection: http.client.HTTPConnection) -> None:
        self._process, self._connection = process, connection

    def ask(self, path: str) -> tuple[float, Any]:
        """The seconds until an answer is read, and the answer."""
        started = perf_counter()
        self._connection.request("GET", path)
        answer = self._connection.getresponse().read()
        return perf_counter() - started, json.loads(answer)

    def page(self, first: int) -> tuple[float, list[tuple[int, ...]]]:
        """The same of a page of violations, as pairs of rows."""
        seconds, answer = self.ask(f"/api/violations?rule=dc1&from={first}&count=50")
        pairs = [{row["row"]: row for row in pair["rows"]} for pair in answer["violations"]]
        return seconds, [tuple(pair) for pair in pairs]

    def seconds_to_hear(self, monitor: Monitor, batch: pa.Table) -> float:
        """From the commit of a batch until an open page hears of it."""
        with closing(http.client.HTTPConnection(self._connection.host, self._connection.port, timeout=60)) as stream:
            stream.request("GET", "/api/events")
            answer = stream.getresponse()
            monitor.apply(inserts=batch)
            started = perf_counter()
            while not answer.readline().startswith(b"event: batch"):
                pass
            return perf_counter() - started

    def peak_mb(self) -> float:
        """The most memory that it had."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+)", status)
        assert found
        return int(found[1]) / 1024


@contextmanager
def serving(state: Path) -> Iterator[Server]:
    """The command, as a process of its own."""
    command = [sys.executable, "-c", "from holdfast.cli import main; main()", "serve", str(state), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"//([\d.]+):(\d+)/", process.stdout.readline())
        assert found
        with closing(http.client.HTTPConnection(found[1], int(found[2]), timeout=60)) as connection:
            yield Server(process, connection)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


@benchmark("serve", "pages of a million violations from holdfast serve, its memory, and how soon it tells of a batch")
def serve() -> Iterator[Case]:
    rows = 10_000 if quick() else 200_000
    table = people(rows)
    database = duckdb.connect()
    database.execute("SET threads = 2; SET enable_progress_bar = false")
    database.register("given", table)
    database.execute("CREATE TABLE people AS SELECT * FROM given")
    with scratch() as state:
        Monitor.create(state, {"people": table}, rules=[RULE], key=["Id"]).close()
        with serving(state) as server:
            yield from _first_pages(server, database, rows)
            yield from _batches(server, state, rows)


def _first_pages(server: Server, database: duckdb.DuckDBPyConnection, rows: int) -> Iterator[Case]:
    seconds, document = server.ask("/api/document")
    total = document["rules"]["details"]["0"]["violations"]
    yield Case(f"the document of {rows:,} rows", seconds, note="asked for as soon as it serves", rows=rows)
    first, _ = server.page(0)
    draw = random.Random(14)
    places = [draw.randrange(total - 50) for _ in range(PAGES)]
    answers = [server.page(place) for place in places]
    spent = [seconds for seconds, _ in answers]
    rival, equal = [], True
    for place, (_, pairs) in list(zip(places, answers, strict=True))[:3]:
        started = perf_counter()
        found = database.execute(JOINED, [place]).fetchall()
        rival.append(perf_counter() - started)
        equal &= [sorted(pair) for pair in pairs] == [sorted(pair) for pair in found]
    name = "DuckDB joins and sorts for each page"
    median, worst = statistics.median(spent), max(spent)
    note = f"the first took {first * 1000:.0f} ms"
    what = f"a page of 50 of {total:,} violations"
    yield Case(what, median, statistics.median(rival), name, None, equal, "50 ms", median < 0.05, note, rows)
    yield Case(f"… the slowest of {PAGES}", worst, goal="50 ms", met=worst < 0.05, rows=rows)
    peak = server.peak_mb()
    yield Case("… the server's memory", None, peak_rss_mb=peak, goal="300 MB", met=peak < 300, rows=rows)


def _batches(server: Server, state: Path, rows: int) -> Iterator[Case]:
    heard, pages = [], []
    with Monitor.open(state) as monitor:
        for number in range(5):
            more = people(2100).slice(0, 10)
            batch = more.set_column(0, "Id", pa.array(np.arange(10) + rows + 10 * number))
            heard.append(server.seconds_to_hear(monitor, batch))
            pages.append(server.page(rows // 2)[0])
    yield Case(
        "from a commit until an open page hears of it", statistics.median(heard), goal="1 s", met=max(heard) < 1,
        note=f"a page asked for at once: {statistics.median(pages) * 1000:.0f} ms", rows=rows,
    )  # fmt: skip
    server.ask("/api/document")
    peak = server.peak_mb()
    yield Case("… the server's memory then", None, peak_rss_mb=peak, goal="300 MB", met=peak < 300, rows=rows)
