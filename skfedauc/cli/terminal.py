"""Lines on standard output and standard error.

The functions escape names from files, because control characters could change the terminal.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable

from skfedauc.cli.errors import OutputError

PROG = "skfedauc"


def print_lines(lines: Iterable[str]) -> None:
    """Print lines to standard output.

    Raises
    ------
    BrokenPipeError
        If the reader has closed the pipe.
    OutputError
        If writing fails for another reason.
    """
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
