"""Errors that end a command with one line on standard error and an exit code."""

from __future__ import annotations


class CommandError(Exception):
    """Error in the arguments or in the file of predictions, which the user can repair."""

    exit_code = 2


class OutputError(CommandError):
    """Error because standard output or a file cannot be written."""

    exit_code = 3
