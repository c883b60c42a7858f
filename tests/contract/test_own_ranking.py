"""sklearn/metrics/tests/test_ranking.py with our `roc_auc_score` for one group."""

from unittest import mock

import sklearn.metrics
from own_tests import calls, collected, load, one_group_roc_auc_score

MULTICLASS = (
    "two classes only: no multi_class, labels and average",
    "unexpected keyword argument '(multi_class|labels|average)'|y_score must be one-dimensional",
)
ONE_CLASS = ("the warning of one class counts groups and rows", "1 of 1 group.*lack|1 of 1 group")
FAILURES = {
    "test_roc_curve_toydata": ONE_CLASS,
    "test_auc_score_non_binary_class": ONE_CLASS,
    "test_multiclass_ovo_roc_auc_toydata": MULTICLASS,
    "test_multiclass_ovo_roc_auc_toydata_binary": MULTICLASS,
    "test_multiclass_ovr_roc_auc_toydata": MULTICLASS,
    "test_perfect_imperfect_chance_multiclass_roc_auc": MULTICLASS,
    "test_micro_averaged_ovr_roc_auc": MULTICLASS,
    "test_roc_auc_score_multiclass_labels_error": MULTICLASS,
    "test_roc_auc_score_multiclass_error": MULTICLASS,
    "test_multiclass_ranking_metrics_raise_for_incorrect_shape_of_y_score": MULTICLASS,
    "test_partial_roc_auc_score": ("no partial AUC", "unexpected keyword argument 'max_fpr'"),
}

globals().update(
    collected(
        load(
            "sklearn.metrics.tests.test_ranking",
            mock.patch.object(sklearn.metrics, "roc_auc_score", one_group_roc_auc_score),
        ),
        calls("roc_auc_score"),
        FAILURES,
    )
)
