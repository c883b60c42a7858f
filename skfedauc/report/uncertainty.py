"""Inference methods of a report: intervals, tests, and equivalence with the pooled AUC.

`skfedauc.inference` computes the numbers; this module puts them into tables.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.inference import (
    agreement,
    group_comparisons,
    heterogeneity,
    intervals,
    pairwise,
)
from skfedauc.inference.variances import Variances, variances_of
from skfedauc.report.statistics import AVERAGES

if TYPE_CHECKING:
    import pandas as pd

    from skfedauc.counts import ScoreCounts
    from skfedauc.pairs import GroupPairs

# Distributions of scores count as different below this p value.
_DIFFERENT = 0.01
# All pairs are compared for up to this many groups.
_MOST_IN_PAIRS = 500


@dataclasses.dataclass(frozen=True, repr=False)
class Agreement:
    """Equivalence of averages with the pooled AUC, returned by `GroupAUC.agreement`.

    Attributes
    ----------
    verdict : str
        The result in a sentence or two.
    averages : pandas.DataFrame
        For each average its `value`; the `difference`, pooled AUC minus average, with the limits
        `ci_low` and `ci_high` of its 90 % interval; `bound`, a certain upper bound of the absolute
        difference (for "positives" and "negatives" only); and `equivalent_to_pooled`: "yes" if the
        90 % interval is within `delta` of 0, "no" if the 99 % interval lies entirely beyond
        `delta`, otherwise "cannot tell".
    scores : pandas.DataFrame
        For negatives and positives: the largest and the mean Kolmogorov distance between the scores
        of a group and of all groups (weighted by rows), the approximate mean distance under the
        null hypothesis, and the statistic and p value of the Anderson-Darling test that all groups
        have the same score distribution (NaN with sample weights).
    case : str
        "identical", "same_negatives", "same_positives" or "different" distributions, or
        "cannot tell".
    delta : float
        Equivalence margin: the largest difference of two AUCs that count as equivalent.
    """

    verdict: str
    averages: pd.DataFrame
    scores: pd.DataFrame
    case: str
    delta: float

    def __repr__(self) -> str:
        return f"Agreement: {self.verdict}\n\n{self.averages}\n\n{self.scores}"


class Uncertainty:
    """Mixin of `GroupAUC`: intervals and tests."""

    if TYPE_CHECKING:  # provided by `GroupAUC`

        @property
        def counts(self) -> ScoreCounts: ...  # noqa: D102
        @property
        def pooled(self) -> float: ...  # noqa: D102
        @property
        def pairs(self) -> GroupPairs: ...  # noqa: D102
        @property
        def _usable(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]: ...
        def _index(self, name: str | None = None) -> Any: ...
        def _not_defined(self, reason: str) -> float: ...

    @functools.cached_property
    def variances(self) -> Variances:
        """Variances of the group AUCs and of the pooled AUC."""
        return variances_of(self.pairs)

    # Intervals -------------------------------------------------------------------------

    def confidence_intervals(
        self,
        confidence_level: float = 0.95,
        method: intervals.Method = "logit",
        *,
        of: intervals.Of = "groups",
        over: intervals.Over | None = None,
    ) -> pd.DataFrame:
        """Return confidence intervals of the group AUCs, or of statistics over all groups.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level of the intervals.
        method : {"logit", "delong", "exact"}, default="logit"
            "logit": DeLong's variance with limits on the logit scale. For group AUCs, and for the
            pooled AUC with fixed groups, each limit is replaced by the limit of Newcombe's method 5
            [1]_ if that is further out. "delong": DeLong's variance with limits on the AUC scale,
            clipped to [0, 1]. "exact": limits that are valid for any distribution of independent
            rows; they are wide with few rows.
        of : {"groups", "statistics"}, default="groups"
            "groups" gives an interval for each group AUC; "statistics" gives intervals for the
            pooled AUC, the averages, the worst AUC and the difference.
        over : {"rows", "groups"} or None, default=None
            Source of the sampling error of the pooled AUC and the averages: new rows of the same,
            fixed groups ("rows"), or new, random groups from a population that these groups are a
            sample of ("groups"). None means "rows" for up to 20 groups and "groups" for more. The
            worst AUC and the difference are always for fixed groups.

        Returns
        -------
        pandas.DataFrame
            By group: `auc`, `ci_low`, `ci_high`, `method`, and `note`, which states a special case
            such as perfect separation. By statistic: `value` in place of `auc`, and the `estimand`
            in words. Limits are NaN if there is no interval; `note` gives the reason.

        Raises
        ------
        ValueError
            If an argument is not as described.

        Notes
        -----
        The user guide reports the simulated coverage. DeLong's variance is biased low with few
        positives, an AUC near 1 or tied scores: with 20 positives and 2,000 negatives at AUC 0.99,
        limits on the logit scale alone cover the true value in 80 % of samples. Newcombe's method
        assumes a variance for each possible AUC. The further of the two limits gives a coverage of
        93 % or more in almost all simulated cases.

        For random groups an average is a weighted mean of the group AUCs. With equal weights its
        interval uses the quantiles of Student's t. With unequal weights the weighted mean and its
        variance estimate are dependent, so the quantiles come from simulated normal values with a
        fixed seed.

        The interval of the difference is the interval of `test_difference`. Intervals of single
        groups do not show whether two groups differ: see `test_difference`, `compare_groups` and
        `test_equal_groups`. Formulas and sources are in `skfedauc.inference`.

        References
        ----------
        .. [1] Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on the
           Mann-Whitney statistic. Part 2: asymptotic methods and evaluation. Statistics in
           Medicine 25(4). https://doi.org/10.1002/sim.2324

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.confidence_intervals().columns.tolist()
        ['auc', 'ci_low', 'ci_high', 'method', 'note']
        """
        confidence_level, way = (
            intervals.check_confidence_level(confidence_level),
            intervals.check_method(method),
        )
        if of not in ("groups", "statistics"):
            raise ValueError(f"of must be 'groups' or 'statistics'; got {_words.shortened(of)}.")
        if of == "statistics":
            return self._intervals_of_statistics(confidence_level, way, over)
        if over is not None:
            raise ValueError("over is about averages of groups: pass of='statistics' with it.")
        import pandas as pd

        low, high, note = intervals.group_limits(
            self.variances, (1.0 - confidence_level) / 2.0, way
        )
        return pd.DataFrame(
            {"auc": self.pairs.auc, "ci_low": low, "ci_high": high, "method": way, "note": note},
            index=self._index(),
        )

    def _intervals_of_statistics(
        self, confidence_level: float, method: intervals.Method, over: str | None
    ) -> pd.DataFrame:
        import pandas as pd

        auc, used = self._usable
        new_groups = is_over_groups(over, int(used.sum()))
        variances = self.variances
        lacking = intervals.Interval(np.nan, np.nan, np.nan, "needs a group with both classes")
        found = dict.fromkeys(("pooled", *AVERAGES), (lacking, new_groups))
        found |= dict.fromkeys(("worst", "difference"), (lacking, False))
        if variances.pooled.defined.any():
            interval = intervals.pooled_interval(
                variances, confidence_level, method, new_groups=new_groups
            )
            found["pooled"] = interval, new_groups
        for name in AVERAGES:
            share = self._shares(name)
            if share is not None:
                interval = intervals.average_interval(
                    variances, auc, share, confidence_level, method, new_groups=new_groups
                )
                found[name] = interval, new_groups
        if used.any():
            interval = intervals.worst_interval(variances, auc, used, confidence_level, method)
            found["worst"] = interval, False
            found["difference"] = lacking._replace(note="needs two groups with both classes"), False
        if used.sum() > 1:
            interval = pairwise.difference_interval(variances, auc, used, confidence_level, method)
            found["difference"] = interval, False
        columns = ["value", "ci_low", "ci_high", "method", "estimand", "note"]
        rows = [
            (
                interval.estimate,
                interval.low,
                interval.high,
                method,
                intervals.NEW_GROUPS if is_new else intervals.THESE_GROUPS,
                interval.note,
            )
            for interval, is_new in found.values()
        ]
        return pd.DataFrame(rows, columns=columns, index=pd.Index(found, name="statistic"))

    def _shares(self, name: str) -> NDArray[np.float64] | None:
        """Weights of the groups in an average, with sum 1; None if the average is undefined."""
        _, used = self._usable
        weights = np.where(used, AVERAGES[name](self).astype(np.float64), 0.0)  # type: ignore[arg-type]
        total = float(weights.sum())
        return weights / total if total > 0 else None

    # Are the groups equal? --------------------------------------------------------------

    def test_equal_groups(self) -> heterogeneity.EqualGroupsTest:
        """Test that all groups have the same true AUC.

        Returns
        -------
        EqualGroupsTest
            Result with `statistic`, `pvalue`, `method`, `degrees_of_freedom`, `n_groups` and
            `n_left_out`, the number of groups with fewer than two positives or two negatives
            (with weights: an effective sample size below 1.5).

        Notes
        -----
        The statistic is the weighted variance of the group AUCs, divided by its expectation under
        the null hypothesis. It is compared with an F distribution, with Box's approximation [1]_
        for the degrees of freedom of the numerator and Satterthwaite's for the denominator.

        Group variances are unbiased estimates. With weights they are DeLong's, with half the
        degrees of freedom of their effective sample sizes. In simulations of 3 groups of 400 rows
        the rejection rate under the null hypothesis was at most 5 % with gamma (shape 0.5 and 1)
        and lognormal (sigma 1) weights, and 6 % with sigma 3.

        For 100 or more groups with fewer than 10 rows of the smaller class on average, the
        statistic is a sum of one term per group, compared with the normal distribution; `method`
        names the form. A large p value does not show that the groups are equal: see the interval of
        the difference.

        References
        ----------
        .. [1] Brunner, E., Dette, H. and Munk, A. (1997). Box-type approximations in
           nonparametric factorial designs. Journal of the American Statistical Association
           92(440). https://doi.org/10.1080/01621459.1997.10473671

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.test_equal_groups().pvalue > 0.05
        True
        """
        return heterogeneity.equal_groups_test(self.variances)

    def test_difference(self, *, confidence_level: float = 0.95) -> pairwise.DifferenceTest:
        """Test that all group AUCs are equal, by the interval of their largest difference.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level of the interval.

        Returns
        -------
        DifferenceTest
            Result with the `difference`, its confidence limits `ci_low` and `ci_high`, the
            `pvalue`, the labels of the groups with the `highest` and the `lowest` AUC, `clearest`,
            the pair of groups that the p value belongs to, `n_groups` and `method`. NaN with fewer
            than two groups that have an AUC.

        Raises
        ------
        ValueError
            If `confidence_level` is not between 0 and 1.

        Notes
        -----
        All pairs of groups are compared simultaneously. The confidence limits of the difference of
        a pair follow from the limits of its two groups [1]_, with quantiles of the studentized
        range; for two groups this is the comparison of two samples. The p value is the smallest
        error rate at which the interval excludes 0. It is the smallest `pvalue_adjusted` of
        `compare_groups()` if that method can compare all groups. Above 2,000 groups the largest
        lower limit of a group is compared with the smallest upper limit, with Bonferroni's
        correction.

        `test_equal_groups` tests this null hypothesis by the variance of all group AUCs. It has
        more power against many small differences.

        References
        ----------
        .. [1] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
           measures: a general approach. Statistics in Medicine 27(10).
           https://doi.org/10.1002/sim.3095

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> test = report.test_difference()
        >>> test.ci_low, test.pvalue > 0.05
        (0.0, True)
        """
        confidence_level = intervals.check_confidence_level(confidence_level)
        auc, used = self._usable
        n_groups = int(used.sum())
        if n_groups < 2:
            reason = "needs two groups with both classes"
            nan = float("nan")
            nothing = (None, None, None, n_groups, reason)
            return pairwise.DifferenceTest(nan, nan, nan, nan, confidence_level, *nothing)
        found = pairwise.difference_interval(self.variances, auc, used, confidence_level, "logit")
        pvalue, pair = pairwise.clearest_difference(self.variances, auc, used)
        labels = self._index().tolist()
        highest = labels[int(np.where(used, auc, -np.inf).argmax())]
        lowest = labels[int(np.where(used, auc, np.inf).argmin())]
        if n_groups == 2:
            method = "comparison of two groups"
        elif n_groups > pairwise.MOST_GROUPS:
            method = "Bonferroni limits of all groups"
        else:
            method = "comparison of all pairs"
        return pairwise.DifferenceTest(
            found.estimate,
            found.low,
            found.high,
            pvalue,
            confidence_level,
            highest,
            lowest,
            None if pair is None else (labels[pair[0]], labels[pair[1]]),
            n_groups,
            method,
        )

    def compare_groups(
        self, reference: Any = None, *, confidence_level: float = 0.95
    ) -> pd.DataFrame:
        """Compare all pairs of groups, each group with a reference group, or each with the rest.

        Parameters
        ----------
        reference : None, "rest" or a group's label, default=None
            None compares all pairs of groups (up to 500 groups). "rest" compares each group with a
            weighted average of the AUCs of the other groups. A label compares the other groups with
            the group of that label. If a group is named "rest", pass its label in a list.
        confidence_level : float, default=0.95
            Simultaneous confidence level of all intervals.

        Returns
        -------
        pandas.DataFrame
            `auc`, `reference_auc` and their `difference`, with simultaneous confidence limits
            `ci_low` and `ci_high`; `statistic`, `pvalue`, `pvalue_adjusted` and the `adjustment`.
            NaN for groups with fewer than two rows of a class, which are not tested, and for "rest"
            if there are no other groups.

        Raises
        ------
        ValueError
            If there is no such group, or all pairs of more than 500 groups are requested.

        Notes
        -----
        The confidence limits of the difference of two AUCs follow from the limits of each AUC in
        `confidence_intervals` [1]_. The p value is the smallest error rate at which the interval
        excludes 0, and `statistic` is the normal quantile of the p value. All pairs of groups are
        compared by Tukey's and Kramer's method with quantiles of the studentized range [2]_.
        Comparisons with a reference group or with the rest use Sidak's method [3]_, which does not
        require independent comparisons. A simultaneous interval therefore excludes 0 exactly if
        `pvalue_adjusted` is below ``1 - confidence_level``, and the smallest `pvalue_adjusted` of
        all pairs is the p value of `test_difference`. With two groups, each is the rest of the
        other; this is one comparison, without adjustment.

        In the average of the other groups ("rest") a group with m positives and n negatives has the
        weight ``m n / (m + n)``. These are inverse-variance weights if the placement values of both
        classes have equal variances. A tiny group therefore has little weight. The weights depend
        only on the numbers of rows (with sample weights: on effective sample sizes) and are treated
        as constants: the variance of the average is ``sum w^2 v / (sum w)^2``. Each ``v`` is the
        larger of the group's DeLong variance and the variance from placement values pooled over
        groups. In simulations under the null hypothesis (500 runs; 10 groups of 3/50 or 20/400
        positives/negatives, AUCs of .8 to .95, tied scores, unequal spreads) at most 1.8 % of
        families had an adjusted p value below 5 %. With two groups of 20/400, AUC .95 and unequal
        spreads, 4.6 % had one.

        References
        ----------
        .. [1] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
           measures: a general approach. Statistics in Medicine 27(10).
           https://doi.org/10.1002/sim.3095
        .. [2] Kramer, C. Y. (1956). Extension of multiple range tests to group means with unequal
           numbers of replications. Biometrics 12(3). https://doi.org/10.2307/3001469
        .. [3] Sidak, Z. (1967). Rectangular confidence regions for the means of multivariate
           normal distributions. Journal of the American Statistical Association 62(318).
           https://doi.org/10.1080/01621459.1967.10482935

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> bool((report.compare_groups("rest")["pvalue_adjusted"] > 0.05).all())
        True
        """
        import pandas as pd

        confidence_level = intervals.check_confidence_level(confidence_level)
        labels = self._index()
        n_groups = len(labels)
        if isinstance(reference, str) and reference == "rest":
            found = group_comparisons.with_rest(self.variances, confidence_level)
            return _comparison_table(found, labels)
        if reference is None:
            if n_groups > _MOST_IN_PAIRS:
                raise ValueError(
                    f"every two of {n_groups:,} groups are too many to compare; pass "
                    "reference='rest', or the label of one group."
                )
            first, second = np.triu_indices(n_groups, 1)
            index = pd.MultiIndex.from_arrays(
                [labels.to_flat_index()[first], labels.to_flat_index()[second]],
                names=["group", "reference"],
            )
        else:
            number = self._number_of(reference)
            first = np.delete(np.arange(n_groups), number)
            second = np.full_like(first, number)
            index = labels[first]
        compare = pairwise.all_pairs if reference is None else pairwise.with_reference
        return _comparison_table(compare(self.variances, first, second, confidence_level), index)

    def _number_of(self, label: Any) -> int:
        """Number of the group with this label."""
        if isinstance(label, list) and len(label) == 1:
            label = label[0]
        groups = self.counts.groups or ()
        wanted = _input.as_label(label)
        if wanted not in groups:
            raise ValueError(
                "reference must be None, 'rest' or a group's label; got "
                f"{_words.shortened(label)}, and the "
                f"groups are {_words.all_shortened(groups[:5])}{', ...' * (len(groups) > 5)}."
            )
        return groups.index(wanted)

    # Spread of the true AUCs -------------------------------------------------------------

    @property
    def tau(self) -> float:
        """Standard deviation of the groups' true AUCs, by restricted maximum likelihood (REML).

        Groups are weighted by their numbers of rows, so a tiny group has little influence on the
        estimate. `heterogeneity` gives its interval and other estimators. The estimate is at most
        one half, the largest possible standard deviation of AUCs. Groups with fewer than two rows
        of a class are left out; NaN with fewer than two remaining groups.

        Scorers (`neg_tau`) average the unbiased estimate of ``tau**2`` instead: the variance of the
        group AUCs minus the mean of their estimated variances. This estimate may be negative.
        """
        if self.pairs.rows_repeat:
            return self._not_defined(_REPEATED)
        found = heterogeneity.tau(self.variances)
        return self._not_defined(_NO_SPREAD) if np.isnan(found) else found

    @property
    def _squared_tau(self) -> float:
        """Unbiased estimate of the square of `tau`, which may be negative."""
        if self.pairs.rows_repeat:
            return self._not_defined(_REPEATED)
        kept = self.variances.estimable
        found = heterogeneity.squared_tau(self.variances.auc[kept], self.variances.unbiased[kept])
        return self._not_defined(_NO_SPREAD) if np.isnan(found) else found

    @functools.cached_property
    def null_difference(self) -> float:
        """Expected `difference` from sampling error alone, if all true AUCs are equal.

        If a group has fewer than 30 rows of a class, groups are simulated with a fixed seed.
        """
        self.pairs.counts_for("null_difference")
        return heterogeneity.null_difference(self.variances)

    def heterogeneity(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Estimate the standard deviation of the groups' true AUCs by four estimators.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level of the intervals of `tau`.

        Returns
        -------
        pandas.DataFrame
            One row per estimator: "reml" (restricted maximum likelihood [1]_), the estimator of
            `GroupAUC.tau`; "paule_mandel" [2]_; "moments", the variance of the group AUCs minus the
            mean of their unbiased variances; and "dersimonian_laird" [3]_.

            Columns: `tau`, the standard deviation of the true AUCs, with its confidence limits
            `ci_low` and `ci_high` (profile of the restricted likelihood for "reml", Q profile [4]_
            for "paule_mandel", Box's approximation for "moments", none for "dersimonian_laird");
            the `mean` AUC of the groups and its `standard_error` (Knapp and Hartung's for "reml"
            and "paule_mandel"); `i2`, the share of the observed variance that is not sampling
            error; and Cochran's `q`. All columns are NaN, with a warning, with fewer than two
            groups that have two rows of each class.

        Raises
        ------
        ValueError
            If `confidence_level` is not between 0 and 1.

        Notes
        -----
        The group AUCs are not transformed. Their variances come from placement values pooled over
        groups, because a group's own variance estimate is biased low if its AUC is high by sampling
        error. With own variances, software for meta-analysis finds a spread among tiny groups that
        have none (mean tau .063 for a true tau of 0 in 100 groups of 5/15 positives/negatives; here
        .017).

        "moments" gives all groups equal weights, so a single tiny group among large ones may reduce
        the estimate to 0. REML was chosen by simulation. With three groups of 2,000/6,000 rows, one
        of 2/6 and a true tau of .05, its root mean squared error was .021 (Paule-Mandel .035). With
        100 groups of 5/15 and a true tau of .06, its mean was .056.

        The intervals assume normal true AUCs. The 95 % intervals of "reml" then cover the true
        value in 92 to 99 % of simulations. If the true AUCs have a Beta distribution of mean .9 and
        a standard deviation of .03, .05 and .08, they cover it in 91 to 96, 84 to 92 and 79 to
        86 %; the coverage is lower with more groups.

        References
        ----------
        .. [1] Viechtbauer, W. (2005). Bias and efficiency of meta-analytic variance estimators
           in the random-effects model. Journal of Educational and Behavioral Statistics
           30(3). https://doi.org/10.3102/10769986030003261
        .. [2] Paule, R. C. and Mandel, J. (1982). Consensus values and weighting factors.
           Journal of Research of the National Bureau of Standards 87(5).
           https://doi.org/10.6028/jres.087.022
        .. [3] DerSimonian, R. and Laird, N. (1986). Meta-analysis in clinical trials.
           Controlled Clinical Trials 7(3). https://doi.org/10.1016/0197-2456(86)90046-2
        .. [4] Viechtbauer, W. (2007). Confidence intervals for the amount of heterogeneity in
           meta-analysis. Statistics in Medicine 26(1). https://doi.org/10.1002/sim.2514

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.heterogeneity().index.tolist()
        ['reml', 'paule_mandel', 'moments', 'dersimonian_laird']
        """
        import pandas as pd

        confidence_level = intervals.check_confidence_level(confidence_level)
        found = heterogeneity.spreads(self.variances, confidence_level)
        if np.isnan(found["reml"].tau):
            self._not_defined(_NO_SPREAD)
        return pd.DataFrame.from_dict(
            {name: spread._asdict() for name, spread in found.items()},
            orient="index",
            columns=heterogeneity.Spread._fields,
        )

    # Equivalence of averages and the pooled AUC --------------------------------------------

    def agreement(self, delta: float = 0.005) -> Agreement:
        """Test which averages of group AUCs are equivalent to the pooled AUC.

        Parameters
        ----------
        delta : float, default=0.005
            Equivalence margin: the largest difference of two AUCs that count as equivalent.

        Returns
        -------
        Agreement
            Result with a `verdict` in words and the tables behind it.

        Raises
        ------
        ValueError
            If `delta` is not above 0, or there are no rows of a class.

        Notes
        -----
        This is an equivalence test (TOST): an average is equivalent to the pooled AUC if the 90 %
        interval of their difference, for fixed groups, is within `delta` of 0, that is, if two
        one-sided tests reject at 5 %. An average is not equivalent if the 99 % interval lies
        entirely beyond `delta`; the level is stricter because five averages are tested. Failing to
        detect a difference does not show that there is none. The Anderson-Darling test [1]_ shows
        which score distributions differ.

        The interval is a normal approximation, and the error rate may exceed 5 %: an average with a
        true difference of `delta` was called equivalent in up to 11 % of simulations with two
        groups and an AUC of .95 (5 to 50 positives, 200 to 400 negatives per group).

        References
        ----------
        .. [1] Scholz, F. W. and Stephens, M. A. (1987). K-sample Anderson-Darling tests. Journal
           of the American Statistical Association 82(399).
           https://doi.org/10.1080/01621459.1987.10478517

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores(
        ...     "same_negatives", [8000, 4000, 2000, 1000], 10_000, random_state=0
        ... )
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.agreement(delta=0.01).case
        'same_negatives'
        """
        import pandas as pd

        self.pairs.counts_for("agreement")
        delta = _input.check_share(delta, "delta")
        variances, auc = self.variances, self._usable[0]
        if not variances.pooled.defined.any():
            raise ValueError("agreement needs rows of both classes.")
        if not self._usable[1].any():
            raise ValueError("agreement needs a group with rows of both classes.")
        sides = agreement.class_agreement(variances)
        rows, class_rows = [], (variances.negatives, variances.positives)
        for name in AVERAGES:
            share = self._shares(name)
            if share is None:
                continue
            value = float(np.dot(share[share > 0], auc[share > 0]))
            difference = self.pooled - value
            error = np.sqrt(variances.of_difference(share))
            if error < 1e-12 and self.counts.groups is not None and len(self.counts) > 1:
                # The estimated variance is 0 with few rows; use a bound of the variance instead.
                error = np.sqrt(intervals.bounded_average_variance(variances, share))
            reach = intervals.normal_quantile(0.05) * error
            rows.append(
                {
                    "average": name,
                    "value": value,
                    "difference": difference,
                    "ci_low": difference - reach,
                    "ci_high": difference + reach,
                    "bound": np.nan,
                    "equivalent_to_pooled": _equivalence(difference, error, delta),
                }
            )
        averages = pd.DataFrame(rows).set_index("average")
        scores = {}
        for i, name in enumerate(("negatives", "positives")):
            mine, other = class_rows[i], sides[1 - i]
            share = mine.weight / mine.weight.sum()
            averages.loc[name, "bound"] = agreement.certain_bound(share, other.distances)
            scores[name] = {
                "largest_distance": np.nanmax(sides[i].distances),
                "mean_distance": np.nansum(share * sides[i].distances),
                "null_mean_distance": np.dot(share, agreement.null_distances(mine.effective)),
                "statistic": sides[i].statistic,
                "pvalue": sides[i].pvalue,
            }
        table = pd.DataFrame.from_dict(scores, orient="index")
        verdict = _verdict(self.pooled, averages, table, delta, weighted=variances.weighted)
        return Agreement(verdict, averages, table, _case(averages, table), delta)


