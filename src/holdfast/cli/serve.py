"""The command that shows a state in a browser. Needs no lock."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.app import app
from holdfast.cli.arguments import State
from holdfast.cli.printing import terminal_progress
from holdfast.errors import BadInput
from holdfast.report.terminal import say


@app.command()
def serve(
    state: State,
    host: Annotated[str, typer.Option(help="The address to serve at; any but this machine's own needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: any that is free.")] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="HOLDFAST_TOKEN", show_envvar=True, help="What every visitor must bring; made where one is needed."
        ),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Show a state in a browser, live: what holds, what broke and because of which rows, as batches arrive.

    Example: [b]holdfast serve state/ --open[/b]
    """
    try:
        from holdfast.serve.running import serve as run
    except ModuleNotFoundError as missing:
        if str(missing.name).partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise BadInput('this needs starlette and uvicorn: pip install "holdfast[serve]"') from None
    from holdfast.api.state_report import state_document

    with terminal_progress() as progress:
        try:
            run(
                state, host, port, token, lambda text: say(f"Serving {text}; stop with Ctrl-C."),
                lambda view: state_document(view, live=True), open_browser=open_browser,
            )  # fmt: skip
        except KeyboardInterrupt:
            progress.note("Stopped.")
