"""The command that shows the whole of it."""

from __future__ import annotations

from holdfast.cli.app import app


@app.command()
def demo() -> None:
    """See the whole of it in two minutes: a small table, three batches, what changed. Needs no input."""
    from holdfast.demo.tour import run

    run()
