"""Splitters, cross-validation and refit rules for groups."""

from skfedauc.model_selection.candidates import compare_candidates
from skfedauc.model_selection.cross_validation import (
    FoldEffect,
    GroupAUCCrossValidation,
    cross_validate_group_auc,
)
from skfedauc.model_selection.refit import (
    select_simplest,
    select_within_gap,
)
from skfedauc.model_selection.splitter import (
    RepeatedWithinGroupStratifiedKFold,
    WithinGroupStratifiedKFold,
)

__all__ = [
    "FoldEffect",
    "GroupAUCCrossValidation",
    "RepeatedWithinGroupStratifiedKFold",
    "WithinGroupStratifiedKFold",
    "compare_candidates",
    "cross_validate_group_auc",
    "select_simplest",
    "select_within_gap",
]
