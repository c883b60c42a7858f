"""sklearn/metrics/tests/test_common.py with our `roc_auc_score` for one group."""

from own_tests import ROC_AUC, collected, has_parameter, one_group_roc_auc_score

ONE_LABEL = (
    "one label a row: no multilabel y, and no average over labels",
    "must be one-dimensional|unexpected keyword argument 'average'",
)
FAILURES = {
    "test_continuous_classification_invariance_string_vs_numbers_labels": (
        "labels of text need pos_label, as all of scikit-learn's metrics but the AUC want it",
        "pass pos_label=",
    ),
    "test_continuous_inf_nan_input": ("the message counts NaN and infinity", "must be finite"),
    "test_binary_sample_weight_invariance": (
        "the message of wrong lengths names both arguments",
        "sample_weight has 100 rows and y_true has 50",
    ),
    "test_averaging_multilabel": ONE_LABEL,
    "test_multilabel_sample_weight_invariance": ONE_LABEL,
    "test_continuous_multilabel_multioutput_permutations_invariance": ONE_LABEL,
}

REACHES = has_parameter("roc_auc_score", one_group_roc_auc_score)
globals().update(collected("sklearn.metrics.tests.test_common", ROC_AUC, REACHES, FAILURES))
