"""Validation of arguments: arrays, group labels, class labels and single numbers.

Error messages name the argument, the value received and the remedy.
"""

from skfedauc._input.alignment import (
    aligned,
    check_column_names,
    check_row_order,
    check_single_values,
    check_unique_index,
    column_named,
    columns_of,
    distinct_columns,
    groups_of_rows,
    is_column_names,
    is_series,
    unwrapped,
)
from skfedauc._input.arrays import (
    check_counts,
    check_length,
    check_n_jobs,
    check_scores,
    check_sums,
    check_weights,
    column_of,
    count_missing,
    from_array_api,
    is_called_by,
    kind_in_words,
    object_array,
    warn,
)
from skfedauc._input.classes import (
    Classes,
    classes_of,
    hard_labels,
    warn_if_misspelled,
)
from skfedauc._input.csv_rules import header_of, without_zero_decimals
from skfedauc._input.encoding import drop_unused
from skfedauc._input.group_names import check_group_names, names_of
from skfedauc._input.groups import (
    Missing,
    check_groups_given,
    check_missing,
    encode_columns,
    encode_groups,
)
from skfedauc._input.labels import (
    MISSING,
    are_sorted_labels,
    as_label,
    check_label,
    columns_of_labels,
    kind_of,
    position_of,
    some_labels,
    unite_kinds,
)
from skfedauc._input.numbers import check_share, check_whole_number, is_number
from skfedauc._input.options import check_option
from skfedauc._input.relabel import map_labels, unite_labels
from skfedauc._input.rows import Rows, check_rows
from skfedauc._input.text import check_text, folded

__all__ = [
    "MISSING",
    "Classes",
    "Missing",
    "Rows",
    "aligned",
    "are_sorted_labels",
    "as_label",
    "check_column_names",
    "check_counts",
    "check_group_names",
    "check_groups_given",
    "check_label",
    "check_length",
    "check_missing",
    "check_n_jobs",
    "check_option",
    "check_row_order",
    "check_rows",
    "check_scores",
    "check_share",
    "check_single_values",
    "check_sums",
    "check_text",
    "check_unique_index",
    "check_weights",
    "check_whole_number",
    "classes_of",
    "column_named",
    "column_of",
    "columns_of",
    "columns_of_labels",
    "count_missing",
    "distinct_columns",
    "drop_unused",
    "encode_columns",
    "encode_groups",
    "folded",
    "from_array_api",
    "groups_of_rows",
    "hard_labels",
    "header_of",
    "is_called_by",
    "is_column_names",
    "is_number",
    "is_series",
    "kind_in_words",
    "kind_of",
    "map_labels",
    "names_of",
    "object_array",
    "position_of",
    "some_labels",
    "unite_kinds",
    "unite_labels",
    "unwrapped",
    "warn",
    "warn_if_misspelled",
    "without_zero_decimals",
]
