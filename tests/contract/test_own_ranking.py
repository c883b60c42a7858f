"""sklearn/metrics/tests/test_ranking.py with our `roc_auc_score` for one group."""

from own_tests import ROC_AUC, calls, collected

AVERAGES = ("no AUCs of single classes, and no average 'micro'", "class_average must be 'macro'")
MESSAGES = (
    "other messages; the labels may have any order, which is that of the columns",
    "must hold three or more different classes|must have one column for each of the 4 classes|"
    "which are not among labels|DID NOT RAISE",
)
REFUSED = (
    "other messages",
    "class_average must be 'macro'|sample_weight has 0 rows|cannot be combined|"
    "y_score must be one-dimensional|must have one column for each of the 3 classes",
)
ONE_CLASS = ("the warning of one class counts groups and rows", "1 of 1 group.*lack|1 of 1 group")
FAILURES = {
    "test_roc_curve_toydata": ONE_CLASS,
    "test_auc_score_non_binary_class": ONE_CLASS,
    "test_multiclass_ovo_roc_auc_toydata": AVERAGES,
    "test_multiclass_ovo_roc_auc_toydata_binary": ("a class without rows", "ACTUAL: nan"),
    "test_multiclass_ovr_roc_auc_toydata": AVERAGES,
    "test_perfect_imperfect_chance_multiclass_roc_auc[ovr-micro]": AVERAGES,
    "test_micro_averaged_ovr_roc_auc": AVERAGES,
    "test_roc_auc_score_multiclass_labels_error": MESSAGES,
    "test_roc_auc_score_multiclass_error": REFUSED,
    "test_multiclass_ranking_metrics_raise_for_incorrect_shape_of_y_score": REFUSED,
}

REACHES = calls("roc_auc_score")
globals().update(collected("sklearn.metrics.tests.test_ranking", ROC_AUC, REACHES, FAILURES))
