"""Lines on standard output and standard error, and errors that end a command with an exit code.

The functions escape names from files, because control characters could change the terminal.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator


class CommandError(Exception):
    """Error in the arguments or in the file of predictions, which the user can repair."""

    exit_code = 2


class ToleranceError(CommandError):
    """Answer to a tolerance with which the command fails, as the user asked."""

    exit_code = 5


class OutputError(CommandError):
    """Error while writing standard output or a file."""

    exit_code = 3


PROG = "skfedauc"
# Options in place of the library's arguments in its messages
_OPTIONS = {
    "tolerances has": "--tolerance has",
    "y_pred=, decisions=": "--decisions",
    "decisions= with counts of the decisions, ": "",
    "min_count and max_cells": "--min-count",
    "pos_label=": "--pos-label",
    "threshold=None": "--threshold none",
    r"threshold=([-+.e\d]+)": r"--threshold \1",
    "threshold=": "--threshold",
    "(favorable|missing)='(.*?)'": r"--\1 \2",
}


@contextlib.contextmanager
def refusals(*, read: str = "", written: str = "") -> Iterator[None]:
    """Turn errors of the library, and of a file that is read or written, into a `CommandError`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        if written:
            raise OutputError(f"{written}: cannot be written: {reason}") from None
        raise CommandError(f"{read}: cannot be read: {reason}") from None
    except (ImportError, TypeError, ValueError) as error:
        said = str(error).removesuffix(".")
        for argument, option in _OPTIONS.items():
            said = re.sub(argument, option, said)
        raise CommandError(said) from None


def print_lines(lines: Iterable[str]) -> None:
    """Print lines to standard output."""
    try:
        print("\n".join(map(_escaped, lines)), flush=True)
    except OSError as error:
        # Python would flush the buffer again at exit, and raise the same error.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise OutputError(f"standard output: cannot be written: {error.strerror}") from None


def print_warning(message: str) -> None:
    """Print a warning to standard error, in one line."""
    print(f"{PROG}: warning: {_escaped(message)}", file=sys.stderr)


def print_error(message: str) -> None:
    """Print an error to standard error, in one line."""
    print(f"{PROG}: error: {_escaped(message)}", file=sys.stderr)


def _escaped(line: str) -> str:
    """Return the line with an escape for each character that is not printable."""
    if line.isprintable():
        return line
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in line
    )
