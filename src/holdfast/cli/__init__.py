"""The command line: parses, calls, prints. Heavy libraries are imported when a command runs, so help comes at once.

This module imports nothing, so that Ctrl-C is answered in our words from the first moment on.
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
    """End at once: while the command line is still being loaded, nothing has begun that would have to be undone."""
    import os

    try:
        os.write(2, b"holdfast: stopped before anything was done\n")
    finally:
        os._exit(2)  # ExitCode.BAD_INPUT, which may not be loaded yet
