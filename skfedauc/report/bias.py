"""Comparisons of groups with each other: bias AUCs, equality gaps and ABROCA."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from skfedauc import _input, _words
from skfedauc.inference.group_comparisons import adjusted
from skfedauc.inference.roc_curves import RocCurves, area_between, null_areas

if TYPE_CHECKING:
    import pandas as pd

    from skfedauc.counts import ScoreCounts
    from skfedauc.pairs import GroupPairs
    from skfedauc.report.statistics import Undefined

Floats = NDArray[np.float64]


class BiasAUCs(NamedTuple):
    """Bias AUCs and equality gaps by group, NaN if undefined; see `GroupAUC.bias_by_group`."""

    bpsn: Floats
    bnsp: Floats
    positive_aeg: Floats
    negative_aeg: Floats


class Bias:
    """Mixin of `GroupAUC`: comparisons of a group's rows with the rows of other groups."""

    if TYPE_CHECKING:  # provided by `GroupAUC`

        @property
        def counts(self) -> ScoreCounts: ...  # noqa: D102
        @property
        def pooled(self) -> float: ...  # noqa: D102
        @property
        def undefined(self) -> Undefined: ...  # noqa: D102
        @property
        def pairs(self) -> GroupPairs: ...  # noqa: D102
        @property
        def _usable(self) -> tuple[Floats, NDArray[np.bool_]]: ...
        def _index(self, name: str | None = None) -> Any: ...
        def _not_defined(self, reason: str) -> float: ...
        def _number_of(self, label: Any) -> int: ...

    @functools.cached_property
    def _bias(self) -> BiasAUCs:
        u2, pairs = self.pairs.over_others
        share = np.full(u2.shape, np.nan)
        np.divide(u2, pairs, out=share, where=pairs > 0)
        # Rounding of weights may give slightly more than 1.
        np.clip(share, 0.0, 1.0, out=share)
        return BiasAUCs(1.0 - share[0, 1], share[1, 0], share[1, 1] - 0.5, share[0, 0] - 0.5)

    @property
    def bias_by_group(self) -> pd.DataFrame:
        """Bias AUCs and average equality gaps of each group.

        They compare a group with its background, the rows of all other groups. A DataFrame indexed
        by group, NaN if a class is absent, with the columns [1]_, [2]_:

        ``auc``: the group AUC. It is low if the model separates the group's own classes badly.

        ``bpsn_auc``: AUC of the background's positives against the group's negatives. It is low if
        the group's negatives have high scores, which leads to many false positives.

        ``bnsp_auc``: AUC of the group's positives against the background's negatives. It is low if
        the group's positives have low scores, which leads to many false negatives.

        ``xauc_disparity``: `bnsp_auc` minus `bpsn_auc`; above 0 if the model favors the group.

        ``positive_aeg``, ``negative_aeg``: average equality gaps of the positives and of the
        negatives. The gap is the probability that a row of the group scores above a background row
        of the same class, minus one half. It ranges from -0.5 (always below) to 0.5 (always above).

        Notes
        -----
        `bnsp_auc` and `bpsn_auc` are the two cross AUCs (xAUC [2]_) between the group and its
        background. `cross_matrix` has the cross AUCs of every two groups, and `cross_difference` is
        their largest disparity. Sorting the scores dominates the time, for any number of groups.

        References
        ----------
        .. [1] Borkan, D., Dixon, L., Sorensen, J., Thain, N. and Vasserman, L. (2019). Nuanced
           metrics for measuring unintended bias with real data for text classification.
           Companion of The Web Conference. https://doi.org/10.1145/3308560.3317593
        .. [2] Kallus, N. and Zhou, A. (2019). The fairness of risk scores beyond
           classification: bipartite ranking and the xAUC metric. NeurIPS 32.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.6, 0.8, 0.1, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> report.bias_by_group[["auc", "bpsn_auc", "bnsp_auc", "xauc_disparity"]]
               auc  bpsn_auc  bnsp_auc  xauc_disparity
        group
        a      1.0       0.0       1.0             1.0
        b      1.0       1.0       0.0            -1.0
        """
        import pandas as pd

        bias = self._bias
        return pd.DataFrame(
            {
                "auc": self.pairs.auc,
                "bpsn_auc": bias.bpsn,
                "bnsp_auc": bias.bnsp,
                "xauc_disparity": bias.bnsp - bias.bpsn,
                "positive_aeg": bias.positive_aeg,
                "negative_aeg": bias.negative_aeg,
            },
            index=self._index(),
        )

    def bias_means(self, power: float = -5.0) -> pd.Series:
        """Return the generalized mean over groups of each of the three bias AUCs.

        Parameters
        ----------
        power : float, default=-5.0
            Exponent of the generalized mean. 1 gives the arithmetic mean; a lower power gives more
            weight to the worst groups.

        Returns
        -------
        pandas.Series
            Means of `auc`, `bpsn_auc` and `bnsp_auc`: ``mean(value ** power) ** (1 / power)`` over
            the groups where the AUC is defined [1]_, with equal weights. For power 0, the geometric
            mean. NaN if no group has a defined AUC. If `undefined` is a number, it is used as the
            `auc` of groups that lack a class.

        Raises
        ------
        ValueError
            If `power` is not a finite number.

        References
        ----------
        .. [1] Borkan, D., Dixon, L., Sorensen, J., Thain, N. and Vasserman, L. (2019). Nuanced
           metrics for measuring unintended bias with real data for text classification.
           Companion of The Web Conference. https://doi.org/10.1145/3308560.3317593

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.6, 0.8, 0.1, 0.7], groups=["a", "a", "b", "b"]
        ... )
        >>> report.bias_means(power=1).to_dict()
        {'auc': 1.0, 'bpsn_auc': 1.0, 'bnsp_auc': 1.0}
        """
        import pandas as pd

        if not _input.is_number(power) or not np.isfinite(power):
            raise ValueError(f"power must be a finite number; got {_words.shortened(power)}.")
        auc, used = self._usable
        values = {"auc": auc[used], "bpsn_auc": self._bias.bpsn, "bnsp_auc": self._bias.bnsp}
        return pd.Series({name: _generalised_mean(v, power) for name, v in values.items()})

    def bias_score(self, power: float = -5.0, pooled_share: float = 0.25) -> float:
        """Return a weighted mean of the pooled AUC and the generalized means of the bias AUCs.

        Parameters
        ----------
        power : float, default=-5.0
            Exponent of the generalized means; see `bias_means`.
        pooled_share : float, default=0.25
            Weight of the pooled AUC, from 0 to 1; the three means share the rest.

        Returns
        -------
        float
            Score from 0 to 1, greater is better; NaN if one of the four terms is NaN.

        Raises
        ------
        ValueError
            If an argument is not as described.

        Notes
        -----
        The defaults give the score of the competition "Jigsaw Unintended Bias in Toxicity
        Classification" (2019). Its groups are identities, which may overlap there.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.6, 0.8, 0.1, 0.7], groups=["a", "a", "b", "b"]
        ... )
        >>> report.bias_score()
        1.0
        """
        if not _input.is_number(pooled_share) or not 0 <= pooled_share <= 1:
            raise ValueError(
                f"pooled_share must be a number from 0 to 1; got {_words.shortened(pooled_share)}."
            )
        means = self.bias_means(power)
        if means.isna().any():
            return self._not_defined(
                "the bias score needs a group with rows of both classes, and others that have "
                "rows of both"
            )
        return float(pooled_share * self.pooled + (1.0 - pooled_share) * means.mean())

    def abroca(
        self, reference: Any = "rest", *, n_resamples: int = 0, random_state: Any = None
    ) -> pd.DataFrame:
        """Return the area between the ROC curves of each group and of a reference (ABROCA).

        Parameters
        ----------
        reference : "rest" or a group's label, default="rest"
            "rest" compares each group with the pooled rows of all other groups. A label compares
            the other groups with the group of that label. If a group is named "rest", pass its
            label in a list.
        n_resamples : int, default=0
            Number of draws of the area under the null hypothesis that both curves are the same. 0
            leaves out `expected` and the p values. The smallest possible p value with 1,000 draws
            is about 0.001.
        random_state : int, RandomState instance or None, default=None
            Seed of the draws.

        Returns
        -------
        pandas.DataFrame
            Indexed by group: `auc`, `reference_auc`, and `abroca` [1]_, the exact area between the
            two curves. The area is 0 if the curves are the same. It is at least the absolute
            difference of the AUCs, and equals that difference if the curves do not cross. With
            `n_resamples`, also `expected`, the mean area under the null hypothesis, `pvalue`,
            `pvalue_adjusted` and the `adjustment`: Holm's, or Benjamini and Hochberg's for more
            than 50 groups. NaN if a class is absent.

        Raises
        ------
        ValueError
            If there is no such group, if `n_resamples` is not a whole number of 0 or more, or if p
            values are requested and rows have weights.

        Notes
        -----
        The area is never negative, so sampling error alone makes it positive: compare it with
        `expected`. Each resample draws the placement values of the positives (the share of
        negatives above them) from the pooled placement values of both curves [2]_. Each comparison
        with the rest takes a pass over all distinct scores.

        References
        ----------
        .. [1] Gardner, J., Brooks, C. and Baker, R. (2019). Evaluating the fairness of
           predictive student models through slicing analysis. LAK 9.
           https://doi.org/10.1145/3303772.3303791
        .. [2] Pepe, M. S. and Cai, T. (2004). The analysis of placement values for evaluating
           discriminatory measures. Biometrics 60(2).
           https://doi.org/10.1111/j.0006-341X.2004.00200.x

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> report.abroca("a")
               auc  reference_auc  abroca
        group
        b      0.0            1.0     1.0
        """
        import pandas as pd

        self.pairs.counts_for("abroca")
        n_resamples = _input.check_whole_number(n_resamples, "n_resamples", 0)
        if n_resamples and self.counts.cells.weights is not None:
            raise ValueError(
                "n_resamples must be 0 where rows have weights: the p value of the area is "
                "only known for rows without weights."
            )
        random = check_random_state(random_state)
        groups, reference_group = np.arange(len(self.counts)), None
        if not (isinstance(reference, str) and reference == "rest"):
            reference_group = self._number_of(reference)
            groups = np.delete(groups, reference_group)
        table = pd.DataFrame(
            [self._area_beside(int(g), reference_group, n_resamples, random) for g in groups],
            columns=["auc", "reference_auc", "abroca", "expected", "pvalue"],
            index=self._index()[groups],
        )
        if not n_resamples:
            return table.drop(columns=["expected", "pvalue"])
        pvalue_adjusted, adjustment = adjusted(table["pvalue"].to_numpy())
        return table.assign(pvalue_adjusted=pvalue_adjusted, adjustment=adjustment)

    @functools.cached_property
    def _roc_curves(self) -> RocCurves:
        return RocCurves(self.counts.cells)

    def _area_beside(
        self, g: int, reference: int | None, n_resamples: int, random: np.random.RandomState
    ) -> tuple[float, ...]:
        """Row of the table: a group compared with another group or with all others."""
        curve, curves = self._roc_curves.of_group(g), self._roc_curves
        other = curves.of_others(g) if reference is None else curves.of_group(reference)
        if other is None:
            reference_auc = np.nan
        else:
            reference_auc = other.area if reference is None else self.pairs.auc[reference]
        if curve is None or other is None:
            return self.pairs.auc[g], reference_auc, np.nan, np.nan, np.nan
        area = area_between(curve, other)
        if not n_resamples:
            return self.pairs.auc[g], reference_auc, area, np.nan, np.nan
        negatives, positives = (
            (int(n[g]), int(n.sum() - n[g] if reference is None else n[reference]))
            for n in (self.counts.n_negatives, self.counts.n_positives)
        )
        by_chance = null_areas((curve, other), negatives, positives, n_resamples, random)
        # Treat areas that differ by rounding only as equal.
        pvalue = (1 + (by_chance >= area - 1e-12).sum()) / (1 + n_resamples)
        return self.pairs.auc[g], reference_auc, area, by_chance.mean(), pvalue


def _generalised_mean(values: Floats, power: float) -> float:
    """Generalized mean of the values that are not NaN."""
    values = values[~np.isnan(values)]
    if values.size == 0:
        return float("nan")
    if values.min() <= 0 and power <= 0:
        return 0.0
    if power == 0:
        return float(np.exp(np.log(values).mean()))
    # Divide by the value with the largest term, so that no power overflows.
    scale = (values.max() or 1.0) if power > 0 else values.min()
    return float(scale * np.mean((values / scale) ** power) ** (1.0 / power))
