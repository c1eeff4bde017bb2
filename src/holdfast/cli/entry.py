"""Runs the command line; every error ends as one sentence and an exit code."""

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

# Commands register when they are imported; help lists them in this order.
for _commands in ("discover", "apply", "watch", "rules", "expect", "columns", "show", "agree", "upkeep"):
    import_module(f"holdfast.cli.{_commands}")

_INTERRUPTED = 130  # typer's exit code for Ctrl-C
_STOPPED = "stopped; a batch or change that had begun is applied whole, or not at all"


def run() -> NoReturn:
    """Run the command of the arguments, and exit with its code."""
    prepare_streams()
    # Arrow's own pool keeps some 50 MB after a file is read; the system's returns them.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    logging.getLogger().addHandler(logging.NullHandler())  # else Spark's gateway prints its own lines after Ctrl-C
    signal.signal(signal.SIGINT, _interrupt)
    sys.exit(_code())


def _code() -> int:
    """The exit code; an error has been printed."""
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
        return _fail(_STOPPED, ExitCode.BAD_INPUT)
    except SystemExit as ended:
        # Rich and typer exit this way if help has lost its reader, and typer replaces the streams. It does so, too, if
        # another pipe broke (ours are handled): then something failed.
        lost = ended.__context__
        if not isinstance(lost, BrokenPipeError):
            return int(ended.code or 0)
        return ExitCode.ALL_WELL if sys.stdout is stdout or _shows_help() else _fail_ours(lost)
    except Exception as error:
        return _fail_with(error)


def _shows_help() -> bool:
    """Whether help is all that the command prints."""
    return not sys.argv[1:] or any(word in ("--help", "--help-all") for word in sys.argv[1:])


def _fail_with(error: Exception) -> int:
    if _follows_interrupt(error):
        return _fail(_STOPPED, ExitCode.BAD_INPUT)
    if isinstance(error, HoldfastError):
        return _fail(str(error), error.exit_code)
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:  # the user gave the name
        return _fail(f"{error.filename}: the name is too long; choose a shorter one", ExitCode.BAD_INPUT)
    if not hasattr(error, "format_message"):
        return _fail_ours(error)
    if not (sentence := error.format_message()):  # no command was given, and help was shown
        return ExitCode.BAD_INPUT
    context = getattr(error, "ctx", None)  # wrong usage, found by typer and click
    sentence = sentence.replace("Value error, ", "").rstrip(".")  # words that typer adds
    hint = f"; see: {context.command_path} --help" if context else ""
    return _fail(f"{sentence}{hint}", ExitCode.BAD_INPUT)


def _fail_ours(error: BaseException) -> int:
    import traceback

    say("".join(traceback.format_exception(error)), err=True)
    sentence = f"{type(error).__name__}: {error}. This is an error of ours; please report it with the lines above"
    return _fail(sentence, ExitCode.OUR_ERROR)


_interrupts: list[int] = []


def _interrupt(number: int, _: object) -> NoReturn:
    _interrupts.append(number)
    raise KeyboardInterrupt


def _follows_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error: a cancelled Spark job or a half-imported library raises its own."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None or bool(_interrupts)


def _fail(sentence: str, code: ExitCode) -> ExitCode:
    say(f"holdfast: {_on_one_line(sentence)}", err=True)
    return code


def _on_one_line(sentence: str) -> str:
    """An error, whose values may contain line breaks, on one line; a caret below a rule goes into the rule."""
    lines = sentence.splitlines()
    if len(lines) < 3 or lines[-1].strip() != "^":
        return " ".join(lines)
    from rich.cells import cell_len  # only where something is wrong: help must answer quickly

    *others, rule, caret = lines
    at = next((at for at in range(len(rule)) if cell_len(rule[:at]) >= caret.index("^")), len(rule))
    return f"{' '.join(others)}: {rule[:at].lstrip()}^{rule[at:]}"
