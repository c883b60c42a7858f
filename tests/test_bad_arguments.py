"""Every public function names the argument that it refuses.

The first test draws some of the cases with a fixed seed; `SKFEDAUC_BAD_ARGUMENTS=all` runs each.
"""

import datetime
import inspect
import math
import os
import random
import re
import warnings
from decimal import Decimal
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from surface import SCORE, Y, public_functions


class Thing:
    def __repr__(self):
        return "<Thing>"


VALUES = {
    "None": None,
    "object": Thing(),
    "class": Thing,
    "text": "x",
    "empty text": "",
    "bytes": b"x",
    "True": True,
    "-1": -1,
    "0": 0,
    "7": 7,
    "huge": 2**70,
    "minus huge": -(2**70),
    ".5": 0.5,
    "1.5": 1.5,
    "-.5": -0.5,
    "1e300": 1e300,
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "complex": 1j,
    "float32 nan": np.float32("nan"),
    "numpy 3": np.int64(3),
    "Decimal": Decimal("NaN"),
    "Fraction": Fraction(1, 3),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "date": datetime.date(2020, 1, 1),
    "[]": [],
    "[1]": [1],
    "[x]": ["x"],
    "[None]": [None],
    "[nan]": [math.nan],
    "[object]": [Thing()],
    "[[1], [2, 3]]": [[1], [2, 3]],
    "()": (),
    "('x',)": ("x",),
    "{}": {},
    "{x: 1}": {"x": 1},
    "{x: object}": {"x": Thing()},
    "set": {1, 2},
    "iterator": iter(()),
    "function": lambda *_: Thing(),
    "slice": slice(3),
    "range": range(3),
    "array 0": np.array(5.0),
    "array of none": np.array([]),
    "array of 3": np.arange(3),
    "array of objects": np.array([Thing()] * Y.size, object),
    "array of nan": np.full(Y.size, math.nan),
    "array of text": np.full(Y.size, "x"),
    "array of one": np.ones(Y.size, np.int64),
    "table": np.column_stack([SCORE, SCORE]),
    "cube": np.zeros((2, 2, 2)),
    "masked": np.ma.masked_equal(Y, 0),
    "structured": np.zeros(Y.size, [("a", int)]),
    "Series": pd.Series([1.0, 2.0]),
    "DataFrame": pd.DataFrame({"a": [1]}),
    "wide DataFrame": pd.DataFrame({"a": Y, "b": SCORE}),
}


# Values that are nonsense for every argument
NONSENSE = ("object", "class", "complex", "slice", "[object]", "{x: object}")
# Arguments that are ignored, are known at the first call, or take any callable
ANYTHING = {
    ("group_auc_scoring", "pos_label"),
    ("make_group_auc_scorer", "pos_label"),
    ("WithinGroupStratifiedKFold.get_n_splits", "X"),
    ("WithinGroupStratifiedKFold.get_n_splits", "y"),
    ("WithinGroupStratifiedKFold.get_n_splits", "groups"),
    ("WithinGroupStratifiedKFold.split", "groups"),
    ("boosting.LightGBMMetric", "groups"),
    ("boosting.XGBoostMetric", "groups"),
}
# Values that other libraries refuse, without the name; always among the cases
OF_OTHERS = {
    ("MitigatedClassifier.fit", "X", "array of 3"),
    ("MitigatedClassifier.fit", "y", "complex"),
    ("MitigatedClassifier.predict", "X", "[1]"),
    ("WithinGroupStratifiedKFold.split", "y", "array of objects"),
    ("compare_models", "scores", "[[1], [2, 3]]"),
    ("datasets.make_group_scores", "n_negatives", "[[1], [2, 3]]"),
    ("error_bounds.error_rate_bound", "n_errors", "[[1], [2, 3]]"),
}
LEAST_NAMED = 0.99


def error_of(function, changed):
    """Return the error of a call, or None if the function accepts its arguments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(**changed)
        except Exception as error:
            return error
        finally:
            plt.close("all")
    return None


def cases():
    """Return the cases to run: a sample that is always the same, or all."""
    known = [
        (function, name, value)
        for function in public_functions()
        for name in function.parameters
        for value in VALUES
    ]
    if os.environ.get("SKFEDAUC_BAD_ARGUMENTS") == "all":
        return known
    of_others = [case for case in known if (case[0].name, *case[1:]) in OF_OTHERS]
    assert len(of_others) == len(OF_OTHERS)
    return [*of_others, *random.Random(0).sample(known, 2_000)]


def test_bad_arguments_are_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    unnamed, wrong_type, accepted, n_refused = [], [], [], 0
    for function, name, value in cases():
        error = error_of(function, {name: VALUES[value]})
        case = f"{function.name}({name}={value}): {type(error).__name__}: {str(error)[:200]}"
        if error is None:
            if value in NONSENSE and (function.name, name) not in ANYTHING:
                accepted.append(case)
            continue
        n_refused += 1
        if not isinstance(error, ValueError | TypeError | OSError):
            wrong_type.append(case)
        if not re.search(rf"\b{re.escape(name)}\b", str(error)):
            unnamed.append(case)
            assert (function.name, name, value) not in OF_OTHERS, case
    assert wrong_type == []
    assert accepted == []
    assert len(unnamed) <= (1 - LEAST_NAMED) * n_refused, "\n".join(unnamed)


OPTION = re.compile(r"^(\w+) : \{.*\}(?: or None)?(?:, default=\S+)?$", re.M)
# Arrays are compared element by element, and neither objects nor numbers are names.
NO_LABELS = ("array of text", "array of 3", "array of none", "Series", "{x: 1}", "object")
NO_OPTIONS = (*NO_LABELS, "text", "bytes", "7", "nan", "[x]")
# Options that have an effect only together with these
TOGETHER = {"class_average": {"multi_class": "ovr"}, "tell_withheld": {"min_count": 3}}


def values_of(function, name):
    """Return values that an argument must refuse: one of options, of one label or of a method."""
    if name in OPTION.findall(inspect.getdoc(function.function) or ""):
        return NO_OPTIONS
    # Scorers check arguments when they score.
    is_checked = inspect.isroutine(function.function) and "scor" not in function.name
    takes_one = name in ("reference", "pos_label", "response_method")
    return (*NO_LABELS, "NA", "DataFrame") if is_checked and takes_one else ()


def test_what_is_no_option_no_label_and_no_method_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n_options = 0
    for function in public_functions():
        for name in function.parameters:
            values, more = values_of(function, name), TOGETHER.get(name, {})
            more = {key: given for key, given in more.items() if key in function.parameters}
            n_options += values is NO_OPTIONS
            for value in values:
                error = error_of(function, more | {name: VALUES[value]})
                case = f"{function.name}({name}={value}): {error}"
                assert isinstance(error, ValueError | TypeError), case
                assert re.search(rf"\b{name}\b", str(error)), case
                odd = "truth value|ambiguous|is not iterable|required .*argument"
                assert not re.search(odd, str(error)), case
    assert n_options >= 40


def test_valid_arguments_are_accepted_and_unknown_ones_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for function in public_functions():
        error = error_of(function, {})
        assert error is None, (function.name, error)
        if function.name not in ("ScoreCounts.from_counts", "MitigatedClassifier.fit"):
            error, called = error_of(function, {"mising": 1}), function.name.replace(".", "|")
            assert re.search(rf"\b({called})\b.* unexpected keyword .*'mising'", str(error)), error
