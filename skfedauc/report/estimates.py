"""`GroupEstimates`: AUCs, variances and pairs of groups, the input of every statistic."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference.clusters import ClusterVariances
from skfedauc.inference.fold_variances import variances_of
from skfedauc.inference.variances import Extremes, Variances
from skfedauc.pairs import GroupPairs
from skfedauc.report.undefined import NotDefined, UndefinedPolicy

Floats = NDArray[np.float64]


class GroupEstimates:
    """AUCs of groups, with their variances, and the pairs of rows that determine the AUCs.

    Parameters
    ----------
    pairs : GroupPairs
    policy : UndefinedPolicy
    variances : Variances, default=None
        Variances of the AUCs, if already available.

    Attributes
    ----------
    pairs : GroupPairs
    policy : UndefinedPolicy
    """

    def __init__(
        self, pairs: GroupPairs, policy: UndefinedPolicy, variances: Variances | None = None
    ) -> None:
        self.pairs = pairs
        self.policy = policy
        self._variances = variances

    @property
    def variances(self) -> Variances:
        """Variances of the group AUCs and of the pooled AUC.

        Raises
        ------
        ValueError
            If rows can be in several test sets.
        """
        if self._variances is None:
            clusters = self.pairs.clusters
            self._variances = (
                variances_of(self.pairs)
                if clusters is None
                else ClusterVariances(self.pairs.counts, clusters)
            )
        return self._variances

    @property
    def extremes(self) -> tuple[GroupEstimates, GroupEstimates]:
        """Estimates of the same rows with the lowest and with the highest AUCs, without warnings.

        For exact scores, the method returns these estimates twice; see `GroupPairs.extremes`.
        """
        return self._ends if self.pairs.is_binned else (self, self)

    @functools.cached_property
    def _ends(self) -> tuple[GroupEstimates, GroupEstimates]:
        lowest, highest = (
            GroupEstimates(pairs, self.policy.quiet()) for pairs in self.pairs.extremes()
        )
        return lowest, highest

    @property
    def variances_at_extremes(self) -> Extremes:
        """Variances of these estimates and of both extremes."""
        lowest, highest = self.extremes
        given = self.variances
        if self.pairs.has_overlaps:
            given = given.with_auc(self.pairs.auc)
        return Extremes(given, lowest.variances, highest.variances)

    @functools.cached_property
    def group_aucs(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Group AUCs for averages and gaps, and a mask of the groups in use.

        The mask omits a group that lacks a class, or a number replaces the AUC of this group. The
        first access warns or raises if the policy requires this.
        """
        self.policy.report_groups(self.pairs)
        auc, replacement = self.pairs.auc, self.policy.replacement
        if replacement is None:
            return auc, self.pairs.defined
        return np.where(self.pairs.defined, auc, replacement), np.ones(auc.size, np.bool_)

    def value_of(self, statistic: Callable[[GroupEstimates], float]) -> float:
        """Compute a statistic; an undefined statistic is NaN, or causes a warning or an error."""
        try:
            return statistic(self)
        except NotDefined as error:
            return self.policy.nan(error, self.pairs)

    def quiet(self) -> GroupEstimates:
        """Return these estimates without warnings and errors about undefined AUCs."""
        variances = None if self.pairs.rows_repeat else self.variances
        return GroupEstimates(self.pairs, self.policy.quiet(), variances)
