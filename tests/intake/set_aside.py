"""What a batch set aside: the rows of its files, and their reasons."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa

from holdfast.results.outcome import Outcome

START = pa.table({"id": [0, 1, 2], "name": ["a", "b", "c"], "n": [1, 2, None]})
BAD = 'id,name,n\r\n5,ok,1\r\n6,no number,x\r\n7,short\r\n,no key,1\r\n1,taken,1\r\n8,"qu""o,te",?\r\n9,fine,3\r\n'


def aside(outcome: Outcome) -> list[dict[str, str]]:
    """The rows of the files that a batch left, one after the other."""
    assert outcome.quarantined is not None
    found: list[dict[str, str]] = []
    for path in outcome.quarantined.files:
        with Path(path).open(encoding="utf-8", newline="") as file:
            found += map(json.loads, file) if path.endswith(".jsonl") else csv.DictReader(file)
    assert len(found) == outcome.quarantined.rows
    return found


def reasons(outcome: Outcome) -> list[tuple[int, str]]:
    return [(int(row["holdfast_line"]), row["holdfast_reason"]) for row in aside(outcome)]
