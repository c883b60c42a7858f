"""Mergeable score counts by group, built from rows, from counts or from batches."""

from skfedauc._kernel import Cells, Concordance
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import Disclosure, DisclosureError, Withheld
from skfedauc.counts.files import LimitError, Limits
from skfedauc.counts.merging import MergeError
from skfedauc.counts.multiclass import MulticlassCounts
from skfedauc.counts.score_counts import ScoreCounts
from skfedauc.counts.state import Source

__all__ = [
    "Bins",
    "Cells",
    "Concordance",
    "Disclosure",
    "DisclosureError",
    "LimitError",
    "Limits",
    "MergeError",
    "MulticlassCounts",
    "ScoreCounts",
    "Source",
    "Withheld",
]
