"""Scorers of group statistics, for searches and cross-validation."""

from skfedauc.scoring.factories import (
    check_response_method,
    group_auc_scoring,
    make_group_auc_scorer,
)
from skfedauc.scoring.group_scorer import FOLDS_REMEDY, GroupAUCScorer, MulticlassGroupAUCScorer

__all__ = [
    "FOLDS_REMEDY",
    "GroupAUCScorer",
    "MulticlassGroupAUCScorer",
    "check_response_method",
    "group_auc_scoring",
    "make_group_auc_scorer",
]
