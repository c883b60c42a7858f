"""What users pass, turned into clean arrays; everything else is a clear error.

Errors name the argument, what arrived and what to pass instead.
"""

from skfedauc._validation.alignment import (
    aligned,
    check_row_order,
    check_unique_index,
    column_named,
    columns_of,
    groups_of_rows,
    is_column_names,
    is_series,
)
from skfedauc._validation.arrays import (
    check_counts,
    check_length,
    check_n_jobs,
    check_scores,
    check_sums,
    check_weights,
    column_of,
    count_missing,
    counted,
    warn,
)
from skfedauc._validation.classes import classes_of
from skfedauc._validation.groups import (
    MISSING,
    as_label,
    check_group_names,
    check_groups_given,
    check_label,
    check_missing,
    columns_of_labels,
    drop_unused,
    encode_columns,
    encode_groups,
    kind_of,
    map_labels,
    names_of,
    some_labels,
    unite_kinds,
    unite_labels,
)
from skfedauc._validation.numbers import check_share, check_whole_number, is_number
from skfedauc._validation.rows import Rows, check_rows
from skfedauc._validation.shown import label_text

__all__ = [
    "MISSING",
    "Rows",
    "aligned",
    "as_label",
    "check_counts",
    "check_group_names",
    "check_groups_given",
    "check_label",
    "check_length",
    "check_missing",
    "check_n_jobs",
    "check_row_order",
    "check_rows",
    "check_scores",
    "check_share",
    "check_sums",
    "check_unique_index",
    "check_weights",
    "check_whole_number",
    "classes_of",
    "column_named",
    "column_of",
    "columns_of",
    "columns_of_labels",
    "count_missing",
    "counted",
    "drop_unused",
    "encode_columns",
    "encode_groups",
    "groups_of_rows",
    "is_column_names",
    "is_number",
    "is_series",
    "kind_of",
    "label_text",
    "map_labels",
    "names_of",
    "some_labels",
    "unite_kinds",
    "unite_labels",
    "warn",
]
