"""Errors that end a command, each with an exit code and a line on standard error."""

from __future__ import annotations


class CommandError(Exception):
    """Error in the arguments or in the file of predictions, which the user can repair."""

    exit_code = 2


class ToleranceError(CommandError):
    """Answer to a tolerance with which the command fails, as the user asked."""

    exit_code = 5


class OutputError(CommandError):
    """Error while writing standard output or a file."""

    exit_code = 3
