"""The command line: parses, calls, prints. Heavy libraries are imported when a command runs, so help comes at once."""

from holdfast.cli.entry import main

__all__ = ["main"]
