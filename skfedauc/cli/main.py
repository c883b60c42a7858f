"""Run a command, and turn errors into messages and exit codes.

`main` imports the module of a command when the command runs, so ``--help`` is fast.
"""

from __future__ import annotations

import importlib
import io
import sys
import warnings
from collections.abc import Iterable, Sequence

import skfedauc
from skfedauc.cli import terminal
from skfedauc.cli.arguments import Arguments, parse


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the arguments of the process."""
    # A terminal may lack a character of a group's name.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        # In one line, without the line of code
        warnings.showwarning = lambda message, *_, **__: terminal.print_message(
            "warning", terminal.in_words(message)
        )
        warnings.simplefilter("default", UserWarning)
        try:
            _run(parse(argv))
        except terminal.CommandError as error:
            terminal.print_message("error", error)
            return error.exit_code
        except MemoryError:
            terminal.print_message(
                "error",
                "there is not enough memory; count the rows in parts, with "
                "ScoreCounts.from_batches in Python",
            )
            return 4
        except BrokenPipeError:
            return 141
        return 0


def _run(arguments: Arguments) -> None:
    """Print the command's lines; it writes the output files even if printing fails."""
    failure: Exception | None = None
    try:
        for lines in _output(arguments):
            if failure is not None:
                continue
            try:
                terminal.print_lines(lines)
            except (BrokenPipeError, terminal.OutputError) as error:
                failure = error
                if not arguments.outputs:
                    break
    except terminal.ToleranceError as error:
        failure = failure or error
    if failure is not None:
        raise failure


def _output(arguments: Arguments) -> Iterable[Sequence[str]]:
    # Each command is a function of its name.
    command = "version" if arguments.version else arguments.command or "demo"
    modules = {"demo": "demo", "count": "counts", "merge": "counts", "show": "counts"}
    modules["version"] = "main"
    module = importlib.import_module(f"skfedauc.cli.{modules.get(command, 'audit')}")
    lines: Iterable[Sequence[str]] = getattr(module, command)(arguments)
    return lines


def version(_: Arguments) -> Iterable[Sequence[str]]:
    from skfedauc import _kernel  # loads numpy

    yield [f"{terminal.PROG} {skfedauc.__version__} ({_kernel.name()} kernel)"]
