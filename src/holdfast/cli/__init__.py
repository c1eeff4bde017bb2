"""The command line: parses, calls, prints. A command imports heavy libraries when it runs, so help comes at once.

This module imports nothing, so that from the first moment Ctrl-C ends with one clear sentence.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command line; every error ends as one sentence and an exit code."""
    try:
        import signal

        signal.signal(signal.SIGINT, _stop)
    except KeyboardInterrupt:
        _stop()
    from holdfast.cli.entry import run

    run()


def _stop(*_: object) -> NoReturn:
    """End at once: while the command line loads, there is nothing to undo."""
    import os

    try:
        os.write(2, b"holdfast: stopped before anything was done\n")
    finally:
        os._exit(2)  # ExitCode.BAD_INPUT, which may not be loaded yet
