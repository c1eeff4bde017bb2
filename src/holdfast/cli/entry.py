"""Running the command line: every error ends as one sentence and an exit code."""

from __future__ import annotations

import errno
import logging
import os
import signal
import sys
from importlib import import_module
from typing import NoReturn

import typer

from holdfast.cli.app import app
from holdfast.errors import ExitCode, HoldfastError, refuse_not_utf8
from holdfast.report.terminal import heard, prepare_streams, say

# They register themselves when they are imported, and help lists them in this order.
for _commands in ("discover", "apply", "rules", "columns", "show", "upkeep"):
    import_module(f"holdfast.cli.{_commands}")

_INTERRUPTED = 130  # what typer makes of Ctrl-C
_STOPPED = "stopped; if a state was being changed, it is as it was before the batch, or as it is after it"


def run() -> NoReturn:
    """Run the command that the arguments name, and end with its exit code."""
    prepare_streams()
    # Arrow's own pool holds on to some 50 MB after a file is read; the system's gives them back.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    logging.getLogger().addHandler(logging.NullHandler())  # Spark's gateway would tell of Ctrl-C in its own words
    signal.signal(signal.SIGINT, _interrupt)
    sys.exit(_code())


def _code() -> int:
    """The exit code, after an error has been told."""
    stdout = sys.stdout
    try:
        for word in sys.argv[1:]:
            refuse_not_utf8(word)
        code = app(prog_name="holdfast", standalone_mode=False) or ExitCode.ALL_WELL
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        with heard(sys.stdout):
            sys.stdout.flush()
        return int(code)
    except (KeyboardInterrupt, typer.Abort):
        return _tell(_STOPPED, ExitCode.BAD_INPUT)
    except SystemExit as ended:
        # Rich ends so where nobody reads help any more. Typer ends so, and puts other streams in place, where some
        # other pipe broke, for ours are taken care of: then something failed.
        if isinstance(ended.__context__, BrokenPipeError) and sys.stdout is not stdout:
            return _tell_ours(ended.__context__)
        return ExitCode.ALL_WELL if isinstance(ended.__context__, BrokenPipeError) else int(ended.code or 0)
    except Exception as error:
        return _tell_error(error)


def _tell_error(error: Exception) -> int:
    if _follows_interrupt(error):
        return _tell(_STOPPED, ExitCode.BAD_INPUT)
    if isinstance(error, HoldfastError):
        return _tell(str(error), error.exit_code)
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:  # names come from those who call
        return _tell(f"{error.filename}: the name is too long; choose a shorter one", ExitCode.BAD_INPUT)
    if not hasattr(error, "format_message"):
        return _tell_ours(error)
    if not (sentence := error.format_message()):  # nothing was asked, and help was shown
        return ExitCode.BAD_INPUT
    context = getattr(error, "ctx", None)  # wrong usage, as typer and click tell it
    sentence = sentence.replace("Value error, ", "").rstrip(".")  # typer's words around those that say what is wrong
    hint = f"; see: {context.command_path} --help" if context else ""
    return _tell(f"{sentence}{hint}", ExitCode.BAD_INPUT)


def _tell_ours(error: BaseException) -> int:
    import traceback

    say("".join(traceback.format_exception(error)), err=True)
    sentence = f"{type(error).__name__}: {error}. This is an error of ours; please report it with the lines above"
    return _tell(sentence, ExitCode.OUR_ERROR)


_interrupts: list[int] = []


def _interrupt(number: int, _: object) -> NoReturn:
    _interrupts.append(number)
    raise KeyboardInterrupt


def _follows_interrupt(error: BaseException | None) -> bool:
    """Whether an error comes from Ctrl-C: a cancelled Spark job and a half imported library fail in their own way."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None or bool(_interrupts)


def _tell(sentence: str, code: ExitCode) -> ExitCode:
    say(f"holdfast: {' '.join(sentence.splitlines())}", err=True)  # values in it may hold line breaks
    return code
