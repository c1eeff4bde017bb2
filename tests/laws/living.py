"""What must be true of a state whose rules, columns and tables change: it equals a fresh state of the same rows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import holdfast as hf
from holdfast.api.settings import stored_settings
from holdfast.engines.contract import HISTORY

# Which rows are those to remove, of equally many, the order of codes decides: of these only the number is compared.
CHOSEN = "rows to remove"


def assert_equals_fresh_state(watch: hf.Monitor) -> None:
    """A fresh state with the same rules and rows has the same findings and violations."""
    tables = {name: table.values(table.living_ids()) for name, table in watch.tables.items()}
    keys = {name: [table.schema.names[c] for c in table.schema.key] for name, table in watch.tables.items()}
    given = watch.rules()
    with (
        tempfile.TemporaryDirectory() as folder,
        hf.Monitor.create(
            Path(folder) / "state",
            tables,
            watch=found_classes(watch),
            rules=given if given.entries else None,
            key=keys,
            nulls=watch.nulls,
            **stored_settings(watch._store),
        ) as fresh,
    ):
        assert findings(watch) == findings(fresh)
        assert broken(watch) == broken(fresh)


def found_classes(watch: hf.View) -> list[str]:
    """The watched classes whose rules are found."""
    return [name for name, engine in watch._state.workspace.engines.items() if not engine.declared.given]


def findings(watch: hf.View) -> list[tuple[str, str]]:
    """All findings, without fields that depend on past batches."""
    found = [finding.to_json() for finding in watch.results()]
    return sorted((line["text"] if "text" in line else line["column"], repr(_plain(line))) for line in found)


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    """Scores move in the last digits with the order of sums; fields that do not follow from the table are left out."""
    known = {name: value for name, value in sorted(line.items()) if name not in (*HISTORY, "note")}
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in known.items()}


def broken(watch: hf.View) -> list[tuple[str, str, list[list[int]]]]:
    """The violations of each given rule as pairs of places among the living rows."""
    found = []
    for listing in watch.listings():
        rule = listing.rule
        counted = next(line["counted"] for line in watch._given() if line["text"] == rule.text)
        if counted == CHOSEN or listing.pairs is None:
            continue
        ids = watch.tables[rule.table].living_ids()
        places = np.where(listing.pairs < 0, -1, np.searchsorted(ids, listing.pairs))
        found.append((rule.table, rule.text, sorted(places.tolist())))
    return sorted(found)


def arrow(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    """Rows as a table."""
    return pa.table([pa.array([row[c] for row in rows], kind) for c, kind in enumerate(schema.types)], schema=schema)
