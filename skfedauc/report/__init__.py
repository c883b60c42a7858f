"""Reports of the AUCs of a `ScoreCounts`, and the table of named statistics."""

from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.group_auc import (
    GroupAUC,
    RowOptions,
    estimates_of,
    first_lines_of,
    null_difference_of,
    responses_of,
)
from skfedauc.report.group_comparisons import Agreement
from skfedauc.report.groups import (
    NotDefined,
    Undefined,
    UndefinedPolicy,
    by_number,
    check_undefined,
    labels_of_rows,
    large_groups,
    listed,
    of_one_label,
)
from skfedauc.report.multiclass import (
    ClassAverage,
    ClassOptions,
    MulticlassGroupAUC,
    averaged,
    check_class_average,
    check_no_two_classes,
)
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
