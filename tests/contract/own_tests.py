"""Scikit-learn's own tests, loaded from the installed scikit-learn with ours in the place of its.

Each ``test_own_*.py`` loads one of its test modules, has the tests that reach what was replaced
collected as its own, and lists those that fail with the reason. An expected failure that passes
is a failure too.
"""

import contextlib
import importlib.util
import inspect
import sys
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.validation import _num_samples

from skfedauc import (
    RepeatedWithinGroupStratifiedKFold,
    WithinGroupStratifiedKFold,
    group_roc_auc_score,
)
from skfedauc.scoring import GroupAUCScorer

# What takes the place of scikit-learn's ------------------------------------------------


def one_group_roc_auc_score(y_true, y_score, **arguments):
    """`roc_auc_score` as the AUC of the only group."""
    n_rows = _num_samples(y_true)
    return group_roc_auc_score(
        y_true, y_score, groups=np.zeros(n_rows, int), statistic="macro", **arguments
    )


class OneGroupScorer(GroupAUCScorer):
    """The scorer "roc_auc" as that of the only group."""

    def __init__(self):
        super().__init__(
            "pooled", "none", "skip", None, response_method=("decision_function", "predict_proba")
        )

    def _score(self, method_caller, estimator, X, y_true, **params):
        self._groups = None
        groups = np.zeros(_num_samples(y_true), int)
        return super()._score(method_caller, estimator, X, y_true, groups=groups, **params)


class OneGroupKFold(WithinGroupStratifiedKFold):
    """`StratifiedKFold` as the folds of the only group, unless groups are given."""

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)

    def split(self, X, y=None, groups=None):
        groups = np.zeros(_num_samples(X), int) if groups is None else groups
        return super().split(X, y, groups)


class RepeatedOneGroupKFold(RepeatedWithinGroupStratifiedKFold):
    def __init__(self, *, n_splits=5, n_repeats=10, random_state=None):
        super().__init__(n_splits=n_splits, n_repeats=n_repeats, random_state=random_state)

    def split(self, X, y=None, groups=None):
        groups = np.zeros(_num_samples(X), int) if groups is None else groups
        return super().split(X, y, groups)


# Loading -------------------------------------------------------------------------------


def load(name, *replaced):
    """A test module of scikit-learn, run with these patches in place."""
    spec = importlib.util.find_spec(name)
    own = f"own_{name.rpartition('.')[2]}"
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_file_location(own, spec.origin)
    )
    sys.modules[own] = module  # where pickle finds its classes
    with contextlib.ExitStack() as stack:
        for patch in replaced:
            stack.enter_context(patch)
        exec(compile(Path(spec.origin).read_text("utf-8"), spec.origin, "exec"), vars(module))
    return module


def collected(module, reaches, failures):
    """What a test file takes over from a loaded module.

    Parameters
    ----------
    module : module
    reaches : callable
        Whether a test, as collected, reaches what was replaced.
    failures : dict of str to tuple of two str
        By name of the test, or by the beginning of its name with its parameters: the reason,
        and a regular expression that the failure's message matches.
    """
    names = {
        name: value
        for name, value in vars(module).items()
        if (name.startswith("test_") and inspect.isfunction(value)) or is_fixture(value)
    }
    for test in filter(inspect.isfunction, names.values()):
        test.pytestmark = [with_a_list(mark) for mark in getattr(test, "pytestmark", [])]
    marks = getattr(module, "pytestmark", [])
    marks = marks if isinstance(marks, list) else [marks]
    # Here warnings are errors, also those that scikit-learn has of itself.
    names["pytestmark"] = [pytest.mark.filterwarnings("ignore"), *marks]
    names["REACHES"], names["EXPECTED_FAILURES"] = reaches, failures
    return names


def expected_failure(item):
    """Why a test has to fail, and with which message; None if it has to pass."""
    failures = getattr(getattr(item, "module", None), "EXPECTED_FAILURES", {})
    for name, expected in failures.items():
        if name == item.originalname or ("[" in name and item.name.startswith(name)):
            return expected
    return None


def with_a_list(mark):
    """Parameters from an iterator as a list: pytest warns of others."""
    if mark.name != "parametrize" or isinstance(mark.args[1], Collection):
        return mark
    names, values = mark.args
    return pytest.mark.parametrize(names, list(values), **mark.kwargs).mark


def is_fixture(value):
    return type(value).__name__ == "FixtureFunctionDefinition" or hasattr(
        value, "_pytestfixturefunction"
    )


def calls(*names):
    """Whether the source of a test names one of these."""

    def reaches(item):
        source = inspect.getsource(inspect.unwrap(item.function))
        return any(name in source for name in names)

    return reaches


def has_parameter(*values):
    """Whether a test is run for one of these: a name, an object, or an instance of a class."""

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
