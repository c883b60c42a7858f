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
# Words of the command line in place of the library's in its messages, in this order
_WORDS = {
    r" AUC compares one class with another:.*": " An AUC needs two: is --label the true class?",
    r"; pos_label is optional .*": "",
    r" Read it by PrivateCounts\..*": " It has noise: add it up in Python, by PrivateCounts.merge",
    r"by_period=True": "--by-period",
    r"y_pred=, decisions=": "--decisions",
    r" decisions= with counts of the decisions,": "",
    r"threshold=None": "--threshold none",
    r", or rename these groups by counts\.regroup": "",
    r"Bins\.of_(\w+)(?:\(\))?(?![\w(])": r"--bins \1",
    r" Pass what \w+\.save .*": " Pass what skfedauc count or merge wrote",
    r"^(parts|octaves|edges) must(?! have)": r"--bins: \1 must",
    r"^parts must have at least one ScoreCounts; got none": "there are no valid files to merge",
    r"'auto' and None are also valid": "none is also valid",
    r"^names must be a mapping of some of the keys (.*) to text, .*": r"KEY of --name: one of \1",
    r" by counts\.with_source\(name\)": " by skfedauc count --source",
    r"\. Pass np\.unique\(edges\)": "",
    r"^tolerances has": "--tolerance has",
    r"^each gap in tolerances": "the NAME of --tolerance",
    r"tolerances\['(\w+)'\]": r"--tolerance \1",
    r"\b(threshold|favorable|missing|disclosure)=(?:'(\w+)'|([-+.\w]+))": r"--\1 \2\3",
    r"threshold=": "--threshold",
    r"^(threshold|epsilon) must": r"--\1 must",
    r"\bpos_label=?(?=['\d])": "--pos-label ",
    r"\bpos_label\b=?": "--pos-label",
    r"\bmin_(count|per_class)\b": r"--min-\1",
    "rows_per_person": "--rows-per-person",
    "--min-per_class": "--min-per-class",
    "the parts have": "the files have",
    "y_score": "--score",
    "y_true": "--label",
    r"predict_proba\(X\).*": "a column of probabilities or scores",
}
# Columns and labels of the user's that are called like an argument
_QUOTED = re.compile(r"'(?:y_true|y_score|pos_label|min_count|min_per_class|rows_per_person)'")


def in_words(message: object, **names: str) -> str:
    """Return a message of the library for the command line; `names` replace arguments."""
    kept: list[str] = []

    def place_of(quoted: re.Match[str]) -> str:
        kept.append(quoted[0])
        return f"\0{len(kept) - 1}\0"

    said = _QUOTED.sub(place_of, str(message).removesuffix("."))
    for argument, name in names.items():
        said = said.replace(argument, _QUOTED.sub(place_of, name))
    for pattern, words in _WORDS.items():
        said = re.sub(pattern, words, said)
    return re.sub("\0(\\d+)\0", lambda place: kept[int(place[1])], said)


def check_file(path: str) -> None:
    if not os.path.isfile(path):
        wrong = "is no file" if os.path.exists(path) else "no such file"
        raise CommandError(f"{path}: {wrong}")


@contextlib.contextmanager
def refusals(*, read: str = "", written: str = "", **names: str) -> Iterator[None]:
    """Turn errors of the library, and of a file that is read or written, into a `CommandError`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        if written:
            raise OutputError(f"{written}: cannot be written: {reason}") from None
        raise CommandError(f"{read}: cannot be read: {reason}") from None
    except (ImportError, TypeError, ValueError) as error:
        raise CommandError(in_words(error, **names)) from None


def print_lines(lines: Iterable[str]) -> None:
    try:
        print("\n".join(map(_escaped, lines)), flush=True)
    except OSError as error:
        # Python would flush the buffer again at exit, and raise the same error.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise OutputError(f"standard output: cannot be written: {error.strerror}") from None


def print_message(kind: str, message: object) -> None:
    """Print a "warning" or an "error" to standard error, in one line."""
    print(f"{PROG}: {kind}: {_escaped(str(message))}", file=sys.stderr)


def _escaped(line: str) -> str:
    """Return the line with an escape for each character that is not printable."""
    if line.isprintable():
        return line
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in line
    )