_NO_SPREAD = "the spread of AUCs needs two groups with two rows of each class"
_REPEATED = "the spread of AUCs needs rows that are tested once"


def is_over_groups(over: Any, n_groups: int) -> bool:
    """Whether groups are random; None means random above a number of groups."""
    if over is None:
        return n_groups > intervals.FEW_GROUPS
    if isinstance(over, str) and over in ("rows", "groups"):
        return over == "groups"
    raise ValueError(
        "over must be 'rows' (new rows of these groups), 'groups' (new groups as well) or None "
        f"('rows' up to {intervals.FEW_GROUPS} groups); got {_words.shortened(over)}."
    )


def _comparison_table(found: pairwise.Comparisons, index: Any) -> pd.DataFrame:
    import pandas as pd

    columns = {name: getattr(found, name) for name in found._fields}
    columns["reference_auc"] = columns.pop("other")
    columns["difference"] = found.auc - found.other
    names = ["auc", "reference_auc", "difference", "ci_low", "ci_high", "statistic", "pvalue"]
    return pd.DataFrame(columns, columns=[*names, "pvalue_adjusted", "adjustment"], index=index)


def _equivalence(difference: float, error: float, delta: float) -> str:
    """Whether the 90 % interval is within `delta` of 0 ("yes"), or the 99 % one beyond ("no")."""
    if abs(difference) + intervals.normal_quantile(0.05) * error <= delta:
        return "yes"
    is_beyond = abs(difference) - intervals.normal_quantile(0.005) * error > delta
    return "no" if is_beyond else "cannot tell"


