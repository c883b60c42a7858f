"""AUC over groups for scikit-learn: devices, hospitals, shops, folds, people.

Modules are imported when a name is first used. Counting rows on a device therefore needs only
numpy (and pandas, if labels are neither integers nor booleans), not scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skfedauc._versions import show_versions
    from skfedauc.fairness import FairnessAudit, MitigatedClassifier
    from skfedauc.inference.luck import auc_difference_pvalue, auc_luck, luck_report
    from skfedauc.metrics import compare_roc_auc, group_roc_auc_score
    from skfedauc.model_selection import (
        RepeatedWithinGroupStratifiedKFold,
        WithinGroupStratifiedKFold,
        cross_validate_group_auc,
        pareto_front,
        select_simplest_tied,
        select_within_gap,
    )
    from skfedauc.partials import AUCPartial
    from skfedauc.plotting import (
        CandidatesDisplay,
        CrossAUCDisplay,
        GroupAUCDisplay,
        GroupRocCurveDisplay,
        GroupScoreDisplay,
    )
    from skfedauc.report import GroupAUC
    from skfedauc.scoring import group_auc_scoring, make_group_auc_scorer
    from skfedauc.simulation import make_devices, make_universe

__version__: str

__all__ = [
    "AUCPartial",
    "CandidatesDisplay",
    "CrossAUCDisplay",
    "FairnessAudit",
    "GroupAUC",
    "GroupAUCDisplay",
    "GroupRocCurveDisplay",
    "GroupScoreDisplay",
    "MitigatedClassifier",
    "RepeatedWithinGroupStratifiedKFold",
    "WithinGroupStratifiedKFold",
    "auc_difference_pvalue",
    "auc_luck",
    "compare_roc_auc",
    "cross_validate_group_auc",
    "group_auc_scoring",
    "group_roc_auc_score",
    "luck_report",
    "make_devices",
    "make_group_auc_scorer",
    "make_universe",
    "pareto_front",
    "select_simplest_tied",
    "select_within_gap",
    "show_versions",
]

_MODULES = {
    "AUCPartial": "partials",
    "CandidatesDisplay": "plotting",
    "CrossAUCDisplay": "plotting",
    "FairnessAudit": "fairness",
    "GroupAUC": "report",
    "GroupAUCDisplay": "plotting",
    "GroupRocCurveDisplay": "plotting",
    "GroupScoreDisplay": "plotting",
    "MitigatedClassifier": "fairness",
    "RepeatedWithinGroupStratifiedKFold": "model_selection",
    "WithinGroupStratifiedKFold": "model_selection",
    "auc_difference_pvalue": "inference.luck",
    "auc_luck": "inference.luck",
    "compare_roc_auc": "metrics",
    "cross_validate_group_auc": "model_selection",
    "group_auc_scoring": "scoring",
    "group_roc_auc_score": "metrics",
    "luck_report": "inference.luck",
    "make_devices": "simulation",
    "make_group_auc_scorer": "scoring",
    "make_universe": "simulation",
    "pareto_front": "model_selection",
    "select_simplest_tied": "model_selection",
    "select_within_gap": "model_selection",
    "show_versions": "_versions",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":  # importlib.metadata is slow to import
        from importlib.metadata import version

        return version("skfedauc")
    if name not in _MODULES:
        raise AttributeError(f"module 'skfedauc' has no attribute {name!r}")
    return getattr(import_module(f"skfedauc.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
