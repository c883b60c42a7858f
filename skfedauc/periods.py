"""AUCs by period: the change from a reference period, and since when the AUC is another one.

`ScoreCounts.merge` with ``by_period=True`` makes the period of each part a group column, so that
`GroupAUC` and its displays show AUCs by period. The functions here compare the periods.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _input, _labels, _words
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import Floats
from skfedauc.counts.score_counts import select_groups, view_of
from skfedauc.inference.intervals import check_confidence_level
from skfedauc.inference.variances import Variances, variances_of
from skfedauc.report import GroupAUC
from skfedauc.report.groups import order_of

__all__ = ["compare_periods", "find_change"]

# The k-th possible start of a change has the share L / ((L + k - 1)(L + k)) of the error. The
# shares of all starts add up to 1, and fall slowly: with 24, from .04 to .007 in 36 periods.
_SLOWNESS = 24


def compare_periods(
    counts: ScoreCounts, reference: Any, *, confidence_level: float = 0.95
) -> pd.DataFrame:
    """Compare each period's AUC with a reference period's, in each group.

    Parameters
    ----------
    counts : ScoreCounts
        Counts by period: of ``ScoreCounts.merge(files, by_period=True)``, or with ``period`` as the
        last group column.
    reference : label
        The reference period. Groups without rows in it are left out.
    confidence_level : float, default=0.95
        As in `GroupAUC.compare_groups`.

    Returns
    -------
    pandas.DataFrame
        The columns of `GroupAUC.compare_groups`, with a row for each group and other period. Limits
        and p values for all comparisons together are for the periods of one group.

    Raises
    ------
    ValueError, TypeError
        If no group has the reference period, or an argument is not as described.

    See Also
    --------
    find_change : Test for a change at any time, which may be repeated each month.

    Notes
    -----
    Rows in different periods must be independent. The comparison is for one look at a fixed number
    of periods: repeated after each month, it errs too often, and `find_change` does not.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfedauc import ScoreCounts
    >>> from skfedauc.datasets import make_group_scores
    >>> from skfedauc.periods import compare_periods
    >>> rows = make_group_scores("same_positives", 200, 800, shifts=[0, 0, 1], random_state=0)
    >>> months = {"device 1": "2026-01", "device 2": "2026-02", "device 3": "2026-03"}
    >>> period = pd.Series(rows.groups, name="period").map(months)
    >>> counts = ScoreCounts.from_predictions(rows.y_true, rows.y_score, groups=period)
    >>> compare_periods(counts, "2026-01")[["auc", "difference", "pvalue_adjusted"]].round(3)
               auc  difference  pvalue_adjusted
    period
    2026-02  0.742      -0.030            0.469
    2026-03  0.490      -0.282            0.000
    """
    label = _labels.as_label(reference)
    tables = []
    for _, numbers, periods in _series(counts):
        place = _labels.position_of(label, periods)
        if place is not None:
            report = GroupAUC(select_groups(counts, numbers), undefined="ignore")
            own = (counts.groups or ())[numbers[place]]
            own = [own] if own == "rest" else own
            tables.append(report.compare_groups(own, confidence_level=confidence_level))
    if not tables:
        found = sorted({period for *_, periods in _series(counts) for period in periods})
        raise ValueError(
            f"reference must be a period of the counts; got {_words.shortened(reference)}, and the "
            f"periods are {_words.all_shortened(found[:5])}{', ...' * (len(found) > 5)}."
        )
    return pd.concat(tables)


def find_change(
    counts: ScoreCounts,
    *,
    n_reference: int = 1,
    shift: float = 0.05,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Test in each group whether the AUC has changed at any time, and find since when.

    The test may be repeated whenever a period is added, without end: if the AUC of no group
    changes, the error rate of all looks, starts and groups together is at most 5 %.

    Parameters
    ----------
    counts : ScoreCounts
        Counts by period: of ``ScoreCounts.merge(files, by_period=True)``, or with ``period`` as the
        last group column. Periods are in the order of their labels, such as "2026-01", "2026-02".
    n_reference : int, default=1
        First periods in which no change is looked for. The reference must be long: with a
        single month, its own sampling error hides most changes.
    shift : float, default=0.05
        Size of a change that the test is to find fast. It affects the delay, not the error rate.
    confidence_level : float, default=0.95
        One minus the error rate, and the intervals' level.

    Returns
    -------
    pandas.DataFrame
        One row per group, or the row "all" without other group columns: `since`, the period with
        which a change most likely began; `found`, the period at whose end it was established, or
        None; `auc_before` and `auc_after`, the averages of the periods before `since` and from then
        on, and their `difference`, with `ci_low` and `ci_high`, at the last period; `pvalue`, the
        smallest of all looks so far; and `n_periods`, the periods that have an AUC.

    Raises
    ------
    ValueError, TypeError
        If the last group column is not ``period``, if no group has more than `n_reference` periods
        with an AUC, if ranges of scores were joined, if periods are text that may not be in order
        of time, such as names of months, or an argument is not as described.

    See Also
    --------
    compare_periods : Each period compared with a reference period, for a single look.

    Notes
    -----
    For each possible start, the test compares the average AUC of the periods from it on with that
    before it. Periods with m positives and n negatives have the weight ``m n / (m + n)``, and rows
    in different periods must be independent, not of the same patients. The evidence of a start is a
    likelihood ratio, averaged over normal changes with standard deviation `shift` [1]_. Without a
    change, it exceeds 1 / a at any look with probability a at most [2]_, for normal AUCs with known
    variances. AUCs of few positives that are near 1 are skewed, for which the variance of a large
    difference is raised. ``benchmarks/periods.md`` has simulated error rates and delays.

    References
    ----------
    .. [1] Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm. The
       Annals of Mathematical Statistics 41(5). https://doi.org/10.1214/aoms/1177696786
    .. [2] Howard, S. R., Ramdas, A., McAuliffe, J. and Sekhon, J. (2021). Time-uniform,
       nonparametric, nonasymptotic confidence sequences. The Annals of Statistics 49(2).
       https://doi.org/10.1214/20-AOS1991

    Examples
    --------
    >>> from skfedauc import ScoreCounts
    >>> from skfedauc.datasets import make_group_scores
    >>> from skfedauc.periods import find_change
    >>> parts = []
    >>> for month in range(1, 13):
    ...     separation = 1.2 if month < 9 else 0.9
    ...     rows = make_group_scores(
    ...         "identical", 200, 800, separation=separation, shifts=[0, 0], random_state=month
    ...     )
    ...     counts = ScoreCounts.from_predictions(rows.y_true, rows.y_score)
    ...     parts.append(counts.with_source("oslo", period=f"2026-{month:02}"))
    >>> change = find_change(ScoreCounts.merge(parts, by_period=True), n_reference=4).loc["all"]
    >>> print(change["since"], change["found"])
    2026-09 2026-09
    """
    confidence_level = check_confidence_level(confidence_level)
    n_reference = _input.check_whole_number(n_reference, "n_reference")
    shift = _input.check_number(shift, "shift", above=0, below=1)
    series, rule = list(_series(counts)), counts.disclosure
    for *_, periods in series:
        _check_order(counts, periods)
    if rule.level == "bins" and rule.bins is None:
        raise ValueError(
            "find_change needs the same scores or bins in all periods, and these counts have "
            "ranges that were joined by min_count or max_cells, on which the AUC of a period "
            "depends. Count the rows by bins without min_count, or as summaries."
        )
    variances = variances_of(counts)
    rows = {}
    for group, numbers, periods in series:
        used = np.flatnonzero(variances.defined[numbers])
        if used.size > n_reference:
            known = [periods[i] for i in used]
            alpha = (1.0 - confidence_level) / len(series)
            row = _change_of(variances, numbers[used], known, n_reference, shift, alpha)
            rows[group] = row | {"pvalue": min(len(series) * row["pvalue"], 1.0)}
    if not rows:
        raise ValueError(
            f"find_change needs a group with more than n_reference={n_reference} periods that have "
            "rows of both classes. Pass a smaller n_reference, or merge more periods."
        )
    index = _labels.index_of_labels(list(rows), counts.group_names[:-1])
    # None stays None among texts.
    table = pd.DataFrame(list(rows.values()), index, dtype=object)
    return table.astype(dict.fromkeys(table.columns[2:-1], float) | {"n_periods": int})


