"""AUC over groups for scikit-learn: devices, hospitals, shops, folds, people.

Names are loaded when first used: counting rows on a device needs numpy alone, and pandas
for labels that are not integers or booleans, but not scikit-learn.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skfedauc.metrics import group_roc_auc_score
    from skfedauc.model_selection import (
        WithinGroupStratifiedKFold,
        cross_validate_group_auc,
        pareto_front,
        select_within_gap,
    )
    from skfedauc.partials import AUCPartial
    from skfedauc.report import GroupAUC
    from skfedauc.scoring import group_auc_scoring, make_group_auc_scorer

__version__ = version("skfedauc")

__all__ = [
    "AUCPartial",
    "GroupAUC",
    "WithinGroupStratifiedKFold",
    "cross_validate_group_auc",
    "group_auc_scoring",
    "group_roc_auc_score",
    "make_group_auc_scorer",
    "pareto_front",
    "select_within_gap",
]

_MODULES = {
    "AUCPartial": "partials",
    "GroupAUC": "report",
    "WithinGroupStratifiedKFold": "model_selection",
    "cross_validate_group_auc": "model_selection",
    "group_auc_scoring": "scoring",
    "group_roc_auc_score": "metrics",
    "make_group_auc_scorer": "scoring",
    "pareto_front": "model_selection",
    "select_within_gap": "model_selection",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'skfedauc' has no attribute {name!r}")
    return getattr(import_module(f"skfedauc.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
