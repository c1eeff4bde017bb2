"""Running the command line: every error ends as one sentence and an exit code."""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import NoReturn

import typer

from holdfast.cli import acting, looking, upkeep  # noqa: F401  # they register their commands
from holdfast.cli.app import app
from holdfast.errors import HoldfastError

_INTERRUPTED = 130  # what typer makes of Ctrl-C
_STOPPED = "stopped; if a state was being changed, it is as it was before the batch, or as it is after it"


def main() -> NoReturn:
    """Run the command line; every error ends as one sentence and an exit code."""
    # Arrow's own pool holds on to some 50 MB after a file is read; the system's gives them back.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    logging.getLogger().addHandler(logging.NullHandler())  # Spark's gateway would tell of Ctrl-C in its own words
    signal.signal(signal.SIGINT, _interrupt)
    try:
        code = app(prog_name="holdfast", standalone_mode=False) or 0
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code)
    except (KeyboardInterrupt, typer.Abort):
        _fail(_STOPPED, 2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        if _follows_interrupt(error):
            _fail(_STOPPED, 2)
        if isinstance(error, HoldfastError):
            _fail(str(error), error.exit_code)
        if hasattr(error, "format_message"):  # wrong usage, as typer and click tell it
            if not (sentence := error.format_message()):  # nothing was asked, and help was shown
                sys.exit(2)
            context = getattr(error, "ctx", None)
            hint = f"; see: {context.command_path} --help" if context else ""
            _fail(f"{sentence}{hint}", 2)
        import traceback

        traceback.print_exc()
        _fail(f"{type(error).__name__}: {error}. This is an error of ours; please report it with the lines above", 3)


_interrupts: list[int] = []


def _interrupt(number: int, _: object) -> NoReturn:
    _interrupts.append(number)
    raise KeyboardInterrupt


def _follows_interrupt(error: BaseException | None) -> bool:
    """Whether an error comes from Ctrl-C: a cancelled Spark job and a half imported library fail in their own way."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None or bool(_interrupts)


def _fail(sentence: str, code: int) -> NoReturn:
    typer.echo(f"holdfast: {' '.join(sentence.splitlines())}", err=True)  # values in it may hold line breaks
    sys.exit(code)
