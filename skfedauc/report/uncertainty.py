"""Inference from a report: intervals, tests, and which averages agree with the pooled AUC.

The numbers are computed in `skfedauc.inference`; here they become tables.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _validation as validation
from skfedauc.inference import (
    agreement,
    group_comparisons,
    heterogeneity,
    intervals,
    pairwise,
)
from skfedauc.inference.variances import Variances
from skfedauc.report.statistics import AVERAGES

if TYPE_CHECKING:
    import pandas as pd

    from skfedauc.partials import AUCPartial

# Distributions of scores count as different below this p value.
_DIFFERENT = 0.01
# Up to this many groups every two are compared.
_MOST_IN_PAIRS = 500


@dataclasses.dataclass(frozen=True, repr=False)
class Agreement:
    """Which averages of group AUCs are equivalent to the pooled AUC; made by `GroupAUC.agreement`.

    Attributes
    ----------
    verdict : str
        The result in a sentence or two.
    averages : pandas.DataFrame
        For each average its value; `difference`, the pooled AUC less it, with the limits
        `ci_low` and `ci_high` of its 90 % interval; `bound`, what the two certainly are
        not further apart than (of "positives" and "negatives" only); and `stands_for_pooled`:
        "yes" if the interval is within `delta` of 0, "no" if the 99 % interval is beyond it, or
        "cannot tell".
    scores : pandas.DataFrame
        For negatives and positives: the largest and the mean Kolmogorov distance of a group's
        scores to those of all groups (weighted by rows), about the mean that sampling error would
        make of it, and the statistic and p value of the Anderson-Darling test that all groups
        score alike (NaN with sample weights).
    case : str
        "identical", "same_negatives", "same_positives" or "different" distributions, or
        "cannot tell".
    delta : float
        How far apart two AUCs may be and still count as equivalent.
    """

    verdict: str
    averages: pd.DataFrame
    scores: pd.DataFrame
    case: str
    delta: float

    def __repr__(self) -> str:
        return f"Agreement: {self.verdict}\n\n{self.averages}\n\n{self.scores}"


class Uncertainty:
    """The intervals and tests of `GroupAUC`."""

    if TYPE_CHECKING:  # what `GroupAUC` has

        @property
        def partial(self) -> AUCPartial: ...  # noqa: D102
        @property
        def pooled(self) -> float: ...  # noqa: D102
        @property
        def _auc(self) -> NDArray[np.float64]: ...
        @property
        def _usable(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]: ...
        def _index(self, name: str | None = None) -> Any: ...
        def _not_defined(self, reason: str) -> float: ...

    @functools.cached_property
    def _variances(self) -> Variances:
        return Variances(self.partial)

    # Intervals -------------------------------------------------------------------------

    def confidence_intervals(
        self,
        level: float = 0.95,
        method: intervals.Method = "logit",
        *,
        of: intervals.Of = "groups",
        over: intervals.Over | None = None,
    ) -> pd.DataFrame:
        """Confidence intervals of the group AUCs, or of what is read from all groups.

        Parameters
        ----------
        level : float, default=0.95
            Share of the intervals that are to hold the true value.
        method : {"logit", "delong", "exact"}, default="logit"
            "logit": DeLong's variance, and limits on the logit scale; for the AUC of a group and
            the pooled AUC over rows, the limits of Newcombe's method 5 [1]_ where they are further
            out. "delong": limits on the scale of the AUC, cut at 0 and 1. "exact": limits that hold
            for any distribution of independent rows, wide with few rows.
        of : {"groups", "statistics"}, default="groups"
            "statistics" gives the pooled AUC, the averages, the worst and the difference.
        over : {"rows", "groups"} or None, default=None
            What varies in the pooled AUC and the averages: new rows of these groups, or new
            groups as well, from a population of which these are a sample. None takes "rows" up
            to 20 groups. The worst and the difference are always about these groups.

        Returns
        -------
        pandas.DataFrame
            By group: `auc`, `ci_low`, `ci_high`, `method`, and `note`, which says what is special
            about a group, such as perfect separation. By statistic: `value` in place of
            `auc`, and `estimand`, in words. NaN where there is no interval, with the reason in
            `note`.

        Raises
        ------
        ValueError
            If an argument is not as described.

        Notes
        -----
        The documentation has the simulated coverage. DeLong's variance is too small with few
        positives, an AUC near 1 or tied scores (20 positives and 2,000 negatives at AUC 0.99:
        limits on the logit scale alone hold in 80 % of samples). Newcombe's method supposes a
        variance for each possible AUC, so that the further one of both limits holds in 93 % and
        more of the samples in almost all simulated cases.

        Over new groups an average is a weighted mean of the groups' AUCs. With unequal weights it
        depends on the estimate of its variance; the quantiles are those of simulated normal values,
        from a fixed seed, and Student's with equal weights.

        The interval of the difference is that of `test_difference`. An interval of each group does
        not say whether two groups differ: see `test_difference`, `compare_groups` and
        `test_equal_groups`. Formulas and sources are in `skfedauc.inference`.

        References
        ----------
        .. [1] Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on the
           Mann-Whitney statistic. Part 2: asymptotic methods and evaluation. Statistics in
           Medicine 25(4). https://doi.org/10.1002/sim.2324

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.simulation import make_devices
        >>> devices = make_devices("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.confidence_intervals().columns.tolist()
        ['auc', 'ci_low', 'ci_high', 'method', 'note']
        """
        level, way = intervals.check_level(level), intervals.check_method(method)
        if of not in ("groups", "statistics"):
            raise ValueError(f"of must be 'groups' or 'statistics'; got {of!r}.")
        if of == "statistics":
            return self._intervals_of_statistics(level, way, over)
        if over is not None:
            raise ValueError("over is about averages of groups: pass of='statistics' with it.")
        import pandas as pd

        low, high, note = intervals.group_limits(self._variances, (1.0 - level) / 2.0, way)
        return pd.DataFrame(
            {"auc": self._auc, "ci_low": low, "ci_high": high, "method": way, "note": note},
            index=self._index(),
        )

    def _intervals_of_statistics(
        self, level: float, method: intervals.Method, over: str | None
    ) -> pd.DataFrame:
        import pandas as pd

        auc, used = self._usable
        new_groups = is_over_groups(over, int(used.sum()))
        variances = self._variances
        lacking = intervals.Interval(np.nan, np.nan, np.nan, "needs a group with both classes")
        found = dict.fromkeys(("pooled", *AVERAGES), (lacking, new_groups))
        found |= dict.fromkeys(("worst", "difference"), (lacking, False))
        if variances.pooled.defined.any():
            interval = intervals.pooled_interval(variances, level, method, new_groups=new_groups)
            found["pooled"] = interval, new_groups
        for name in AVERAGES:
            share = self._shares(name)
            if share is not None:
                interval = intervals.average_interval(
                    variances, auc, share, level, method, new_groups=new_groups
                )
                found[name] = interval, new_groups
        if used.any():
            interval = intervals.worst_interval(variances, auc, used, level, method)
            found["worst"] = interval, False
            found["difference"] = lacking._replace(note="needs two groups with both classes"), False
        if used.sum() > 1:
            interval = pairwise.difference_interval(variances, auc, used, level, method)
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
        """What each group counts in an average, 1 in all; None if the average is not defined."""
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
            With `statistic`, `pvalue`, `method`, `degrees_of_freedom`, `n_groups` and
            `n_left_out`, the groups with fewer than two positives or two negatives (of weighted
            rows: fewer than 1.5 effective ones).

        Notes
        -----
        The statistic is the weighted variance of the group AUCs over its mean if all are equal. It
        is compared with an F distribution: degrees of freedom of the numerator by Box's
        approximation [1]_, of the denominator by Satterthwaite's. Group variances are the unbiased
        ones, of weighted rows DeLong's with half the degrees of freedom of their effective numbers
        of rows: in simulations of 3 groups of 400 rows with gamma (shape 0.5 and 1) and lognormal
        (sigma 1) weights the test errs in at most 5 %; with sigma 3 in 6 %.

        For 100 or more groups with fewer than 10 rows of the smaller class on average a sum of one
        term for each group is compared with the normal distribution; the result names the form. A
        large p value does not show that groups are equal: see the interval of the difference.

        References
        ----------
        .. [1] Brunner, E., Dette, H. and Munk, A. (1997). Box-type approximations in
           nonparametric factorial designs. Journal of the American Statistical Association
           92(440). https://doi.org/10.1080/01621459.1997.10473671

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.simulation import make_devices
        >>> devices = make_devices("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.test_equal_groups().pvalue > 0.05
        True
        """
        return heterogeneity.equal_groups_test(self._variances)

    def test_difference(self, *, level: float = 0.95) -> pairwise.DifferenceTest:
        """Test that the largest difference between group AUCs is 0, and give its interval.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the interval.

        Returns
        -------
        DifferenceTest
            With `difference`, its limits `ci_low` and `ci_high`, the `pvalue`, the labels of the
            groups with the `highest` and the `lowest` AUC, the `clearest` pair, which the p value
            is about, `n_groups` and `method`. NaN with fewer than two groups that have an AUC.

        Raises
        ------
        ValueError
            If `level` is not between 0 and 1.

        Notes
        -----
        All pairs of groups are compared at once: the limits of a pair's difference follow from the
        two groups' own limits [1]_, with quantiles of the studentized range, which for two groups
        are those of two samples. The p value is the smallest error rate at which the interval
        leaves out 0. It is the smallest `pvalue_adjusted` of `compare_groups()` if all groups can
        be compared there. Above 2,000 groups the largest lower limit of a group is compared with
        the smallest upper one, with Bonferroni's correction.

        `test_equal_groups` has the same null hypothesis and another statistic, the variance of all
        group AUCs, with more power against many small differences.

        References
        ----------
        .. [1] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
           measures: a general approach. Statistics in Medicine 27(10).
           https://doi.org/10.1002/sim.3095

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.simulation import make_devices
        >>> devices = make_devices("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> test = report.test_difference()
        >>> test.ci_low, test.pvalue > 0.05
        (0.0, True)
        """
        level = intervals.check_level(level)
        auc, used = self._usable
        n_groups = int(used.sum())
        if n_groups < 2:
            reason = "needs two groups with both classes"
            nan = float("nan")
            nothing = (None, None, None, n_groups, reason)
            return pairwise.DifferenceTest(nan, nan, nan, nan, level, *nothing)
        found = pairwise.difference_interval(self._variances, auc, used, level, "logit")
        pvalue, pair = pairwise.clearest_difference(self._variances, auc, used)
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
            level,
            highest,
            lowest,
            None if pair is None else (labels[pair[0]], labels[pair[1]]),
            n_groups,
            method,
        )

    def compare_groups(self, reference: Any = None, *, level: float = 0.95) -> pd.DataFrame:
        """Compare groups two by two, with one of them, or each with the rest.

        Parameters
        ----------
        reference : None, "rest" or a group's label, default=None
            None compares every two groups (up to 500 groups). "rest" compares each group with
            a weighted average of the AUCs of the other groups. A group's label compares the
            others with it; where a group is called "rest", pass its label in a list.
        level : float, default=0.95
            Share of repetitions in which all intervals together are to hold.

        Returns
        -------
        pandas.DataFrame
            `auc`, `reference_auc` and their `difference`, with `ci_low` and `ci_high`, limits that
            hold for all comparisons together; `statistic`, `pvalue` and `pvalue_adjusted`, and the
            `adjustment`. NaN for groups with fewer than two rows of a class, which are not tested,
            and for "rest" where there is none.

        Raises
        ------
        ValueError
            If there is no such group, or there are more than 500 to compare two by two.

        Notes
        -----
        The limits of the difference of two AUCs follow from each one's own limits [1]_, as
        `confidence_intervals` has them. The p value is the smallest error rate at which
        the interval leaves out 0, and `statistic` is its normal quantile. Every two groups are
        compared by Tukey's and Kramer's method with quantiles of the studentized range [2]_, and
        groups with a reference, or with the rest, by Sidak's [3]_, which needs no independence of
        the comparisons. So a simultaneous interval leaves out 0 exactly where `pvalue_adjusted` is
        below ``1 - level``, and the smallest `pvalue_adjusted` of all pairs is that of
        `test_difference`. Of two groups each is the other's rest: that is one comparison, and needs
        no adjustment.

        In the average of the other groups ("rest") a group with m positives and n negatives has
        the weight ``m n / (m + n)``, which is that of inverse variances where the placement
        values of both classes vary alike; so a tiny group hardly moves the average. The weights
        depend on the numbers of rows only (effective numbers of weighted rows) and count as
        constants: the variance of the average is ``sum w^2 v / (sum w)^2``. Each ``v`` is the
        larger one of the group's DeLong variance and of that from placement values pooled over
        groups. In simulations without any difference (500 runs; 10 groups of 3/50 or 20/400
        positives/negatives, AUCs of .8 to .95, tied scores, unequal spreads) at most 1.8 % of
        families had an adjusted p value below 5 %; of two groups of 20/400, AUC .95 and unequal
        spreads, it was 4.6 %.

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
        >>> from skfedauc.simulation import make_devices
        >>> devices = make_devices("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> bool((report.compare_groups("rest")["pvalue_adjusted"] > 0.05).all())
        True
        """
        import pandas as pd

        level = intervals.check_level(level)
        labels = self._index()
        n_groups = len(labels)
        if isinstance(reference, str) and reference == "rest":
            found = group_comparisons.with_rest(self._variances, level)
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
        return _comparison_table(compare(self._variances, first, second, level), index)

    def _number_of(self, label: Any) -> int:
        """Number of the group of this label."""
        if isinstance(label, list) and len(label) == 1:
            label = label[0]
        groups = self.partial.groups or ()
        wanted = validation.as_label(label)
        if wanted not in groups:
            raise ValueError(
                f"reference must be None, 'rest' or a group's label; got {label!r}, and the "
                f"groups are {', '.join(map(repr, groups[:5]))}{', ...' * (len(groups) > 5)}."
            )
        return groups.index(wanted)

    # Spread of the true AUCs -------------------------------------------------------------

    @property
    def tau(self) -> float:
        """Standard deviation of the groups' true AUCs, by restricted maximum likelihood (REML).

        Groups are weighted by their numbers of rows, so that a tiny group hardly moves the
        estimate: see `heterogeneity`, which has its interval and other estimators. At most one
        half, the largest that AUCs can have. Groups with fewer than two rows of a class are left
        out; NaN with fewer than two groups.

        Scorers (`neg_tau`) average the unbiased estimate of its square instead, the variance of
        the group AUCs minus the mean of their variances, which may be below 0.
        """
        found = heterogeneity.tau(self._variances)
        return self._not_defined(_NO_SPREAD) if np.isnan(found) else found

    @property
    def _squared_tau(self) -> float:
        """Unbiased estimate of the square of `tau`, which may be below 0."""
        kept = self._variances.estimable
        found = heterogeneity.squared_tau(self._variances.auc[kept], self._variances.unbiased[kept])
        return self._not_defined(_NO_SPREAD) if np.isnan(found) else found

    @functools.cached_property
    def expected_difference(self) -> float:
        """Expected `difference` if all true AUCs are equal: what sampling error makes of it.

        Groups are simulated, from a fixed seed, if one has fewer than 30 rows of a class.
        """
        return heterogeneity.expected_difference(self._variances)

    def heterogeneity(self, level: float = 0.95) -> pd.DataFrame:
        """Estimate the standard deviation of the groups' true AUCs by four estimators.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals of `tau`.

        Returns
        -------
        pandas.DataFrame
            Rows "reml" (restricted maximum likelihood [1]_), the estimator of `tau`;
            "paule_mandel" [2]_; "moments", the variance of the group AUCs minus the mean of their
            unbiased variances; and "dersimonian_laird" [3]_. Columns: `tau`, the standard deviation
            of the true AUCs, with `ci_low` and `ci_high`: by the profile of the restricted
            likelihood for "reml", by the Q profile [4]_ for "paule_mandel", by Box's approximation
            for "moments", none for "dersimonian_laird"; the `mean` AUC of the groups and its
            `standard_error` (Knapp and Hartung's for "reml" and "paule_mandel"); `i2`, the share of
            the observed variance that is not sampling error; Cochran's `q`. All NaN, with a
            warning, with fewer than two groups that have two rows of each class.

        Raises
        ------
        ValueError
            If `level` is not between 0 and 1.

        Notes
        -----
        The group AUCs are taken on their own scale, with variances from placement values pooled
        over groups. A group's own variance is too small where its AUC is large by sampling error,
        so that software for meta-analysis, given own variances, finds a spread among tiny groups
        where there is none (tau .063 for 0 in 100 groups of 5/15 positives/negatives; here .017).

        "moments" gives all groups the same weight: a single tiny group among large ones may take
        it to 0. REML was chosen by simulation: three groups of 2,000/6,000 rows with one of 2/6
        and a true tau of .05, root mean squared error .021 (Paule-Mandel .035); 100 groups of
        5/15 and a true tau of .06, mean .056.

        The intervals suppose that true AUCs are normal. Then those of "reml" hold in 92 to 99 % of
        simulations at 95 %; with true AUCs of a Beta distribution of mean .9 and a standard
        deviation of .03, .05 and .08 they hold in 91 to 96, 84 to 92 and 79 to 86 %, the less
        often the more groups there are.

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
        >>> from skfedauc.simulation import make_devices
        >>> devices = make_devices("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.heterogeneity().index.tolist()
        ['reml', 'paule_mandel', 'moments', 'dersimonian_laird']
        """
        import pandas as pd

        level = intervals.check_level(level)
        found = heterogeneity.spreads(self._variances, level)
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
            With a `verdict` in words and the tables that it rests on.

        Raises
        ------
        ValueError
            If `delta` is not above 0, or there are no rows of a class.

        Notes
        -----
        An average is equivalent to the pooled AUC if the 90 % interval of their difference, over
        new rows of these groups, is within `delta` of 0: two one-sided tests (TOST) at 5 %. It is
        not if the 99 % interval is beyond `delta`, since five averages are judged at once.
        Failing to detect a difference does not show that there is none. The Anderson-Darling
        test [1]_ shows which distributions differ.

        The interval is normal and errs more often than 5 % with few positives: an average that
        was off by `delta` was named equivalent in up to 13 % of simulations with 5 to 20
        positives a group.

        References
        ----------
        .. [1] Scholz, F. W. and Stephens, M. A. (1987). K-sample Anderson-Darling tests. Journal
           of the American Statistical Association 82(399).
           https://doi.org/10.1080/01621459.1987.10478517

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.simulation import make_devices
        >>> devices = make_devices(
        ...     "same_negatives", [8000, 4000, 2000, 1000], 10_000, random_state=0
        ... )
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.agreement(delta=0.01).case
        'same_negatives'
        """
        import pandas as pd

        delta = validation.check_share(delta, "delta")
        variances, auc = self._variances, self._usable[0]
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
            if error < 1e-12 and self.partial.groups is not None and len(self.partial) > 1:
                # No variation is seen, in few rows: that of the groups' AUCs, bounded
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
                    "stands_for_pooled": _stands_for(difference, error, delta),
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
                "mean_by_chance": np.dot(share, agreement.null_distances(mine.effective)),
                "statistic": sides[i].statistic,
                "pvalue": sides[i].pvalue,
            }
        table = pd.DataFrame.from_dict(scores, orient="index")
        verdict = _verdict(self.pooled, averages, table, delta, weighted=variances.weighted)
        return Agreement(verdict, averages, table, _case(averages, table), delta)


_NO_SPREAD = "the spread of AUCs needs two groups with two rows of each class"


def is_over_groups(over: Any, n_groups: int) -> bool:
    """Whether results are about new groups; None leaves it to the number of groups."""
    if over is None:
        return n_groups > intervals.FEW_GROUPS
    if isinstance(over, str) and over in ("rows", "groups"):
        return over == "groups"
    raise ValueError(
        "over must be 'rows' (new rows of these groups), 'groups' (new groups as well) or None "
        f"('rows' up to {intervals.FEW_GROUPS} groups); got {over!r}."
    )


def _comparison_table(found: pairwise.Comparisons, index: Any) -> pd.DataFrame:
    import pandas as pd

    columns = {name: getattr(found, name) for name in found._fields}
    columns["reference_auc"] = columns.pop("other")
    columns["difference"] = found.auc - found.other
    names = ["auc", "reference_auc", "difference", "ci_low", "ci_high", "statistic", "pvalue"]
    return pd.DataFrame(columns, columns=[*names, "pvalue_adjusted", "adjustment"], index=index)


def _stands_for(difference: float, error: float, delta: float) -> str:
    """Whether the 90 % interval is within `delta` of 0, or the 99 % interval beyond."""
    if abs(difference) + intervals.normal_quantile(0.05) * error <= delta:
        return "yes"
    is_beyond = abs(difference) - intervals.normal_quantile(0.005) * error > delta
    return "no" if is_beyond else "cannot tell"


def _case(averages: pd.DataFrame, scores: pd.DataFrame) -> str:
    """Which distributions are alike: tests tell that they differ, intervals that they do not."""
    stands = averages["stands_for_pooled"] == "yes"
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
        names = averages.index[averages["stands_for_pooled"] == answer].tolist()
        if names:
            parts.append(f"{_listed(names)} {'is' if len(names) == 1 else 'are'} {words}")
    told = f"The pooled AUC is {pooled:.4f}. Of the averages, {'; '.join(parts)}."
    pvalues = scores["pvalue"]
    if pvalues.isna().any() and weighted:
        return f"{told} Equality of score distributions is not tested with sample weights."
    differing = pvalues.index[pvalues < _DIFFERENT].tolist()
    if not differing:
        return f"{told} No difference between the groups' scores is detected."
    return f"{told} The scores of {_listed(differing)} differ between groups."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
