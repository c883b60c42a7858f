"""Measures of a ranking by group, in place of the AUC: ``measure=`` of reports and scorers.

The value of a measure follows from the ROC curve or from the precision-recall curve of a group.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from skfedauc import _input, _words

__all__ = ["AveragePrecision", "Measure", "PartialAUC", "Sensitivity", "Specificity"]


@dataclasses.dataclass(frozen=True)
class Measure:
    """Base class for measures.

    See Also
    --------
    GroupAUC : Reports on a measure by group, with intervals.

    Examples
    --------
    >>> from skfedauc.measures import AveragePrecision, Measure, PartialAUC, Sensitivity
    >>> isinstance(AveragePrecision(), Measure)
    True
    >>> PartialAUC(max_fpr=0.1).name, Sensitivity(specificity=0.9).name
    ('partial_auc_max_fpr_0.1', 'sensitivity_at_0.9')
    """

    _name: ClassVar[str]
    _methods: ClassVar[tuple[str, ...]] = ("logit",)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            share = _input.check_share(getattr(self, field.name), field.name)
            object.__setattr__(self, field.name, share)

    @property
    def name(self) -> str:
        """The measure's name in tables and scores, with its parameter."""
        parameters = [str(getattr(self, field.name)) for field in dataclasses.fields(self)]
        return "_at_".join([self._name, *parameters])

    @property
    def title(self) -> str:
        """The measure in sentences and headings."""
        name = self._name.replace("_", " ")
        at = [f" at {of.name} {getattr(self, of.name):g}" for of in dataclasses.fields(self)]
        return "".join([name, *at])

    @property
    def scale(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return 0.0, 1.0

    @property
    def methods(self) -> tuple[Any, ...]:
        """Its interval methods; the first is the default."""
        return ("logit", "delong", "exact") if self.is_auc else self._methods

    @property
    def is_auc(self) -> bool:
        """True if the values are those of the AUC."""
        return False


@dataclasses.dataclass(frozen=True)
class AUC(Measure):
    """Area under the ROC curve (AUC), the measure of a report without another one."""

    _name = "auc"
    title = "AUC"
    is_auc = True


_AUC = AUC()


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class PartialAUC(Measure):
    """Partial AUC (pAUC): area under part of the ROC curve, standardized as by McClish.

    Parameters
    ----------
    max_fpr : float, default=None
        Area from a false positive rate of 0 to ``max_fpr``, above 0 and at most 1.
    min_tpr : float, default=None
        Area to the right of the curve from a true positive rate of ``min_tpr`` to 1, at least 0 and
        below 1. Pass exactly one of the two parameters.

    Raises
    ------
    ValueError
        Without exactly one of the two parameters, or if a rate is not in its range.

    See Also
    --------
    sklearn.metrics.roc_auc_score : The same value for one group with ``max_fpr=``.

    Notes
    -----
    With the area P up to a false positive rate e, the value is ``(1 + (P - e**2 / 2) / (e - e**2 /
    2)) / 2`` [1]_: 0.5 for scores without information, 1 for perfect separation, and at least ``(1
    - e) / (2 - e)``. With ``min_tpr``, it is the area with ``max_fpr=1 - min_tpr`` of negated
    scores and exchanged classes [2]_. Tied rows are a straight line of the curve. With fewer than
    36 negatives for ``max_fpr=0.1``, the lower limit is the smallest possible value, because few
    negatives within ``max_fpr`` make the area too large on average.

    References
    ----------
    .. [1] McClish (1989). Medical Decision Making 9(3).
       https://doi.org/10.1177/0272989X8900900307
    .. [2] Jiang, Metz and Nishikawa (1996). Radiology 201(3).
       https://doi.org/10.1148/radiology.201.3.8939225

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> from skfedauc.measures import PartialAUC
    >>> y, score, measure = [0, 0, 1, 0, 1, 1], range(6), PartialAUC(max_fpr=0.5)
    >>> round(group_roc_auc_score(y, score, groups=["a"] * 6, measure=measure), 4)
    0.8519
    """

    _name: ClassVar[str] = "partial_auc"
    max_fpr: float | None = None
    min_tpr: float | None = None

    def __post_init__(self) -> None:
        if (self.max_fpr is None) == (self.min_tpr is None):
            raise ValueError(
                "PartialAUC takes either max_fpr, such as 0.1, or min_tpr, such as 0.9; got "
                f"max_fpr={_words.shortened(self.max_fpr)} and "
                f"min_tpr={_words.shortened(self.min_tpr)}."
            )
        ends = {"at_least": 0, "below": 1} if self.max_fpr is None else {"above": 0, "at_most": 1}
        rate = getattr(self, self._parameter)
        rate = _input.check_number(rate, self._parameter, **ends, hint=" Pass 0.1 for 10 %.")
        object.__setattr__(self, self._parameter, rate)

    @property
    def _parameter(self) -> str:
        return "min_tpr" if self.max_fpr is None else "max_fpr"

    def __repr__(self) -> str:
        return f"PartialAUC({self._parameter}={getattr(self, self._parameter)!r})"

    @property
    def name(self) -> str:
        """The measure's name in tables and scores, with its parameter."""
        return f"{self._name}_{self._parameter}_{getattr(self, self._parameter)}"

    @property
    def title(self) -> str:
        """The measure in sentences and headings."""
        rate = "TPR from" if self.max_fpr is None else "FPR up to"
        return f"partial AUC ({rate} {getattr(self, self._parameter):g})"

    @property
    def width(self) -> float:
        """Length of the range of rates."""
        return 1.0 - (self.min_tpr or 0.0) if self.max_fpr is None else self.max_fpr

    @property
    def scale(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return (1.0 - self.width) / (2.0 - self.width), 1.0

    @property
    def is_auc(self) -> bool:
        """True if the range covers the whole curve."""
        return self.width == 1.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sensitivity(Measure):
    """Sensitivity (recall, true positive rate) at a given specificity.

    Parameters
    ----------
    specificity : float
        Specificity, i.e. one minus the false positive rate, between 0 and 1.

    See Also
    --------
    Specificity : Specificity at a given sensitivity.

    Notes
    -----
    The sensitivity is the highest point of the ROC curve at the false positive rate ``1 -
    specificity``, so each group has its own threshold. Tied rows are a straight line of the curve.
    Intervals are Wilson's with an effective number of positives [1]_. The lower limit allows for
    the bias from few negatives [2]_: it is small with fewer than 36 negatives for a specificity of
    .9, and 0 if fewer than one negative is expected above the threshold.

    References
    ----------
    .. [1] Linnet (1987). Statistics in Medicine 6(2). https://doi.org/10.1002/sim.4780060207
    .. [2] Zou and Donner (2008). Statistics in Medicine 27(10). https://doi.org/10.1002/sim.3095

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> from skfedauc.measures import Sensitivity
    >>> y, score, measure = [0, 0, 1, 0, 1, 1], range(6), Sensitivity(specificity=0.9)
    >>> round(group_roc_auc_score(y, score, groups=["a"] * 6, measure=measure), 4)
    0.6667
    """

    _name: ClassVar[str] = "sensitivity"
    _methods: ClassVar[tuple[str, ...]] = ("wilson",)
    specificity: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Specificity(Measure):
    """Specificity (one minus the false positive rate) at a given sensitivity.

    Parameters
    ----------
    sensitivity : float
        Sensitivity, i.e. the true positive rate, between 0 and 1.

    See Also
    --------
    Sensitivity : Sensitivity at a given specificity, with notes on ties and intervals.

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> from skfedauc.measures import Specificity
    >>> y, score, measure = [0, 0, 1, 0, 1, 1], range(6), Specificity(sensitivity=0.9)
    >>> round(group_roc_auc_score(y, score, groups=["a"] * 6, measure=measure), 4)
    0.6667
    """

    _name: ClassVar[str] = "specificity"
    _methods: ClassVar[tuple[str, ...]] = ("wilson",)
    sensitivity: float


@dataclasses.dataclass(frozen=True)
class AveragePrecision(Measure):
    """Average precision (PR-AUC), a summary of the precision-recall curve.

    See Also
    --------
    sklearn.metrics.average_precision_score : The same value for one group.

    Notes
    -----
    The value is the sum over distinct scores of the precision at the score, times the increase of
    the recall, without interpolation; without information, it is about the share of positives, so
    groups with unequal shares are not comparable. A group without negatives has no value. Limits
    are on the logit scale [1]_, for a fixed share of positives. `GroupAUC.test_difference` erred in
    0 to 8 % of runs at 5 % (2 to 20 groups of 10 to 200 positives; other measures 0 to 5 %).

    References
    ----------
    .. [1] Boyd, Eng and Page (2013). ECML PKDD. https://doi.org/10.1007/978-3-642-40994-3_29

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> from skfedauc.measures import AveragePrecision
    >>> y, score, measure = [0, 0, 1, 0, 1, 1], range(6), AveragePrecision()
    >>> round(group_roc_auc_score(y, score, groups=["a"] * 6, measure=measure), 4)
    0.9167
    """

    _name: ClassVar[str] = "average_precision"


def check_measure(measure: Measure | None) -> Measure:
    """Return the measure after checking its type; None means the AUC."""
    if measure is None:
        return _AUC
    must_be = "measure must be a measure of skfedauc.measures, such as PartialAUC(max_fpr=0.1)"
    _input.check_type(measure, Measure, f"{must_be} or AveragePrecision()")
    return measure
