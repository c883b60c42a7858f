"""Reports of the AUCs of a `ScoreCounts`, and the table of named statistics."""

from skfedauc.report.agreement import Agreement
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.group_auc import GroupAUC
from skfedauc.report.statistics import (
    AVERAGES,
    STATISTICS,
    Decomposition,
    Gap,
    ScorerStatistic,
    Statistic,
    StatisticName,
    all_statistics,
    check_statistic,
    shares,
)
from skfedauc.report.undefined import (
    NotDefined,
    Undefined,
    UndefinedPolicy,
    check_undefined,
    of_one_label,
)

__all__ = [
    "AVERAGES",
    "STATISTICS",
    "Agreement",
    "Decomposition",
    "Gap",
    "GroupAUC",
    "GroupEstimates",
    "NotDefined",
    "ScorerStatistic",
    "Statistic",
    "StatisticName",
    "Undefined",
    "UndefinedPolicy",
    "all_statistics",
    "check_statistic",
    "check_undefined",
    "of_one_label",
    "shares",
]
