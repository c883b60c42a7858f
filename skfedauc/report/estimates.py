"""`GroupEstimates`: AUCs, variances and pairs of groups, the input of every statistic."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference.clusters import pooled_clusters, variances_of_clusters
from skfedauc.inference.folds import folds_of, pooled_folds
from skfedauc.inference.variances import Extremes, Pooled, Variances, pooled_of, variances_of
from skfedauc.pairs import GroupPairs
from skfedauc.report.undefined import NotDefined, UndefinedPolicy

Floats = NDArray[np.float64]


class GroupEstimates:
    """AUCs of groups, with their variances, and the pairs of rows that determine the AUCs.

    Parameters
    ----------
    pairs : GroupPairs
    policy : UndefinedPolicy

    Attributes
    ----------
    pairs : GroupPairs
    policy : UndefinedPolicy
    """

    def __init__(self, pairs: GroupPairs, policy: UndefinedPolicy) -> None:
        self.pairs = pairs
        self.policy = policy

    @functools.cached_property
    def variances(self) -> Variances:
        """Variances of the group AUCs.

        Raises
        ------
        ValueError
            If rows can be in several test sets.
        """
        pairs = self.pairs
        if pairs.clusters is not None:
            return variances_of_clusters(pairs.counts, pairs.clusters)
        pairs.check_no_repeated_rows()
        return folds_of(pairs) if pairs.is_within_folds else variances_of(pairs.counts)

    @functools.cached_property
    def pooled(self) -> Pooled:
        """Variances of the pooled AUC."""
        pairs = self.pairs
        if pairs.clusters is not None:
            return pooled_clusters(pairs.counts, pairs.clusters)
        pairs.check_no_repeated_rows()
        if pairs.is_within_folds:
            return pooled_folds(pairs)
        return pooled_of(pairs.counts, self.variances)

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
            given = dataclasses.replace(given, auc=self.pairs.auc)
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

    @functools.cached_property
    def in_use(self) -> Variances:
        """Variances of the groups in averages and gaps; a number for an undefined AUC has none."""
        return self.variances.with_known(*self.group_aucs)

    @property
    def extremes_in_use(self) -> Extremes:
        """Variances of the groups in averages and gaps, here and at both extremes."""
        lowest, highest = (end.in_use for end in self.extremes)
        return Extremes(self.in_use, lowest, highest)

    def value_of(self, statistic: Callable[[GroupEstimates], float]) -> float:
        """Compute a statistic; an undefined statistic is NaN, or causes a warning or an error."""
        try:
            return statistic(self)
        except NotDefined as error:
            return self.policy.nan(error, self.pairs)

    def quiet(self) -> GroupEstimates:
        """Return these estimates without warnings and errors about undefined AUCs."""
        quiet = GroupEstimates(self.pairs, self.policy.quiet())
        # Share what is computed already.
        names = ("variances", "pooled")
        vars(quiet).update({name: vars(self)[name] for name in names if name in vars(self)})
        return quiet
