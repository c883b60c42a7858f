"""Splitters, cross-validation and refit rules for groups."""

from skfedauc.model_selection.candidates import (
    SelectSimplest,
    SelectWithinGap,
    compare_candidates,
)
from skfedauc.model_selection.cross_validation import (
    FoldEffect,
    GroupAUCCrossValidation,
    cross_validate_group_auc,
)
from skfedauc.model_selection.splitter import (
    RepeatedWithinGroupStratifiedKFold,
    WithinGroupStratifiedKFold,
)

__all__ = [
    "FoldEffect",
    "GroupAUCCrossValidation",
    "RepeatedWithinGroupStratifiedKFold",
    "SelectSimplest",
    "SelectWithinGap",
    "WithinGroupStratifiedKFold",
    "compare_candidates",
    "cross_validate_group_auc",
]
