"""Scikit-learn's own tests, with our functions and classes in place of scikit-learn's.

Each ``test_own_*.py`` loads a test module of the installed scikit-learn, collects the tests that
use the replaced objects, and lists expected failures with reasons. If a test with an expected
failure passes, the test counts as failed.
"""

import importlib.util
import inspect
import sys
from collections.abc import Collection
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import sklearn.metrics
from sklearn.utils.validation import _num_samples

from skfedauc import (
    RepeatedWithinGroupStratifiedKFold,
    WithinGroupStratifiedKFold,
    group_roc_auc_score,
)
from skfedauc.measures import PartialAUC
from skfedauc.scoring import GroupAUCScorer, Options


def one_group_roc_auc_score(y_true, y_score, *, average="macro", max_fpr=None, **arguments):
    n_rows = _num_samples(y_true)
    if arguments.get("multi_class", "raise") != "raise":
        arguments["class_average"] = average
    elif average != "macro":
        arguments["average"] = average
    if max_fpr is not None:
        arguments["measure"] = PartialAUC(max_fpr=max_fpr)
    return group_roc_auc_score(
        y_true, y_score, groups=np.zeros(n_rows, int), statistic="macro", **arguments
    )


ROC_AUC = mock.patch.object(sklearn.metrics, "roc_auc_score", one_group_roc_auc_score)


class OneGroupScorer(GroupAUCScorer):
    def __init__(self):
        super().__init__("pooled", Options("none"))

    def _score(self, method_caller, estimator, X, y_true, **params):
        # Routed groups, also while routing is off
        vars(self._options)["groups"] = None
        groups = np.zeros(_num_samples(y_true), int)
        return super()._score(method_caller, estimator, X, y_true, groups=groups, **params)


class _OneGroup:
    """A single group, unless groups are passed."""

    def split(self, X, y=None, groups=None):
        groups = np.zeros(_num_samples(X), int) if groups is None else groups
        return super().split(X, y, groups)


class OneGroupKFold(_OneGroup, WithinGroupStratifiedKFold):
    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)


class RepeatedOneGroupKFold(_OneGroup, RepeatedWithinGroupStratifiedKFold):
    def __init__(self, *, n_splits=5, n_repeats=10, random_state=None):
        super().__init__(n_splits=n_splits, n_repeats=n_repeats, random_state=random_state)


def load(name, patch):
    spec = importlib.util.find_spec(name)
    own = f"own_{name.rpartition('.')[2]}"
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_file_location(own, spec.origin)
    )
    sys.modules[own] = module  # pickle looks up classes here
    with patch:
        exec(compile(Path(spec.origin).read_text("utf-8"), spec.origin, "exec"), vars(module))
    return module


def collected(name, patch, reaches, failures):
    """Return the names that a test file imports from a test module of scikit-learn.

    `reaches` says whether a collected test uses a replaced object. `failures` are expected: reason
    and regular expression of the message, by the name of the test, or by its beginning with
    parameters.
    """
    module = load(name, patch)
    names = {
        name: value
        for name, value in vars(module).items()
        if (name.startswith("test_") and inspect.isfunction(value))
        or type(value).__name__ == "FixtureFunctionDefinition"
    }
    for test in filter(inspect.isfunction, names.values()):
        test.pytestmark = [with_a_list(mark) for mark in getattr(test, "pytestmark", [])]
    marks = getattr(module, "pytestmark", [])
    marks = marks if isinstance(marks, list) else [marks]
    # In this project warnings are errors, but scikit-learn's tests may warn.
    names["pytestmark"] = [pytest.mark.filterwarnings("ignore"), *marks]
    names["REACHES"], names["EXPECTED_FAILURES"] = reaches, failures
    return names


def expected_failure(item):
    """Return the reason and the message of an expected failure; None for other tests."""
    failures = getattr(getattr(item, "module", None), "EXPECTED_FAILURES", {})
    for name, expected in failures.items():
        if name == item.originalname or ("[" in name and item.name.startswith(name)):
            return expected
    return None


def with_a_list(mark):
    """Convert parameters from an iterator to a list, because pytest warns about iterators."""
    if mark.name != "parametrize" or isinstance(mark.args[1], Collection):
        return mark
    names, values = mark.args
    return pytest.mark.parametrize(names, list(values), **mark.kwargs).mark


def calls(*names):
    """Return a check whether the source of a test contains one of the names."""

    def reaches(item):
        source = inspect.getsource(inspect.unwrap(item.function))
        return any(name in source for name in names)

    return reaches


def has_parameter(*values):
    """Return a check whether a test has one of these parameters: a value, or an instance."""

    def reaches(item):
        given = getattr(item, "callspec", None)
        return given is not None and any(
            value is one
            or (isinstance(one, str) and isinstance(value, str) and value == one)
            or (isinstance(one, type) and isinstance(value, one))
            for value in given.params.values()
            for one in values
        )

    return reaches


def reached_by(names, values):
    """Return a check whether a test has such a parameter, or none, and one of the names."""
    by_name, by_parameter = calls(*names), has_parameter(*values)

    def reaches(item):
        return by_parameter(item) or (not hasattr(item, "callspec") and by_name(item))

    return reaches
