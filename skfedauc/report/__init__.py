"""Reports of the AUCs of a `ScoreCounts`, and the table of named statistics."""

from skfedauc.report.group_auc import GroupAUC
from skfedauc.report.group_comparisons import Agreement
from skfedauc.report.multiclass import MulticlassGroupAUC
from skfedauc.report.statistics import Decomposition

__all__ = ["Agreement", "Decomposition", "GroupAUC", "MulticlassGroupAUC"]
