"""Mergeable score counts by group, built from rows, from counts or from batches."""

from skfedauc._kernel import Cells, Concordance
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import Disclosure, DisclosureError, Withheld
from skfedauc.counts.files import LimitError, Limits
from skfedauc.counts.merging import MergeError
from skfedauc.counts.multiclass import (
    MultiClass,
    MulticlassCounts,
    MulticlassRows,
    check_multi_class,
)
from skfedauc.counts.score_counts import (
    CountOptions,
    ScoreCounts,
    counts_of_rows,
    extremes_of,
    identifier_of,
    left_out,
    view_of,
)
from skfedauc.counts.state import Source

__all__ = [
    "Bins",
    "Cells",
    "Concordance",
    "CountOptions",
    "Disclosure",
    "DisclosureError",
    "LimitError",
    "Limits",
    "MergeError",
    "MultiClass",
    "MulticlassCounts",
    "MulticlassRows",
    "ScoreCounts",
    "Source",
    "Withheld",
    "check_multi_class",
    "counts_of_rows",
    "extremes_of",
    "identifier_of",
    "left_out",
    "view_of",
]
