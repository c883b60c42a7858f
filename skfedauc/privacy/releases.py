"""Releases of counts with differential privacy."""

from __future__ import annotations

from typing import Any, NamedTuple

from skfedauc.privacy.laplace import variance_of


class Release(NamedTuple):
    """Release of counts: one draw of noise at a site.

    Attributes
    ----------
    identifier : str
        128 random bits as 32 hexadecimal digits.
    name : str or None
        Value of the argument ``source=``.
    epsilon : float
        Privacy loss for one person with at most `rows_per_person` rows.
    rows_per_person : int
        Largest number of rows of one person; epsilon covers the addition or removal of these rows.
    groups : tuple
        Labels of the groups whose counts are in the release, or empty without groups.
    """

    identifier: str
    name: str | None
    epsilon: float
    rows_per_person: int
    groups: tuple[Any, ...]

    @property
    def protected(self) -> str:
        """Description of the rows that epsilon protects, such as "one row"."""
        k = self.rows_per_person
        return "one row" if k == 1 else f"one person with at most {k:,} rows"

    @property
    def variance(self) -> float:
        """Variance of the noise of each count."""
        return variance_of(self.rows_per_person / self.epsilon)
