"""Messages quote only the beginning of long labels, names and arguments."""

import inspect
import itertools
import traceback
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import skfedauc
from skfedauc import (
    FairnessAudit,
    GroupAUC,
    MitigatedClassifier,
    ScoreCounts,
    WithinGroupStratifiedKFold,
    group_auc_scoring,
)
from skfedauc.cli.main import main

LONG = "x" * 50_000
MOST = 2_000  # largest number of characters of a message
RNG = np.random.default_rng(0)
N = 80
Y = np.tile([0, 1], N // 2)
SCORE = np.round(RNG.random(N) + Y / 2, 2)
GROUPS = np.tile(["a", "a", "b", "b"], N // 4)
X = pd.DataFrame({"s": SCORE, "t": RNG.random(N), "g": GROUPS})
MODEL = LogisticRegression().fit(X[["s"]], Y)
ROWS = {"y_true": Y, "y_score": SCORE, "groups": GROUPS}
COUNTS = GroupAUC.from_predictions(**ROWS).counts.to_counts()
SEARCH = GridSearchCV(
    LogisticRegression(),
    {"C": [0.1, 1.0]},
    scoring=group_auc_scoring(["pooled", "neg_difference"], groups=pd.Series(GROUPS)),
    refit="pooled",
    cv=3,
).fit(X[["s", "t"]], Y)
# Values for each argument in turn, each with a long label or text
VALUES = [LONG, ["a", LONG], {LONG: 1}]


# Valid arguments of all functions
KNOWN = {
    **ROWS,
    "score_a": SCORE,
    "score_b": SCORE[::-1],
    "estimator": MODEL,
    "estimators": {"one": MODEL, "two": MODEL},
    "y_scores": {"one": SCORE, "two": SCORE[::-1]},
    "y_preds": {"one": Y, "two": Y[::-1]},
    "X": X[["s"]],
    "y": Y,
    "batches": [(Y, SCORE, GROUPS)],
    "parts": [ScoreCounts.from_predictions(**ROWS)],
    "counts": ScoreCounts.from_predictions(**ROWS),
    "report": GroupAUC.from_predictions(**ROWS),
    "search": SEARCH,
    "score": "pooled",
    "auc": 0.8,
    "auc_a": 0.8,
    "auc_b": 0.7,
    "n_positives": 20,
    "n_negatives": 30,
    "columns": "g",
    "to": str,
    "weights": "macro",
    "statistic": "pooled",
    "statistics": ["pooled"],
    "gap": "difference",
    "at_most": 0.1,
    "simplest": "C",
    "shifts": [0.0, 1.0],
}


def arguments_of(function):
    """Return valid arguments for the parameters of a function."""
    of_counts = function.__qualname__ == "ScoreCounts.from_counts"
    known = KNOWN | {name: COUNTS[name] for name in COUNTS} if of_counts else KNOWN
    return {name: known[name] for name in inspect.signature(function).parameters if name in known}


def public_functions():
    """Return all public functions, classes and methods; methods are bound to objects."""
    instances = {
        "ScoreCounts": ScoreCounts.from_predictions(**ROWS),
        "GroupAUC": GroupAUC.from_predictions(**ROWS),
        "FairnessAudit": FairnessAudit.from_predictions(**ROWS),
        "WithinGroupStratifiedKFold": WithinGroupStratifiedKFold(2, groups="g"),
        "MitigatedClassifier": MitigatedClassifier(LogisticRegression(), groups="g"),
    }
    for name in skfedauc.__all__:
        public = getattr(skfedauc, name)
        if not callable(public) or name == "show_versions" or name.endswith("Display"):
            continue
        yield name, public
        if not isinstance(public, type):
            continue
        instance = instances.get(name, public)
        for attribute in dir(public):
            static = inspect.getattr_static(public, attribute)
            is_of_class = isinstance(static, classmethod)
            is_method = inspect.isfunction(static) and instance is not public
            if not attribute.startswith("_") and (is_of_class or is_method):
                yield f"{name}.{attribute}", getattr(instance, attribute)


def calls():
    for name, function in public_functions():
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:
            continue
        names = [
            parameter.name
            for parameter in parameters
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            # The operating system limits names of files
            and parameter.name not in ("path", "checkpoint", "file")
        ]
        if names:
            yield pytest.param(function, names, id=name)


def message_of(call):
    """Yield the messages of the error and of the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            *_, (frame, _) = traceback.walk_tb(error.__traceback__)
            # Skip errors that other packages raise.
            if frame.f_globals.get("__name__", "").startswith("skfedauc"):
                yield str(error)
    yield from (str(warning.message) for warning in caught)


@pytest.mark.parametrize(("function", "names"), list(calls()))
def test_no_argument_makes_a_message_long(function, names):
    for name, value in itertools.product(names, VALUES):
        arguments = arguments_of(function) | {name: value}
        for text in message_of(lambda arguments=arguments: function(**arguments)):
            assert len(text) <= MOST, (name, text[:MOST])


@pytest.mark.parametrize(
    "arguments",
    [
        ["--label", LONG, "--score", "s", "--group", "g"],
        ["--label", "g", "--score", LONG, "--group", "g"],
        ["--label", "y", "--score", "s", "--group", LONG],
        ["--label", "y", "--score", "s", "--group", "g", "--pos-label", LONG],
        ["--label", "y", "--score", "s", "--group", "g", "--weight", LONG],
        ["--label", "y", "--score", "s", "--group", "g", "--encoding", LONG],
        ["--label", "y", "--score", "s", "--group", "g", "--json", "--threshold", LONG],
        ["--label", "y", "--score", "s", "--group", "g", "--json", "--decisions", LONG],
    ],
    ids=lambda arguments: arguments[arguments.index(LONG) - 1],
)
def test_no_option_makes_a_message_long(tmp_path, capsys, arguments):
    path = tmp_path / "p.csv"
    X.assign(y=Y).to_csv(path, index=False)
    assert main(["audit", str(path), *arguments]) == 2
    assert len(capsys.readouterr().err) <= MOST


def test_scores_that_float64_cannot_hold_name_their_type_once():
    with pytest.raises(ValueError, match=r"such as Fraction\(1, 3\), that would be rounded"):
        ScoreCounts.from_predictions([0, 1], [Fraction(1, 3), Fraction(1, 2)])
