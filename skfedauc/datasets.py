"""Simulated data with known AUCs: devices with normal scores, and evenly spaced scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from sklearn.utils import Bunch

from skfedauc import _input, _words
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import Floats
from skfedauc.counts.score_counts import view_of

__all__ = ["make_group_scores", "make_uniform_scores"]

Counts = NDArray[np.intp]
Case = Literal["identical", "same_negatives", "same_positives", "different"]


def make_group_scores(
    case: Case,
    n_positives: int | ArrayLike = 500,
    n_negatives: int | ArrayLike = 500,
    *,
    shifts: Sequence[float] | ArrayLike = (-0.75, -0.25, 0.25, 0.75),
    separation: float = 1.0,
    random_state: Any = None,
) -> Bunch:
    """Simulate rows in several devices with normal scores and known AUCs.

    A device is a group. `case` determines which averages of the group AUCs equal the pooled AUC.

    Parameters
    ----------
    case : {"identical", "same_negatives", "same_positives", "different"}
        Classes with equal score distributions on all devices. Scores are normal with standard
        deviation 1. The mean is 0 for negatives and `separation` for positives, plus the shift of
        the device in some cases. "different" shifts both classes, and "identical" shifts no class.
        "same_negatives" shifts positives, and "same_positives" shifts negatives.
    n_positives, n_negatives : int or int array-like, shape (n_devices,), default=500
        Number of rows in each class: one number for all devices, or one number for each device.
    shifts : float array-like, shape (n_devices,), default=(-0.75, -0.25, 0.25, 0.75)
        Shift of each of at least two devices, in standard deviations. The "identical" case uses
        only the number of shifts.
    separation : float, default=1.0
        Mean of the positives minus mean of the negatives without shifts, in standard deviations.
        The AUC is then ``Phi(separation / sqrt(2))``, 0.760 for the default.
    random_state : int, RandomState instance or None, default=None
        Seed of the scores and of the order of the rows.

    Returns
    -------
    sklearn.utils.Bunch
        ``y_true``, int64 array, shape (n_rows,): 0 and 1.

        ``y_score``, float64 array, shape (n_rows,).

        ``groups``, str array, shape (n_rows,): "device 1" and so on. With ten or more devices,
        labels such as "device 01" have leading zeros, so sorting keeps the order of the devices.

        ``population``, dict: the true AUCs, to which those of the rows converge as their number
        increases. The keys are the names in `GroupAUC`. The values of "pooled",
        "macro", "samples", "positives", "negatives", "within", "worst", "ratio", "cross",
        "difference" and "cross_difference" are floats. "by_group" is an ndarray of shape
        (n_devices,). "cross_matrix" is an ndarray, shape (n_devices, n_devices); rows are the
        devices of the positives.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    See Also
    --------
    make_uniform_scores : Make evenly spaced scores with a chosen AUC.

    Notes
    -----
    A positive of device g outranks a negative of device h with probability
    ``Phi((mu+_g - mu-_h) / sqrt(2))``. Here ``mu`` are the means of the scores, and Phi is the
    normal distribution function [1]_.

    If negatives have the same scores on all devices, the average by positives equals the pooled AUC
    [2]_; if positives do, the average by negatives. Equal class counts hide the differences between
    averages: pass unequal counts.

    References
    ----------
    .. [1] Bamber, D. (1975). The area above the ordinal dominance graph and the area below
       the receiver operating characteristic graph. Journal of Mathematical Psychology 12(4).
       https://doi.org/10.1016/0022-2496(75)90001-2
    .. [2] Janes, H. and Pepe, M. S. (2009). Adjusting for covariate effects on
       classification accuracy using the covariate-adjusted ROC curve. Biometrika 96(2).
       https://doi.org/10.1093/biomet/asp002

    Examples
    --------
    >>> from skfedauc.datasets import make_group_scores
    >>> devices = make_group_scores(
    ...     "same_negatives", [800, 400, 200, 100], [100, 300, 600, 1000], random_state=0
    ... )
    >>> known = devices.population
    >>> round(known["pooled"], 3), round(known["positives"], 3), round(known["macro"], 3)
    (0.659, 0.659, 0.744)
    """
    _input.check_option("case", case, get_args(Case))
    shift = _input.check_scores(shifts, "shifts")
    if shift.size < 2:
        raise ValueError(
            "shifts must have one number for each of two or more devices; got "
            f"{_words.shortened(shifts)}."
        )
    separation = _input.check_number(separation, "separation")
    positives = _counts_of_devices(n_positives, "n_positives", shift.size)
    negatives = _counts_of_devices(n_negatives, "n_negatives", shift.size)
    random = _input.check_random_state(random_state)

    mean_positive = separation + shift * (case in ("same_negatives", "different"))
    mean_negative = shift * (case in ("same_positives", "different"))
    counts = np.concatenate([positives, negatives])
    y_true = np.repeat([1, 0], [positives.sum(), negatives.sum()]).astype(np.int64)
    y_score = np.repeat(np.concatenate([mean_positive, mean_negative]), counts)
    y_score += random.standard_normal(y_score.size)
    width = len(str(shift.size))
    labels = np.array([f"device {number:0{width}}" for number in range(1, shift.size + 1)])
    groups = np.repeat(np.tile(labels, 2), counts)
    order = random.permutation(y_true.size)
    return Bunch(
        y_true=y_true[order],
        y_score=y_score[order],
        groups=groups[order],
        population=_population(mean_positive, mean_negative, positives, negatives),
    )


def make_uniform_scores(
    auc: float, n_samples: int, prevalence: float, *, random_state: Any = None
) -> Bunch:
    """Make evenly spaced scores with a chosen AUC, for drawing test sets.

    Parameters
    ----------
    auc : float
        AUC of the population from 0.5 to 1, which is the limit for infinitely many rows.
    n_samples : int
        Row count, at least 2.
    prevalence : float
        Share of positives, between 0 and 1. The rounded number of positives is at least one and at
        most ``n_samples - 1``.
    random_state : int, RandomState instance or None, default=None
        Seed for the row order. The set of scores does not depend on the seed.

    Returns
    -------
    sklearn.utils.Bunch
        ``y_true``, int64 array, shape (n_samples,): 0 and 1.

        ``y_score``, float64 array, shape (n_samples,).

        ``auc``, float: the exact AUC of these rows, in which a tie counts one half. The exact AUC
        converges to the parameter `auc` as the number of rows increases.

        ``n_positives``, ``n_negatives``, int.

    Raises
    ------
    ValueError
        If an argument is not as described.

    See Also
    --------
    make_group_scores : Simulate rows in several devices with normal scores.

    Notes
    -----
    Negatives have even spacing over [0, 1], and positives over [a, 1], with ``a = 2 * auc - 1``. A
    share a of the negatives is below every positive. A positive is above each other negative with
    probability one half. The AUC is therefore ``a + (1 - a) / 2``.

    The n rows in a class are at the midpoints of n equal parts of the interval, and none at an end,
    where a positive would tie with a negative.

    Examples
    --------
    >>> from skfedauc.datasets import make_uniform_scores
    >>> universe = make_uniform_scores(0.8, 1000, 0.05, random_state=0)
    >>> universe.n_positives, universe.n_negatives, round(universe.auc, 6)
    (50, 950, 0.8)
    >>> make_uniform_scores(0.75, 4, 0.5).auc
    0.75
    """
    auc = _input.check_number(
        auc, "auc", at_least=0.5, at_most=1, hint=" For an AUC below 0.5, negate the scores."
    )
    n_samples = _input.check_whole_number(n_samples, "n_samples", 2, _input.MOST_ROWS)
    prevalence = _input.check_share(prevalence, "prevalence")
    n_positives = min(max(round(n_samples * prevalence), 1), n_samples - 1)
    n_negatives = n_samples - n_positives

    lowest = 2.0 * auc - 1.0
    y_true = np.repeat([1, 0], [n_positives, n_negatives]).astype(np.int64)
    y_score = np.concatenate(
        [lowest + (1.0 - lowest) * _middles(n_positives), _middles(n_negatives)]
    )
    order = _input.check_random_state(random_state).permutation(n_samples)
    # The negatives' scores are never 0 or 1, so the scores do not look like labels.
    (u2,) = view_of(ScoreCounts.from_predictions(y_true, y_score)).concordance.u2.tolist()
    return Bunch(
        y_true=y_true[order],
        y_score=y_score[order],
        auc=u2 / (2 * n_positives * n_negatives),
        n_positives=n_positives,
        n_negatives=n_negatives,
    )


def _counts_of_devices(counts: Any, name: str, n_devices: int) -> Counts:
    """Return the number of rows in each device from one number, or from one per device."""
    with _input.named(name):
        is_number = np.ndim(counts) == 0
    if is_number:
        return np.full(n_devices, _input.check_whole_number(counts, name), np.intp)
    of_device = _input.check_counts(counts, name)
    if of_device.size != n_devices or of_device.min() < 1:
        raise ValueError(
            f"{name} must be 1 or more for all devices, or {n_devices} such numbers, one for each "
            f"shift; got {of_device.tolist()}."
        )
    return of_device.astype(np.intp, copy=False)


def _population(
    mean_positive: Floats, mean_negative: Floats, positives: Counts, negatives: Counts
) -> dict[str, Any]:
    """Return the true AUCs by the normal distribution function."""
    matrix = ndtr((mean_positive[:, None] - mean_negative) / np.sqrt(2.0))
    auc = np.diag(matrix).copy()
    pairs = np.outer(positives, negatives).astype(np.float64)
    across = pairs * ~np.eye(auc.size, dtype=np.bool_)
    weights = {
        "macro": np.ones(auc.size),
        "samples": positives + negatives,
        "positives": positives,
        "negatives": negatives,
        "within": np.diag(pairs),
    }
    return {
        "pooled": float(np.average(matrix, weights=pairs)),
        **{name: float(np.average(auc, weights=weight)) for name, weight in weights.items()},
        "worst": float(auc.min()),
        "ratio": float(auc.min() / auc.max()),
        "cross": float(np.average(matrix, weights=across)),
        "difference": float(auc.max() - auc.min()),
        "cross_difference": float(np.abs(matrix - matrix.T).max()),
        "by_group": auc,
        "cross_matrix": matrix,
    }


def _middles(n_parts: int) -> Floats:
    """Return the midpoints of `n_parts` equal parts of the interval from 0 to 1."""
    return (np.arange(n_parts) + 0.5) / n_parts
