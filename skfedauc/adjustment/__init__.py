"""Scores on the scale of each group's negatives, for scikit-learn's pipelines and searches."""

from skfedauc.adjustment.group_adjusted_classifier import GroupAdjustedClassifier
from skfedauc.adjustment.group_percentile_transformer import GroupPercentileTransformer

__all__ = ["GroupAdjustedClassifier", "GroupPercentileTransformer"]
