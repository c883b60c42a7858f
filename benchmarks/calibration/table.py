"""A table of the page: its columns, and the simulation of each line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Line(NamedTuple):
    """A line of a table.

    Attributes
    ----------
    name : str
    simulate : callable
        Called with the number of runs, the seed and the `arguments`; returns the line's numbers.
    arguments : tuple
    """

    name: str
    simulate: Callable[..., list[str]]
    arguments: tuple[Any, ...]


class Table(NamedTuple):
    """A table of the page.

    Attributes
    ----------
    title, text : str
    columns : list of str
        The name of a line, then its numbers. A column named "" is left out.
    lines : list of tuple
        Name, function and arguments of each `Line`.
    share : float
        Runs as a share of the runs asked for; below 1 if a run is expensive.
    coverage : sequence of str
        Columns with the coverage in % of 95 % intervals.
    error_rate : sequence of str
        Columns with the error rate in % of tests at 5 %.
    """

    title: str
    text: str
    columns: list[str]
    lines: list[tuple[str, Callable[..., list[str]], tuple[Any, ...]]]
    share: float = 1.0
    coverage: Sequence[str] = ()
    error_rate: Sequence[str] = ()

    @property
    def nominal(self) -> dict[str, float]:
        """Nominal rates in % of the columns that the documentation draws."""
        return dict.fromkeys(self.coverage, 95.0) | dict.fromkeys(self.error_rate, 5.0)
