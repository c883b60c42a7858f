"""Measures of a ranking by group, in place of the AUC: ``GroupAUC.measured(measure)``.

A measure is computed from the ROC curve or from the precision-recall curve of a group. Functions
and scorers take measures as ``measure=``.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from skfedauc import _input, _words

__all__ = [
    "AveragePrecision",
    "Gini",
    "KolmogorovSmirnov",
    "Measure",
    "PartialAUC",
    "Sensitivity",
    "Specificity",
]


class Measure:
    """Base class of measures.

    Attributes
    ----------
    name : str
        Name of the measure in tables and scores.

    See Also
    --------
    GroupAUC.measured : Compute a measure by group, with intervals.

    Examples
    --------
    >>> from skfedauc.measures import Gini, Measure
    >>> isinstance(Gini(), Measure)
    True
    """

    name: ClassVar[str]

    @property
    def scale(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return 0.0, 1.0

    @property
    def is_auc(self) -> bool:
        """Whether the measure is the AUC on this scale."""
        return False


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class PartialAUC(Measure):
    """Partial AUC (pAUC): area under a part of the ROC curve, standardized as by McClish.

    Parameters
    ----------
    max_fpr : float, default=None
        Area from a false positive rate of 0 to ``max_fpr``, above 0 and at most 1.
    min_tpr : float, default=None
        Area to the right of the curve from a true positive rate of ``min_tpr`` to 1, at least 0 and
        below 1. One of the two parameters is required.

    Raises
    ------
    ValueError
        If both or none of the parameters are given, or a rate is not in its range.

    See Also
    --------
    GroupAUC.measured : Compute a measure by group, with intervals.
    sklearn.metrics.roc_auc_score : The same value for one group with ``max_fpr=``.

    Notes
    -----
    The area P up to a false positive rate e is standardized to
    ``(1 + (P - e**2 / 2) / (e - e**2 / 2)) / 2`` [1]_. The result is 0.5 if the scores are not
    informative, 1 if the true positive rate is 1 from the beginning, and ``(1 - e) / (2 - e)`` if
    the true positive rate is 0 up to e. Within a tie block the curve is a straight line. The value
    equals ``roc_auc_score(..., max_fpr=e)``.

    With ``min_tpr``, P is the integral of one minus the false positive rate over the true positive
    rates from ``min_tpr`` to 1 [2]_, and e is ``1 - min_tpr``. This is the partial area with
    ``max_fpr=1 - min_tpr`` of the reversed problem: negated scores and exchanged classes.

    References
    ----------
    .. [1] McClish, D. K. (1989). Analyzing a portion of the ROC curve. Medical Decision Making
       9(3). https://doi.org/10.1177/0272989X8900900307
    .. [2] Jiang, Y., Metz, C. E. and Nishikawa, R. M. (1996). A receiver operating characteristic
       partial area index for highly sensitive diagnostic tests. Radiology 201(3).
       https://doi.org/10.1148/radiology.201.3.8939225

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> from skfedauc.measures import PartialAUC
    >>> y, score = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(group_roc_auc_score(
    ...     y, score, groups=["a"] * 6, measure=PartialAUC(max_fpr=0.5)
    ... ), 4)
    0.8519
    """

    name: ClassVar[str] = "partial_auc"
    max_fpr: float | None = None
    min_tpr: float | None = None

    def __post_init__(self) -> None:
        if (self.max_fpr is None) == (self.min_tpr is None):
            raise ValueError(
                "PartialAUC takes either max_fpr, such as 0.1, or min_tpr, such as 0.9; got "
                f"max_fpr={_words.shortened(self.max_fpr)} and "
                f"min_tpr={_words.shortened(self.min_tpr)}."
            )
        name = "min_tpr" if self.max_fpr is None else "max_fpr"
        rate = getattr(self, name)
        is_in_range = _input.is_number(rate) and (
            0 <= rate < 1 if name == "min_tpr" else 0 < rate <= 1
        )
        if not is_in_range:
            ends = "at least 0 and below 1" if name == "min_tpr" else "above 0 and at most 1"
            raise ValueError(
                f"{name} must be a number {ends}; got {_words.shortened(rate)}.{_hint(rate)}"
            )
        object.__setattr__(self, name, float(rate))

    def __repr__(self) -> str:
        if self.max_fpr is not None:
            return f"PartialAUC(max_fpr={self.max_fpr!r})"
        return f"PartialAUC(min_tpr={self.min_tpr!r})"

    @property
    def width(self) -> float:
        """Length of the range of rates."""
        if self.max_fpr is not None:
            return self.max_fpr
        return 1.0 - (self.min_tpr or 0.0)

    @property
    def scale(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return (1.0 - self.width) / (2.0 - self.width), 1.0

    @property
    def is_auc(self) -> bool:
        """Whether the range covers the whole curve."""
        return self.width == 1.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sensitivity(Measure):
    """Sensitivity (recall, true positive rate) at a given specificity.

    Parameters
    ----------
    specificity : float
        Specificity, i.e. one minus the false positive rate, between 0 and 1.

    Raises
    ------
    ValueError
        If `specificity` is not between 0 and 1.

    See Also
    --------
    Specificity : Specificity at a given sensitivity.
    GroupAUC.measured : Compute a measure by group, with intervals.

    Notes
    -----
    The sensitivity is the height of the ROC curve at the false positive rate ``1 - specificity``:
    the highest height if the curve is vertical there. A tie block of both classes is a straight
    line, so the sensitivity within the block is interpolated. A threshold that is random within the
    block reaches this sensitivity. Each group has its own threshold.

    Intervals are Wilson's [1]_ with an effective number of positives. This number accounts for the
    sampling error of the threshold, which is estimated from the negatives [2]_ [3]_. The
    distribution of the threshold's false positive rate is approximated, instead of drawn by a
    bootstrap as in [3]_. An interval is extended to the limits of the mean sensitivity over this
    distribution. If less than one negative is expected above the threshold, the lower limit is 0.

    References
    ----------
    .. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
       inference. Journal of the American Statistical Association 22(158).
       https://doi.org/10.1080/01621459.1927.10502953
    .. [2] Linnet, K. (1987). Comparison of quantitative diagnostic tests: type I error, power, and
       sample size. Statistics in Medicine 6(2). https://doi.org/10.1002/sim.4780060207
    .. [3] Platt, R. W., Hanley, J. A. and Yang, H. (2000). Bootstrap confidence intervals for the
       sensitivity of a quantitative diagnostic test. Statistics in Medicine 19(3).

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> from skfedauc.measures import Sensitivity
    >>> y, score = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(group_roc_auc_score(
    ...     y, score, groups=["a"] * 6, measure=Sensitivity(specificity=0.9)
    ... ), 4)
    0.6667
    """

    name: ClassVar[str] = "sensitivity"
    specificity: float

    def __post_init__(self) -> None:
        _check_rate(self, "specificity", self.specificity)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Specificity(Measure):
    """Specificity (one minus the false positive rate) at a given sensitivity.

    Parameters
    ----------
    sensitivity : float
        Sensitivity, i.e. the true positive rate, between 0 and 1.

    Raises
    ------
    ValueError
        If `sensitivity` is not between 0 and 1.

    See Also
    --------
    Sensitivity : Sensitivity at a given specificity. Its notes describe ties and intervals.
    GroupAUC.measured : Compute a measure by group, with intervals.

    Notes
    -----
    With 20 positives, the threshold of a sensitivity of .9 is uncertain: about two positives are
    below it. Intervals with a confidence level of 95 % then have a coverage of 90 to 95 %.

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> from skfedauc.measures import Specificity
    >>> y, score = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(group_roc_auc_score(
    ...     y, score, groups=["a"] * 6, measure=Specificity(sensitivity=0.9)
    ... ), 4)
    0.6667
    """

    name: ClassVar[str] = "specificity"
    sensitivity: float

    def __post_init__(self) -> None:
        _check_rate(self, "sensitivity", self.sensitivity)


@dataclasses.dataclass(frozen=True)
class AveragePrecision(Measure):
    """Average precision (PR-AUC), a summary of the precision-recall curve.

    See Also
    --------
    GroupAUC.measured : Compute a measure by group, with intervals.
    sklearn.metrics.average_precision_score : The same value for one group.

    Notes
    -----
    The average precision is the sum over distinct scores of the precision at the score, times the
    increase of the recall. Rows with equal scores are predicted together, without interpolation.
    The value equals `sklearn.metrics.average_precision_score`, but a group without negatives has no
    value here.

    The average precision of scores that are not informative is approximately the share of
    positives. Groups with unequal shares of positives are therefore not comparable. Intervals are
    limits on the logit scale [1]_, with a variance from influence values. The share of positives is
    fixed.

    References
    ----------
    .. [1] Boyd, K., Eng, K. H. and Page, C. D. (2013). Area under the precision-recall curve: point
       estimates and confidence intervals. ECML PKDD.
       https://doi.org/10.1007/978-3-642-40994-3_29

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> from skfedauc.measures import AveragePrecision
    >>> y, score = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(group_roc_auc_score(y, score, groups=["a"] * 6, measure=AveragePrecision()), 4)
    0.9167
    """

    name: ClassVar[str] = "average_precision"


@dataclasses.dataclass(frozen=True)
class Gini(Measure):
    """Gini coefficient of the ROC curve: twice the AUC, minus one.

    See Also
    --------
    GroupAUC.measured : Compute a measure by group, with intervals.

    Notes
    -----
    The Gini coefficient is also called accuracy ratio or Somers' D. Intervals follow from the
    intervals of the AUC.

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> from skfedauc.measures import Gini
    >>> group_roc_auc_score(
    ...     [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], groups=["a"] * 4, measure=Gini()
    ... )
    0.5
    """

    name: ClassVar[str] = "gini"

    @property
    def scale(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return -1.0, 1.0

    @property
    def is_auc(self) -> bool:
        """Whether the measure is the AUC on this scale."""
        return True


@dataclasses.dataclass(frozen=True)
class KolmogorovSmirnov(Measure):
    """Kolmogorov-Smirnov distance between the scores of positives and negatives (KS).

    See Also
    --------
    GroupAUC.measured : Compute a measure by group.
    scipy.stats.ks_2samp : The same value for one group without weights.

    Notes
    -----
    The distance is the largest absolute difference between the true and the false positive rate at
    one threshold. Sampling error alone makes the distance positive, so small groups have larger
    distances. A model that ranks all negatives above all positives also has the distance 1.

    Intervals hold for any distribution of the scores: McDiarmid's inequality [1]_ limits the
    difference between the distance and its expectation, and Massart's inequality [2]_ limits the
    difference between the expectation and the true distance. These intervals are wide. With
    weights, they are approximate. There is no interval for new groups.

    References
    ----------
    .. [1] McDiarmid, C. (1989). On the method of bounded differences. Surveys in Combinatorics.
       https://doi.org/10.1017/CBO9781107359949.008
    .. [2] Massart, P. (1990). The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality.
       Annals of Probability 18(3). https://doi.org/10.1214/aop/1176990746

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> from skfedauc.measures import KolmogorovSmirnov
    >>> group_roc_auc_score(
    ...     [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], groups=["a"] * 4, measure=KolmogorovSmirnov()
    ... )
    0.5
    """

    name: ClassVar[str] = "ks"


def _check_rate(measure: Measure, name: str, rate: Any) -> None:
    try:
        object.__setattr__(measure, name, _input.check_share(rate, name))
    except ValueError as error:
        raise ValueError(f"{error}{_hint(rate)}") from None


def _hint(rate: Any) -> str:
    is_percentage = _input.is_number(rate) and 1 < rate < 100
    return f" Pass {rate / 100:g} for {rate:g} %." if is_percentage else ""


def check_measure(measure: Any) -> Measure:
    """Return the measure after checking its type."""
    if not isinstance(measure, Measure):
        raise TypeError(
            "measure must be a measure of skfedauc.measures, such as PartialAUC(max_fpr=0.1) or "
            f"AveragePrecision(); got {_words.described(measure)}."
        )
    return measure
