"""sklearn/model_selection/tests/test_split.py with our splitters.

With one group, `WithinGroupStratifiedKFold` replaces `StratifiedKFold`, and the repeated splitter
replaces `RepeatedStratifiedKFold`. Among the splitters that need groups,
`WithinGroupStratifiedKFold` replaces `StratifiedGroupKFold`.
"""

from unittest import mock

import sklearn.model_selection
from own_tests import OneGroupKFold, RepeatedOneGroupKFold, collected, reached_by

from skfedauc import RepeatedWithinGroupStratifiedKFold, WithinGroupStratifiedKFold

FEW_ROWS = (
    "fewer rows of a class than folds is an error: the AUC of a fold would be undefined",
    "so some folds would lack the class|DID NOT WARN",
)
NOT_APART = ("it keeps each group in one fold; ours spreads each group over the folds", "")
TAKES_GROUPS = ("it takes groups, which StratifiedKFold ignores with a warning", "")
SHUFFLED = ("rows are shuffled otherwise", "not equal")
FAILURES = {
    "test_kfold_valueerrors": FEW_ROWS,
    "test_stratified_kfold_label_invariance": FEW_ROWS,
    "test_cross_validator_with_default_params": ("the repr has another name", ""),
    "test_2d_y": ("y of several columns is refused in other words", ""),
    "test_stratified_group_kfold_trivial": NOT_APART,
    "test_stratified_group_kfold_approximate": NOT_APART,
    "test_stratified_group_kfold_shuffle_preserves_stratification": NOT_APART,
    "test_group_kfold": NOT_APART,
    "test_repeated_stratified_kfold_deterministic_split": SHUFFLED,
    "test_repeated_stratified_kfold_determinstic_split": SHUFFLED,  # so it is spelled before 1.9
    "test_splitter_get_metadata_routing[OneGroupKFold": TAKES_GROUPS,
    "test_splitter_get_metadata_routing[RepeatedOneGroupKFold": TAKES_GROUPS,
    "test_splitter_set_split_request[OneGroupKFold": TAKES_GROUPS,
    "test_splitter_set_split_request[RepeatedOneGroupKFold": TAKES_GROUPS,
    "test_no_group_splitters_warns_with_groups": TAKES_GROUPS,
    "test_stratified_splitter_without_y": (
        "y may be left out of the call, for scikit-learn's other splitters; the first split raises",
        "DID NOT RAISE",
    ),
}

PATCH = mock.patch.multiple(
    sklearn.model_selection,
    StratifiedKFold=OneGroupKFold,
    RepeatedStratifiedKFold=RepeatedOneGroupKFold,
    StratifiedGroupKFold=WithinGroupStratifiedKFold,
)
OURS = [WithinGroupStratifiedKFold, RepeatedWithinGroupStratifiedKFold]
REACHES = reached_by(
    ["StratifiedKFold", "StratifiedGroupKFold"], [*OURS, OneGroupKFold, RepeatedOneGroupKFold]
)
globals().update(collected("sklearn.model_selection.tests.test_split", PATCH, REACHES, FAILURES))
