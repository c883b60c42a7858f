"""Mergeable score counts by group, built from rows, from counts or from batches."""

from skfedauc._kernel import Cells, Concordance
from skfedauc.counts.score_counts import Origin, ScoreCounts, left_out

__all__ = ["Cells", "Concordance", "Origin", "ScoreCounts", "left_out"]
