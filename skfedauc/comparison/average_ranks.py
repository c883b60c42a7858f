"""Comparison of several models by their average ranks over groups."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from skfedauc import _words
from skfedauc.counts import left_out
from skfedauc.inference.average_ranks import average_ranks, undetected
from skfedauc.inference.intervals import check_confidence_level
from skfedauc.inference.variances import Floats
from skfedauc.report import GroupAUC

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True, repr=False)
class RankComparison:
    """Average ranks of several models over groups, returned by `compare_average_ranks`.

    Attributes
    ----------
    average_rank : pandas.Series
        Average rank of each model, in the order of the reports; 1 is the largest AUC in every
        group.
    critical_difference : float
        Nemenyi's critical difference of two average ranks, simultaneous for all pairs of models.
    statistic, pvalue : float
        Friedman's chi-square statistic, corrected for ties, and the p value of its F form. The null
        hypothesis is that the models have equal ranks on average.
    undetected : list of tuple of str
        Largest sets of models whose average ranks differ by less than the critical difference. The
        best model of each set is first.
    confidence_level : float
        Simultaneous confidence level of the critical difference.
    n_groups, n_left_out : int
        Number of groups in the comparison, and number of groups left out because a report lacks
        their AUC.
    n_missing : int
        Number of rows without a group label that ``missing="drop"`` left out.
    """

    average_rank: pd.Series
    critical_difference: float
    statistic: float
    pvalue: float
    undetected: list[tuple[str, ...]]
    confidence_level: float
    n_groups: int
    n_left_out: int
    n_missing: int = 0

    def __repr__(self) -> str:
        best = str(self.average_rank.idxmin())
        return (
            f"RankComparison({len(self.average_rank)} models, "
            f"{_words.counted(self.n_groups, 'group')}): Friedman's test "
            f"p = {self.pvalue:.4g}, smallest average rank {self.average_rank[best]:.2f} of "
            f"{_words.shortened(best)}, critical difference {self.critical_difference:.2f} at "
            f"{100 * self.confidence_level:g} %{left_out(self.n_missing)}"
        )


def compare_average_ranks(
    reports: Mapping[str, GroupAUC], *, confidence_level: float = 0.95
) -> RankComparison:
    """Compare several models by the average ranks of their AUCs over groups.

    Each group ranks the models by AUC. Friedman's test and Nemenyi's critical difference compare
    the average ranks.

    Parameters
    ----------
    reports : mapping of str to GroupAUC
        Report of each model by name; at least two. All reports are on the same test rows, and
        groups share no clusters. The comparison omits groups without an AUC in a report.
    confidence_level : float, default=0.95
        Simultaneous confidence level of the critical difference.

    Returns
    -------
    RankComparison
        Average ranks, critical difference of two average ranks, and Friedman's test.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described. If the groups or their numbers of rows of each class
        differ between reports. If groups share clusters. If fewer than two groups have an AUC in
        all reports.

    See Also
    --------
    skfedauc.plotting.CriticalDifferenceDisplay : The comparison as a critical-difference diagram.
    compare_models : Comparison of the AUCs of several models on the same rows.
    auc_critical_difference : Critical difference of two AUCs, not of two average ranks.

    Notes
    -----
    The critical difference is Nemenyi's ``q sqrt(k (k + 1) / (12 N))`` for k models and N groups,
    with a quantile q of the studentized range. The p value is that of the F form of Friedman's test
    [1]_.

    Each group has the same weight. Small groups therefore add variation, because their AUCs have
    large sampling errors; see `GroupAUC.without_small_groups`. Ranks describe how many groups favor
    a model, not by how much. The critical difference is an approximation for many groups (N above
    about 10). The test and the critical difference assume independent groups. For binned scores,
    the ranks are those of the AUCs of the binned scores.

    References
    ----------
    .. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets.
       Journal of Machine Learning Research 7. https://www.jmlr.org/papers/v7/demsar06a.html

    Examples
    --------
    >>> import numpy as np
    >>> from skfedauc import GroupAUC, compare_average_ranks
    >>> rng = np.random.default_rng(0)
    >>> y, site = rng.integers(0, 2, 1200), np.repeat(np.arange(12), 100)
    >>> reports = {
    ...     name: GroupAUC.from_predictions(
    ...         y, signal * y + rng.normal(size=y.size), groups=site
    ...     )
    ...     for name, signal in [("weak", 0.2), ("strong", 2.0), ("stronger", 2.5)]
    ... }
    >>> found = compare_average_ranks(reports)
    >>> found.average_rank.round(2).to_dict()
    {'weak': 3.0, 'strong': 1.83, 'stronger': 1.17}
    >>> round(found.critical_difference, 2), found.undetected
    (0.96, [('stronger', 'strong')])
    """
    import pandas as pd

    confidence_level = check_confidence_level(confidence_level)
    auc = _aucs_of(reports)
    kept = ~np.isnan(auc).any(axis=1)
    n_kept = int(kept.sum())
    if n_kept < 2:
        raise ValueError(
            "average ranks need at least two groups with an AUC in all reports; got "
            f"{_words.counted(n_kept, 'group')}."
        )
    names = list(reports)
    found = average_ranks(auc[kept], confidence_level)
    sets = undetected(found.ranks, found.critical_difference)
    return RankComparison(
        pd.Series(found.ranks, index=pd.Index(names, name="model"), name="average_rank"),
        found.critical_difference,
        found.statistic,
        found.pvalue,
        [tuple(names[model] for model in models) for models in sets],
        confidence_level,
        n_kept,
        kept.size - n_kept,
        max(report.n_missing for report in reports.values()),
    )


def _aucs_of(reports: Any) -> Floats:
    """Return the AUCs of the groups (rows) by report (columns), NaN if undefined."""
    if not isinstance(reports, Mapping) or not all(
        isinstance(name, str) and isinstance(report, GroupAUC) for name, report in reports.items()
    ):
        raise TypeError(
            "reports must be a mapping of names of models to GroupAUC; got "
            f"{_words.described(reports)}."
        )
    if len(reports) < 2:
        raise ValueError(
            "reports must have the reports of at least two models; got "
            f"{_words.counted(len(reports), 'report')}."
        )
    (first, one), *others = reports.items()
    groups, columns = _groups_of(one), [one.pairs.auc]
    for name, report in others:
        both = f"{_words.shortened(first)} and {_words.shortened(name)}"
        place = {label: g for g, label in enumerate(_groups_of(report))}
        if place.keys() != set(groups):
            raise ValueError(
                "reports must have the same groups, since models are ranked within each group; the "
                f"groups of {both} differ."
            )
        order = [place[label] for label in groups]
        for side in ("positives", "negatives"):
            expected, found = (getattr(of.counts, f"n_{side}") for of in (one, report))
            differing = np.flatnonzero(expected != found[order])
            if differing.size:
                g = int(differing[0])
                raise ValueError(
                    "reports must be on the same test rows; group "
                    f"{_words.shortened(groups[g])} has {expected[g]:,} {side} in the report "
                    f"{_words.shortened(first)} and {found[order][g]:,} in the report "
                    f"{_words.shortened(name)}. Score the same rows with every model."
                )
        columns.append(report.pairs.auc[order])
    for report in reports.values():
        report.variances.check_independent_groups("a comparison of average ranks")
    return np.column_stack(columns)


def _groups_of(report: GroupAUC) -> tuple[Any, ...]:
    """Return the labels of the groups; "all" if the rows have no groups."""
    groups = report.counts.groups
    return ("all",) if groups is None else groups
