"""Counting of validated rows in memory."""

from __future__ import annotations

import functools

from skfedauc import _input
from skfedauc import _kernel as kernel
from skfedauc.counts.origin import Origin
from skfedauc.counts.state import State

# From this many rows on, warn if the compiled kernel is not available.
_MANY_ROWS = 10_000_000


def count_rows(
    rows: _input.Rows, n_jobs: int | None = None, group_names: tuple[str, ...] = ()
) -> State:
    """Count rows by group and score.

    Parameters
    ----------
    rows : Rows
        Validated rows.
    n_jobs : int, default=None
        Number of threads.
    group_names : tuple of str, default=()
        Names of the group columns.
    """
    n_jobs = _input.check_n_jobs(n_jobs)
    n_groups = 1 if rows.labels is None else rows.labels.size
    if rows.scores.size >= _MANY_ROWS and kernel.name() == "numpy":
        _warn_of_slow_kernel()
    cells = kernel.count_rows(
        rows.scores, rows.positive, rows.codes, n_groups, rows.weights, n_jobs
    )
    origin = Origin(rows.n_missing, group_names, rows.classes, orders=rows.orders)
    return State(cells, rows.labels, origin)


@functools.cache
def _warn_of_slow_kernel() -> None:
    _input.warn(
        "skfedauc was installed without its compiled part and counts rows in numpy, several times "
        "slower. Install it where there is a C++ compiler, or from a wheel for this platform; "
        "skfedauc.show_versions() tells which kernel is in use.",
        RuntimeWarning,
    )
