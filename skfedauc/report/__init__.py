"""Reports of the AUCs of a `ScoreCounts`, and the table of named statistics."""

from skfedauc.report.agreement import Agreement
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.group_auc import (
    GroupAUC,
    estimates_of,
    first_lines_of,
    group_names_of,
    index_of,
    null_difference_of,
    spread_of,
)
from skfedauc.report.groups import by_number, labels_of_rows, large_groups, listed
from skfedauc.report.multiclass import (
    ClassAverage,
    MulticlassGroupAUC,
    check_class_average,
    check_no_two_classes,
)
from skfedauc.report.responses import responses_of
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
    determined_statistics,
    shares,
    statistics_of,
)
from skfedauc.report.undefined import (
    NotDefined,
    Undefined,
    UndefinedPolicy,
    check_replacement,
    check_undefined,
    of_one_label,
)

__all__ = [
    "AVERAGES",
    "STATISTICS",
    "Agreement",
    "ClassAverage",
    "Decomposition",
    "Gap",
    "GroupAUC",
    "GroupEstimates",
    "MulticlassGroupAUC",
    "NotDefined",
    "ScorerStatistic",
    "Statistic",
    "StatisticName",
    "Undefined",
    "UndefinedPolicy",
    "all_statistics",
    "by_number",
    "check_class_average",
    "check_no_two_classes",
    "check_replacement",
    "check_statistic",
    "check_undefined",
    "determined_statistics",
    "estimates_of",
    "first_lines_of",
    "group_names_of",
    "index_of",
    "labels_of_rows",
    "large_groups",
    "listed",
    "null_difference_of",
    "of_one_label",
    "responses_of",
    "shares",
    "spread_of",
    "statistics_of",
]
