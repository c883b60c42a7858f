"""Reports: every AUC of a partial, and the statistics by name."""

from skfedauc.report.group_auc import Decomposition, GroupAUC
from skfedauc.report.statistics import (
    AVERAGES,
    STATISTICS,
    Undefined,
    check_statistic,
    check_undefined,
)

__all__ = [
    "AVERAGES",
    "STATISTICS",
    "Decomposition",
    "GroupAUC",
    "Undefined",
    "check_statistic",
    "check_undefined",
]
