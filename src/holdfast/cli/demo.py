"""The command that shows the whole of it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.app import app

_PAGE = "holdfast-demo.html"


@app.command()
def demo(
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"Where the report goes; {_PAGE} if not given.")
    ] = None,
) -> None:
    """See the whole of it in two minutes: a small table, four batches, what changed, and a report. Needs no input."""
    from holdfast.demo.tour import run
    from holdfast.results.outputs import PAGE, refuse_unwritable

    if html is None:
        html = Path(_PAGE) if os.access(Path(), os.W_OK) else Path(tempfile.gettempdir()) / _PAGE
    refuse_unwritable(html, PAGE)
    run(html)