def _case(averages: pd.DataFrame, scores: pd.DataFrame) -> str:
    """Classify score distributions: tests detect differences, intervals establish equivalence."""
    stands = averages["equivalent_to_pooled"] == "yes"
    negatives, positives = scores["pvalue"]
    if negatives < _DIFFERENT and positives < _DIFFERENT:
        return "different"
    if positives < _DIFFERENT and stands["positives"]:
        return "same_negatives"
    if negatives < _DIFFERENT and stands["negatives"]:
        return "same_positives"
    neither = negatives >= _DIFFERENT and positives >= _DIFFERENT
    return "identical" if neither and stands["positives"] and stands["negatives"] else "cannot tell"


def _verdict(
    pooled: float, averages: pd.DataFrame, scores: pd.DataFrame, delta: float, *, weighted: bool
) -> str:
    parts = []
    for answer, words in (
        ("yes", f"equivalent to it (within {delta:g})"),
        ("no", "not equivalent to it"),
        ("cannot tell", "undecided: there are too few rows to tell"),
    ):
        names = averages.index[averages["equivalent_to_pooled"] == answer].tolist()
        if names:
            parts.append(f"{_words.enumerated(names)} {'is' if len(names) == 1 else 'are'} {words}")
    told = f"The pooled AUC is {pooled:.4f}. Of the averages, {'; '.join(parts)}."
    pvalues = scores["pvalue"]
    if pvalues.isna().any() and weighted:
        return f"{told} Equality of score distributions is not tested with sample weights."
    differing = pvalues.index[pvalues < _DIFFERENT].tolist()
    if not differing:
        return f"{told} No difference between the groups' scores is detected."
    return f"{told} The scores of {_words.enumerated(differing)} differ between groups."