def _series(counts: ScoreCounts) -> Iterator[tuple[Any, NDArray[np.intp], list[Any]]]:
    """Yield each group, the numbers of its periods in ``counts.groups``, and the periods."""
    _input.check_type(counts, ScoreCounts, "counts must be a ScoreCounts")
    if counts.group_names[-1:] != ("period",):
        raise ValueError(
            "counts must have the last group column 'period'; got the group columns "
            f"{_words.all_shortened(counts.group_names) or 'none'}. Merge counts with periods by "
            "ScoreCounts.merge(files, by_period=True), or count with group=[..., 'period']."
        )
    by_group: dict[Any, list[tuple[int, Any]]] = {}
    labels = counts.groups or ()
    for number in order_of(counts).tolist():
        label = labels[number]
        *group, period = label if isinstance(label, tuple) else ("all", label)
        key = tuple(group) if len(group) > 1 else group[0]
        by_group.setdefault(key, []).append((number, period))
    for key, own in by_group.items():
        numbers, periods = zip(*own, strict=True)
        yield key, np.array(numbers), list(periods)


def _check_order(counts: ScoreCounts, periods: list[Any]) -> None:
    """Refuse periods whose order of labels may not be their order in time."""
    if _labels.MISSING in periods:
        raise ValueError(
            f"the period {_labels.MISSING!r} is no point in time; count the rows with "
            "missing='drop', or give each row a period."
        )
    is_ordered = any(view_of(counts).orders[-1:])
    texts = sorted(period for period in periods if isinstance(period, str))
    numbers = [re.findall(r"\d+", text) for text in texts]
    # The year must be first if there are several numbers, as in "2026-09" or "2026 Q3".
    is_unclear = any(len(of) > 1 and len(of[0]) != 4 for of in numbers)
    if not is_ordered and (is_unclear or len({re.sub(r"\d", "0", text) for text in texts}) > 1):
        raise ValueError(
            f"the periods would be in the order of their text, {_words.listed(texts, most=6)}, "
            "which may not be their order in time. Name them by numbers of equal length, such as "
            "'2026-09' and '2026-10', by counts.regroup or before counting, or count ordered "
            "categories; files of counts do not keep the order of categories."
        )


