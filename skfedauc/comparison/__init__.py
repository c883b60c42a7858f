"""Comparisons of models: two models or several models on the same rows, and average ranks."""

from skfedauc.comparison.average_ranks import RankComparison, compare_average_ranks
from skfedauc.comparison.several_models import ModelComparison, compare_models
from skfedauc.comparison.two_models import PairedComparison, compare_roc_auc

__all__ = [
    "ModelComparison",
    "PairedComparison",
    "RankComparison",
    "compare_average_ranks",
    "compare_models",
    "compare_roc_auc",
]
