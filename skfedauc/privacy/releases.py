"""Releases of counts with differential privacy, and a record of the releases of this process."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.counts import ScoreCounts
from skfedauc.privacy.laplace import variance_of


class Release(NamedTuple):
    """Release of counts: one drawing of noise at a site.

    Attributes
    ----------
    identifier : str
        128 random bits as 32 hexadecimal digits.
    name : str or None
        Name given as ``source=``.
    epsilon : float
        Privacy loss for one person with at most `rows_per_person` rows.
    rows_per_person : int
        Number of rows whose addition or removal epsilon covers.
    groups : tuple
        Labels of the groups whose counts are in the release; empty without groups.
    """

    identifier: str
    name: str | None
    epsilon: float
    rows_per_person: int
    groups: tuple[Any, ...]

    @property
    def protected(self) -> str:
        """What epsilon protects, in words."""
        k = self.rows_per_person
        return "one row" if k == 1 else f"one person with at most {k:,} rows"

    @property
    def variance(self) -> float:
        """Variance of the noise of each count."""
        return variance_of(self.rows_per_person / self.epsilon)


class Ledger:
    """Privacy loss of each row by the releases of this process, by fingerprints of the counts.

    A fingerprint is the SHA-256 of the scores or bins and of the counts at them, for each group
    and for all rows without their groups.
    """

    def __init__(self) -> None:
        self._spent: dict[bytes, float] = {}
        self._lock = threading.Lock()

    def spend(
        self, counts: ScoreCounts, binned: ScoreCounts, epsilon: float, rows_per_person: int
    ) -> None:
        """Record a release, and warn if the same counts were released before.

        Parameters
        ----------
        counts, binned : ScoreCounts
            The counts before binning, and the same counts by bin.
        epsilon : float
            Privacy loss of the release.
        rows_per_person : int
            Number of rows that epsilon covers.
        """
        own = epsilon / rows_per_person
        prints = {*_fingerprints(counts), *_fingerprints(binned)}
        with self._lock:
            before = max((self._spent.get(key, 0.0) for key in prints), default=0.0)
            for key in prints:
                self._spent[key] = self._spent.get(key, 0.0) + own
        if before:
            total, earlier = (rows_per_person * spent for spent in (before + own, before))
            _input.warn(
                "counts equal to these, of all rows or of one group, were released before in this "
                f"process with epsilon {earlier:.6g}. If they are the same rows, the privacy loss "
                f"of both releases together is epsilon {total:.6g}. Draw the noise once, and send "
                "the same file again.",
                UserWarning,
            )


# Releases of this process; releases of forked processes and of later processes are not recorded.
LEDGER = Ledger()


def _fingerprints(counts: ScoreCounts) -> list[bytes]:
    """Return the fingerprints of all rows and of each group with its label."""
    starts, scores, negatives, positives, _ = counts.cells
    if not scores.size:
        return []
    _, *of_all, _ = counts.without_groups().cells
    found = [_fingerprint("", *of_all)]
    for g, label in enumerate(counts.groups or ()):
        of_group = slice(starts[g], starts[g + 1])
        arrays = scores[of_group], negatives[of_group], positives[of_group]
        found.append(_fingerprint(repr(label), *arrays))
    return found


def _fingerprint(label: str, scores: NDArray[Any], *counts: NDArray[Any]) -> bytes:
    digest = hashlib.sha256(json.dumps([label, scores.size]).encode())
    digest.update(np.ascontiguousarray(scores).data)
    for of_class in counts:
        digest.update(of_class.astype(np.int64).data)
    return digest.digest()
