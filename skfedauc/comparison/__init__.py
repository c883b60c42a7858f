"""Comparison of two or more models on the same rows."""

from skfedauc.comparison.models import ModelComparison, compare_models

__all__ = ["ModelComparison", "compare_models"]
