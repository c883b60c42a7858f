"""Reports of the AUCs of a `ScoreCounts`, and the table of named statistics."""

from skfedauc.report.group_auc import Decomposition, GroupAUC
from skfedauc.report.statistics import (
    AVERAGES,
    STATISTICS,
    Gap,
    ScorerStatistic,
    StatisticName,
    Undefined,
    check_statistic,
    check_undefined,
)
from skfedauc.report.uncertainty import Agreement, is_over_groups

__all__ = [
    "AVERAGES",
    "STATISTICS",
    "Agreement",
    "Decomposition",
    "Gap",
    "GroupAUC",
    "ScorerStatistic",
    "StatisticName",
    "Undefined",
    "check_statistic",
    "check_undefined",
    "is_over_groups",
]
