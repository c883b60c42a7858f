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


class Plot(NamedTuple):
    """A plot of columns of a table, which have one axis.

    Attributes
    ----------
    axis : str
        Name of the axis.
    columns : sequence of str
    nominal : float or None
        The value that the cells should have.
    is_rate : bool
        Whether the cells are shares of runs in %, so that the number of runs gives their sampling
        error at the nominal value.
    """

    axis: str
    columns: Sequence[str]
    nominal: float | None = None
    is_rate: bool = False


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
    others : sequence of Plot
        Plots of other columns.
    """

    title: str
    text: str
    columns: list[str]
    lines: list[tuple[str, Callable[..., list[str]], tuple[Any, ...]]]
    share: float = 1.0
    coverage: Sequence[str] = ()
    error_rate: Sequence[str] = ()
    others: Sequence[Plot] = ()

    @property
    def plots(self) -> list[Plot]:
        """The plots that the documentation draws of the table."""
        rates = [
            Plot("Coverage in %", self.coverage, 95.0, True),
            Plot("Error rate in %", self.error_rate, 5.0, True),
        ]
        return [plot for plot in (*rates, *self.others) if plot.columns]
