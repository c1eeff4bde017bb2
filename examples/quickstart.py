"""Watch a table from Python: create a state, apply batches, look at what changed. Runs in a few seconds."""

import tempfile
from pathlib import Path

import pyarrow as pa

import holdfast as hf


def main() -> None:
    """Run the example in a folder of its own."""
    people = pa.table({"id": [1, 2, 3], "city": ["Bergen", "Oslo", None], "age": [31, 47, 25]})
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "state")

        with hf.Monitor.create(state, {"people": people}, watch=["column"], key=["id"]) as watch:
            # Inserts and deletes; with a key, its columns are enough to delete a row.
            outcome = watch.apply(
                inserts=pa.table({"id": [4], "city": ["Tromsø"], "age": [102]}), deletes=pa.table({"id": [3]})
            )
            for before, after in outcome.changed:
                old, new = before.to_json(), after.to_json()
                print(f"{new['column']}: {old['distinct']} -> {new['distinct']} distinct, max {new['max']}")

            # A change feed: rows that say what to do. The same batch id is never applied twice.
            feed = pa.table({"id": [2, 4], "city": ["Oslo", "Tromsø"], "age": [48, 20], "op": ["update", "update"]})
            for _ in range(2):
                outcome = watch.apply(changes=feed, batch_id="2026-11-15")
                print(outcome.batch.batch_id, "applied before" if outcome.already_applied else "applied")

        # Another process may look at any time, also while batches are applied.
        with hf.Monitor.open(state, write=False) as look:
            for facts in look.results("column"):
                print(facts.to_json())


if __name__ == "__main__":
    main()
