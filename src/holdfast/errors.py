"""The errors that people see: one clear sentence each, with the exit code of the command line."""


class HoldfastError(Exception):
    """An error of ours: exit code 3."""

    exit_code = 3


class BadInput(HoldfastError):
    """Something about the input, the usage or the surroundings that the user can mend: exit code 2."""

    exit_code = 2
