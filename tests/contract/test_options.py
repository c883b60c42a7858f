"""Every argument that takes one of several names refuses other values, and names itself."""

import importlib
import inspect
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import skfedauc
from skfedauc import FairnessAudit, GroupAUC, MulticlassGroupAUC, ScoreCounts

MODULES = ("plotting", "datasets", "error_bounds", "model_selection")
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
N = 90
RNG = np.random.default_rng(0)
X = pd.DataFrame({"dose": RNG.normal(size=N), "site": np.arange(N) % 3})
Y = (X["dose"] + RNG.normal(size=N) > 0).astype(int)
CLASSES = np.arange(N) % 3 + (Y - Y)
MODEL = LogisticRegression().fit(X, Y)
OF_CLASSES = LogisticRegression().fit(X, CLASSES)
ROWS = {"y_true": Y, "y_score": X["dose"], "groups": X["site"]}
TABLE = RNG.dirichlet([1, 1, 1], N)
COUNTS = ScoreCounts.from_predictions(**ROWS)
AUDIT = FairnessAudit.from_predictions(**ROWS, y_pred=MODEL.predict(X))


def walk(names=MODULES):
    """Yield the qualified names of public functions and methods, the functions, and their owner."""
    modules = [skfedauc, *(importlib.import_module(f"skfedauc.{name}") for name in names)]
    for module in modules:
        for name in module.__all__:
            owner = getattr(module, name)
            yield name, owner, None
            for method, of in inspect.getmembers(owner) if inspect.isclass(owner) else ():
                is_own = (getattr(of, "__module__", None) or "").startswith("skfedauc")
                if not method.startswith("_") and callable(of) and is_own:
                    yield f"{name}.{method}", of, owner


OPTION = re.compile(r"^(\w+) : \{.*\}(?: or None)?(?:, default=\S+)?$", re.M)
OPTIONS = sorted(
    {
        (name, argument)
        for name, of, _ in walk()
        for argument in OPTION.findall(inspect.getdoc(of) or "")
        if "set_output" not in name  # scikit-learn's own
    }
)
FUNCTIONS = {name: (of, owner) for name, of, owner in walk()}
# Values of required arguments by name of the argument
GIVEN = {
    **{name: ROWS[name] for name in ROWS},
    "y": Y,
    "X": X,
    "estimator": MODEL,
    "estimators": {"a": MODEL, "b": MODEL},
    "estimator_a": MODEL,
    "estimator_b": MODEL,
    "scores": {"a": X["dose"], "b": -X["dose"]},
    "score_a": X["dose"],
    "score_b": -X["dose"],
    "y_scores": {"a": X["dose"], "b": -X["dose"]},
    "statistic": "pooled",
    "statistics": ["pooled"],
    "names": ["pooled"],
    "report": GroupAUC(COUNTS),
    "counts": COUNTS,
    "parts": [COUNTS],
    "named": {"a": COUNTS},
    "table": X.assign(y=Y),
    "label": "y",
    "score": "dose",
    "batches": [(Y, X["dose"])],
    "auc": 0.8,
    "n_positives": 20,
    "n_negatives": 30,
    "labels": (0, 1, 2),
    "margin": 0.05,
    "name": "pooled",
    "compute": lambda report: report.pooled,
}


def call(name, argument, value):
    """Call a function with the value of one argument, and valid values of required arguments."""
    of, owner = FUNCTIONS[name]
    given = dict(GIVEN)
    if "Multiclass" in name or argument == "class_average":
        given |= {"y_true": CLASSES, "y_score": TABLE, "estimator": OF_CLASSES, "y": CLASSES}
    of = bound(of, owner, name, given)
    parameters = inspect.signature(of).parameters
    required = {
        key: given[key]
        for key, parameter in parameters.items()
        if parameter.default is inspect.Parameter.empty
        and parameter.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        and key != argument
        and key in given
    }
    if argument == "class_average" and "multi_class" in parameters:
        required["multi_class"] = "ovr"
    if argument in ("small_groups", "tell_withheld"):
        required["min_count"] = 3
    of(**required, **{argument: value})
    if name == "fit_with_error_bound":
        raise AssertionError("fitted")


def bound(of, owner, name, given):
    """Return the function, or the method of an object."""
    if owner is None or inspect.ismethod(of):
        return of
    objects = {
        "GroupAUC": lambda: given["report"],
        "ScoreCounts": lambda: COUNTS,
        "FairnessAudit": lambda: AUDIT,
        "MulticlassGroupAUC": lambda: MulticlassGroupAUC.from_predictions(
            CLASSES, TABLE, groups=X["site"]
        ),
        "GroupAUCCrossValidation": lambda: skfedauc.cross_validate_group_auc(
            LogisticRegression(), X, Y, groups="site", cv=2
        ),
        "RankingDisplay": lambda: skfedauc.plotting.RankingDisplay.from_report(given["report"]),
    }
    return getattr(objects[name.split(".")[0]](), name.split(".")[1])


# Arguments that take one label, or names of methods
OF_LABELS = sorted(
    (name, argument)
    for name, (of, _) in FUNCTIONS.items()
    if inspect.isroutine(of) and "scor" not in name  # Scorers check arguments when they score.
    for argument in ("reference", "pos_label", "response_method")
    if argument in inspect.signature(of).parameters
    and f"\n{argument} : {{" not in (inspect.getdoc(of) or "")
)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "argument"), OF_LABELS, ids=lambda text: text)
def test_arrays_are_no_labels_and_no_methods(name, argument):
    for value in [*BAD[1:5], {"pooled": 1}, object(), pd.NA, pd.DataFrame({"a": [1, 2]})]:
        with pytest.raises((ValueError, TypeError)) as error:
            call(name, argument, value)
        assert not re.search("truth value|ambiguous|is not iterable", str(error.value)), value
        assert re.search(rf"\b{argument}\b", str(error.value)), (value, error.value)


def test_confidence_levels_are_passed_by_name():
    kinds = {}
    for name, of, _ in walk((*MODULES, "privacy", "report")):
        called = of.__init__ if inspect.isclass(of) else of
        found = inspect.signature(called).parameters if callable(of) else {}
        if "confidence_level" in found:
            kinds[name] = found["confidence_level"].kind
    assert {
        "GroupAUC.confidence_intervals",
        "GroupAUCCrossValidation.confidence_intervals",
        "GroupAUCDisplay",
        "MulticlassGroupAUC.confidence_intervals",
        "PrivateCounts.confidence_intervals",
        "SelectSimplest",
        "compare_models",
    } <= set(kinds)
    assert [
        name for name, kind in kinds.items() if kind is not inspect.Parameter.KEYWORD_ONLY
    ] == []


def test_there_are_many_options():
    assert len(OPTIONS) > 40


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "argument"), OPTIONS, ids=lambda text: text)
def test_other_values_raise_an_error_that_names_the_argument(name, argument):
    for value in BAD:
        with pytest.raises((ValueError, TypeError)) as error:
            call(name, argument, value)
        assert re.search(rf"\b{argument}\b", str(error.value)), (value, error.value)
        assert not re.search("truth value|required .*argument", str(error.value)), error.value
