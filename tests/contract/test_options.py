"""Every argument that takes one of several names refuses other values, and names itself."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
from surface import public_functions

# Arrays and lists are compared element by element, and neither objects nor numbers are names.
BAD = [
    "nonsense",
    np.array(["raise", "drop"]),
    np.zeros(3),
    np.array([]),
    pd.Series(["groups", "rows"]),
    ["raise"],
    {"pooled": 1},
    object(),
    7,
    np.nan,
    b"raise",
]
OPTION = re.compile(r"^(\w+) : \{.*\}(?: or None)?(?:, default=\S+)?$", re.M)
# Arguments that have an effect only together with these
TOGETHER = {
    "class_average": {"multi_class": "ovr"},
    "tell_withheld": {"min_count": 3},
}
FUNCTIONS = list(public_functions())


def options_of(function):
    documented = OPTION.findall(inspect.getdoc(function.function) or "")
    return [argument for argument in documented if argument in function.parameters]


OPTIONS = [(function, argument) for function in FUNCTIONS for argument in options_of(function)]
# Arguments that take one label, or names of methods
OF_LABELS = [
    (function, argument)
    for function in FUNCTIONS
    # Scorers check arguments when they score.
    if inspect.isroutine(function.function) and "scor" not in function.name
    for argument in ("reference", "pos_label", "response_method")
    if argument in function.parameters and argument not in options_of(function)
]


def shown(value):
    return getattr(value, "name", value)


def assert_refused(function, argument, value):
    more = TOGETHER.get(argument, {})
    more = {name: given for name, given in more.items() if name in function.parameters}
    with pytest.raises((ValueError, TypeError)) as error:
        function(**more, **{argument: value})
    message = str(error.value)
    assert re.search(rf"\b{argument}\b", message), (value, message)
    assert not re.search("truth value|ambiguous|is not iterable|required .*argument", message)


def test_there_are_many_options():
    assert len(OPTIONS) >= 40


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("function", "argument"), OPTIONS, ids=shown)
def test_other_values_raise_an_error_that_names_the_argument(function, argument):
    for value in BAD:
        assert_refused(function, argument, value)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("function", "argument"), OF_LABELS, ids=shown)
def test_arrays_are_no_labels_and_no_methods(function, argument):
    for value in [*BAD[1:5], {"pooled": 1}, object(), pd.NA, pd.DataFrame({"a": [1, 2]})]:
        assert_refused(function, argument, value)


def test_confidence_levels_are_passed_by_name():
    kinds = {
        function.name: parameter.kind
        for function in FUNCTIONS
        if (parameter := inspect.signature(function.function).parameters.get("confidence_level"))
    }
    assert len(kinds) > 10
    assert set(kinds.values()) == {inspect.Parameter.KEYWORD_ONLY}, kinds
