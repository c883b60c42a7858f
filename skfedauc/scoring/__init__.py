"""Scorers of group statistics, for searches and cross-validation."""

from skfedauc.scoring.factories import (
    FOLDS_REMEDY,
    GroupAUCScorer,
    MulticlassGroupAUCScorer,
    check_response_method,
    group_auc_scoring,
    make_group_auc_scorer,
)

__all__ = [
    "FOLDS_REMEDY",
    "GroupAUCScorer",
    "MulticlassGroupAUCScorer",
    "check_response_method",
    "group_auc_scoring",
    "make_group_auc_scorer",
]
