"""The state: counts by group and score, built from rows, from counts or batch by batch."""

from skfedauc.partials.auc_partial import AUCPartial, left_out

__all__ = ["AUCPartial", "left_out"]
