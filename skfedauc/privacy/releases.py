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


class Ledger:
    """Ledger of the privacy loss from the releases of this process, by fingerprints of the counts.

    A fingerprint is the SHA-256 of scores or bins with their counts, for each group and for all
    rows without groups. The fingerprints before and after binning describe the same rows. The
    ledger therefore treats both fingerprints of a release as one. A release spends epsilon on all
    its rows. The privacy loss of a group is the sum over all releases with the group.
    """

    def __init__(self) -> None:
        # Union-find: from a fingerprint to another fingerprint of the same rows
        self._same: dict[bytes, bytes] = {}
        self._spent: dict[bytes, float] = {}  # by fingerprint of all rows of a release
        self._groups: dict[bytes, set[bytes]] = {}  # groups by fingerprint of all rows
        self._wholes: dict[bytes, set[bytes]] = {}  # all rows by fingerprint of a group
        self._lock = threading.Lock()

    def spend(
        self, counts: ScoreCounts, binned: ScoreCounts, epsilon: float, rows_per_person: int
    ) -> None:
        """Record a release, and warn if the process has released the same counts before.

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
        prints = [*zip(_fingerprints(counts), _fingerprints(binned), strict=True)]
        if not prints:
            return
        with self._lock:
            whole, *groups = (self._joined(*pair) for pair in prints)
            for group in groups:
                self._groups.setdefault(whole, set()).add(group)
                self._wholes.setdefault(group, set()).add(whole)
            before = self._spent_on(whole)
            self._spent[whole] = self._spent.get(whole, 0.0) + own
        if before:
            total, earlier = (rows_per_person * spent for spent in (before + own, before))
            _input.warn(
                "counts equal to these, of all rows or of one group, were released before in this "
                f"process with epsilon {earlier:.6g}. If they are the same rows, the privacy loss "
                f"of all these releases together is epsilon {total:.6g}. Draw the noise once, and "
                "send the same file again.",
                UserWarning,
            )

    def _spent_on(self, whole: bytes) -> float:
        """Return the largest privacy loss of these rows by group, or the total without groups."""
        releases = [self._wholes[group] for group in self._groups.get(whole, ())] or [{whole}]
        return max(sum(self._spent.get(key, 0.0) for key in keys) for keys in releases)

    def _joined(self, exact: bytes, binned: bytes) -> bytes:
        """Record that two fingerprints have the same rows, and return the joint key."""
        kept, other = self._key_of(exact), self._key_of(binned)
        if other != kept:
            self._same[other] = kept
            if other in self._spent:
                self._spent[kept] = self._spent.get(kept, 0.0) + self._spent.pop(other)
            _replace(self._groups, self._wholes, other, kept)
            _replace(self._wholes, self._groups, other, kept)
        return kept

    def _key_of(self, fingerprint: bytes) -> bytes:
        while fingerprint in self._same:
            fingerprint = self._same[fingerprint]
        return fingerprint


def _replace(
    found: dict[bytes, set[bytes]], inverse: dict[bytes, set[bytes]], old: bytes, new: bytes
) -> None:
    """Replace a key of a relation and of the inverse relation."""
    for value in found.pop(old, ()):
        found.setdefault(new, set()).add(value)
        inverse[value].discard(old)
        inverse[value].add(new)


# Releases of this process; forked and later processes have separate ledgers
LEDGER = Ledger()


def _fingerprints(counts: ScoreCounts) -> list[bytes]:
    """Return the fingerprints of all rows, and of each group with rows, including the label."""
    starts, scores, negatives, positives, _ = counts.cells
    if not scores.size:
        return []
    _, *of_all, _ = counts.without_groups().cells
    found = [_fingerprint("", *of_all)]
    for g, label in enumerate(counts.groups or ()):
        of_group = slice(starts[g], starts[g + 1])
        if starts[g] < starts[g + 1]:
            arrays = scores[of_group], negatives[of_group], positives[of_group]
            found.append(_fingerprint(repr(label), *arrays))
    return found


def _fingerprint(label: str, scores: NDArray[Any], *counts: NDArray[Any]) -> bytes:
    digest = hashlib.sha256(json.dumps([label, scores.size]).encode())
    digest.update(np.ascontiguousarray(scores).data)
    for of_class in counts:
        digest.update(of_class.astype(np.int64).data)
    return digest.digest()
