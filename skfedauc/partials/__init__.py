"""Mergeable score counts by group, built from rows, from counts or from batches."""

from skfedauc.partials.auc_partial import AUCPartial, left_out

__all__ = ["AUCPartial", "left_out"]
