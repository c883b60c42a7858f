"""Comparisons of models: two models or several models on the same rows, and average ranks."""

from skfedauc.comparison.several_models import ModelComparison, compare_models
from skfedauc.comparison.two_models import PairedComparison, compare_roc_auc

__all__ = [
    "ModelComparison",
    "PairedComparison",
    "compare_models",
    "compare_roc_auc",
]
