"""Validation of arguments: arrays, group labels, class labels and single numbers.

Error messages name the argument, the value received and the remedy.
"""

from skfedauc._input.arguments import (
    check_flag,
    check_n_jobs,
    check_number,
    check_option,
    check_random_state,
    check_share,
    check_whole_number,
    is_number,
)
from skfedauc._input.arrays import (
    check_counts,
    check_floats,
    check_length,
    check_scores,
    check_sums,
    check_weights,
    column_of,
    count_missing,
    from_array_api,
    is_called_by,
    kind_in_words,
    object_array,
    unwrapped,
    warn,
)
from skfedauc._input.classes import (
    Classes,
    check_labels,
    class_labels,
    classes_of,
    hard_labels,
    refuse_missing_labels,
    warn_if_misspelled,
)
from skfedauc._input.groups import (
    Missing,
    check_group_names,
    check_groups_given,
    check_missing,
    drop_unused,
    encode_columns,
    encode_groups,
    map_labels,
    names_of,
    unite_labels,
)
from skfedauc._input.labels import (
    MISSING,
    are_sorted_labels,
    as_label,
    check_label,
    check_text,
    columns_of_labels,
    folded,
    header_of,
    kind_of,
    position_of,
    some_labels,
    unite_kinds,
    without_zero_decimals,
)
from skfedauc._input.rows import (
    Rows,
    aligned,
    check_column_names,
    check_row_order,
    check_rows,
    check_single_values,
    check_unique_index,
    column_named,
    columns_of,
    distinct_columns,
    groups_of_rows,
    is_column_names,
    is_series,
)