def _change_of(
    variances: Variances,
    numbers: NDArray[np.intp],
    periods: list[Any],
    n_reference: int,
    shift: float,
    alpha: float,
) -> dict[str, Any]:
    """Look at a group after each period, and return its row.

    `alpha` is the group's share of the error. The evidence of a look is the logarithm of the
    largest likelihood ratio of a start, times the share of the error of this start.
    """
    auc, weight = variances.auc[numbers], variances.size_weights[numbers]
    total, weighted = np.cumsum(weight), np.cumsum(weight * auc)
    # At each look, the variance per weight comes from the periods so far.
    scale = np.cumsum(weight**2 * variances.bounded[numbers]) / total
    looks = []
    for last in range(n_reference, len(periods)):
        starts = np.arange(n_reference, last + 1)
        before, after = total[starts - 1], total[last] - total[starts - 1]
        means = weighted[starts - 1] / before, (weighted[last] - weighted[starts - 1]) / after
        apart, skew = means[1] - means[0], _skew(weighted[last] / total[last], scale[last])
        # The long tail of the periods that it would explain, with half of Cramer's correction: the
        # rest of the test is conservative enough (benchmarks/periods.md).
        of_tail = np.abs(skew * apart) / np.where(skew * apart > 0, after, before) / 6.0
        precision = 1.0 / (scale[last] * (1.0 / before + 1.0 / after) + of_tail)
        place = starts - n_reference + _SLOWNESS
        share = _SLOWNESS / (place * (place + 1.0))
        found = np.log(share) + _log_ratio(apart, precision, shift)
        best = int(np.argmax(found))
        looks.append(found[best])
    evidence = np.array(looks)
    is_found = evidence >= -np.log(alpha)
    # From here on, the most likely start at the last look counts.
    mean_before, mean_after = (float(of[best]) for of in means)
    difference = mean_after - mean_before
    reach = _reach(np.log(alpha * float(share[best])), float(precision[best]), shift)
    return {
        "since": periods[starts[best]],
        "found": periods[n_reference + int(np.argmax(is_found))] if is_found.any() else None,
        "auc_before": mean_before,
        "auc_after": mean_after,
        "difference": difference,
        "ci_low": max(difference - reach, -1.0),
        "ci_high": min(difference + reach, 1.0),
        "pvalue": float(np.exp(-evidence.max())),
        "n_periods": len(periods),
    }


def _skew(auc: float, variance: float) -> float:
    """Return the third moment over the variance of placement values with a beta distribution."""
    return float(2.0 * (1.0 - 2.0 * auc) * variance / (auc * (1.0 - auc) + variance))


def _log_ratio(difference: Floats, precision: Floats, shift: float) -> Floats:
    """Return the log likelihood ratio of a normal change with mean 0 to no change [1]_."""
    spread = shift**2 * precision
    return (difference**2 * precision * spread / (1.0 + spread) - np.log1p(spread)) / 2.0


def _reach(log_error: float, precision: float, shift: float) -> float:
    """Return the distance from the difference to its limits: `_log_ratio` is `-log_error` there."""
    spread = shift**2 * precision
    squared = (np.log1p(spread) - 2.0 * log_error) * (1.0 + spread) / (spread * precision)
    return float(np.sqrt(squared))
