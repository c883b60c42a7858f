"""Mergeable score counts by group, built from rows, from counts or from batches."""

from skfedauc._kernel import Cells, Concordance
from skfedauc.counts.agreement import MergeError
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import Disclosure, DisclosureError
from skfedauc.counts.file_facts import version_of_package
from skfedauc.counts.limits import Limits
from skfedauc.counts.multiclass import (
    MultiClass,
    MulticlassCounts,
    MulticlassRows,
    check_multi_class,
)
from skfedauc.counts.origin import Origin, Source, left_out
from skfedauc.counts.score_counts import ScoreCounts
from skfedauc.counts.withheld import Withheld

__all__ = [
    "Bins",
    "Cells",
    "Concordance",
    "Disclosure",
    "DisclosureError",
    "Limits",
    "MergeError",
    "MultiClass",
    "MulticlassCounts",
    "MulticlassRows",
    "Origin",
    "ScoreCounts",
    "Source",
    "Withheld",
    "check_multi_class",
    "left_out",
    "version_of_package",
]
