"""The public functions, classes and methods, with valid arguments for each."""

import importlib.util
import inspect
import os
import re
import tempfile
from dataclasses import dataclass

import numpy as np
import pandas as pd
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import skfedauc
from skfedauc import (
    Bins,
    FairnessAudit,
    GroupAUC,
    MitigatedClassifier,
    MulticlassCounts,
    MulticlassGroupAUC,
    ScoreCounts,
    WithinGroupStratifiedKFold,
    cross_validate_group_auc,
    group_auc_scoring,
)
from skfedauc.plotting.drawing import Drawing
from skfedauc.privacy import PrivateCounts

RNG = np.random.default_rng(0)
N = 80
Y = np.tile([0, 1], N // 2)
SCORE = np.round(RNG.random(N) / 2 + Y / 4, 2)
GROUPS = np.tile(["a", "a", "b", "b"], N // 4)
X = pd.DataFrame({"s": SCORE, "t": RNG.random(N), "g": GROUPS})
MODEL = LogisticRegression().fit(X[["s"]], Y)
ROWS = {"y_true": Y, "y_score": SCORE, "groups": GROUPS}
COUNTS = ScoreCounts.from_predictions(**ROWS)
TABLE = COUNTS.to_counts()
REPORT = GroupAUC.from_predictions(**ROWS)
COLUMNS = pd.DataFrame({"g": GROUPS, "h": np.repeat(["c", "d"], N // 2)})
AUDIT = FairnessAudit.from_predictions(Y, SCORE, groups=COLUMNS, threshold=0.5)
BINS = Bins.of_probabilities(4, 8)
# OpenDP is large, and not part of the test environment: `.ci/run` has these functions in the
# environment of the engines.
HAS_OPENDP = importlib.util.find_spec("opendp") is not None
PRIVATE = HAS_OPENDP and PrivateCounts.from_counts(COUNTS, BINS, ["a", "b"], epsilon=1.0)
BY_PERIOD = ScoreCounts.from_predictions(
    Y, SCORE, groups=pd.Series(np.repeat(["2026-01", "2026-02"], N // 2), name="period")
)
FOLDER = tempfile.TemporaryDirectory()
PATH = os.path.join(FOLDER.name, "a_file")
SEARCH = GridSearchCV(
    LogisticRegression(),
    {"C": [0.1, 1.0]},
    scoring=group_auc_scoring(["pooled", "neg_difference"], groups=pd.Series(GROUPS)),
    refit="pooled",
    cv=3,
).fit(X[["s", "t"]], Y)
CLASSES = np.tile([0, 1, 2, 1], N // 4)
PROBABILITIES = np.column_stack([SCORE, 1 - SCORE / 2, SCORE[::-1]])
PROBABILITIES /= PROBABILITIES.sum(axis=1, keepdims=True)
SEVERAL = {"y_true": CLASSES, "y_score": PROBABILITIES, "groups": GROUPS}


def _saved(counts, name):
    path = os.path.join(FOLDER.name, name)
    counts.save(path)
    return path


# Valid arguments, by the name of the parameter
KNOWN = {
    **ROWS,
    "scores": {"one": SCORE, "two": SCORE[::-1]},
    "estimator": MODEL,
    "X": X[["s"]],
    "y": Y,
    "batches": [(Y, SCORE, GROUPS)],
    "parts": [ScoreCounts.from_predictions(**ROWS)],
    "counts": COUNTS,
    "report": REPORT,
    "search": SEARCH,
    "metric": "pooled",
    "auc": 0.8,
    "n_positives": 20,
    "n_negatives": 30,
    "to": str,
    "weights": "macro",
    "statistic": "pooled",
    "statistics": ["pooled"],
    "name": "pooled",
    "at_most": 0.1,
    "simplest": "C",
    "bins": BINS,
    "margin": 0.1,
    "function": np.sqrt,
    "data": COUNTS.to_bytes(),
    "state": BINS.to_dict(),
    "edges": [0.0, 0.5, 1.0],
    "numbers": [1, 2],
    "n_bins": 4,
    "other": BINS,
    "table": X.assign(y=Y),
    "label": "y",
    "path": PATH,
}
# Arguments for one function, beside or instead of these
OWN = {
    "ScoreCounts.from_counts": {name: TABLE[name] for name in TABLE},
    "ScoreCounts.from_table": {"score": "s", "group": "g"},
    "ScoreCounts.load": {"path": _saved(COUNTS, "counts.skfa")},
    "ScoreCounts.reduced": {"disclosure": "summary"},
    "ScoreCounts.from_vector": {"vector": COUNTS.to_vector(BINS, ["a", "b"]), "groups": ["a", "b"]},
    "ScoreCounts.to_vector": {"groups": ["a", "b"]},
    "Bins.numbers_of": {"scores": [0.1, 0.2]},
    "FairnessAudit.compare": {"other": AUDIT, "names": ("first", "second")},
    "FairnessAudit.within": {"column": "h"},
    "MulticlassCounts.from_predictions": SEVERAL,
    "MulticlassCounts.merge": {"parts": [MulticlassCounts.from_predictions(**SEVERAL)]},
    "MulticlassGroupAUC": {"counts": MulticlassCounts.from_predictions(**SEVERAL)},
    "MulticlassGroupAUC.from_predictions": SEVERAL,
    "MulticlassGroupAUC.from_estimator": {
        "estimator": LogisticRegression().fit(X[["s"]], CLASSES),
        "y": CLASSES,
    },
    "WithinGroupStratifiedKFold": {"groups": "g", "n_splits": 2},
    "RepeatedWithinGroupStratifiedKFold": {"groups": "g", "n_splits": 2, "n_repeats": 2},
    "WithinGroupStratifiedKFold.split": {"X": X, "y": Y},
    "WithinGroupStratifiedKFold.get_n_splits": {"X": X},
    "MitigatedClassifier": {
        "groups": "g",
        "mitigator": ThresholdOptimizer(
            estimator=LogisticRegression(), predict_method="predict_proba"
        ),
    },
    "MitigatedClassifier.fit": {"X": X},
    "MitigatedClassifier.predict": {"X": X},
    "cross_validate_group_auc": {"estimator": LogisticRegression(), "cv": 2},
    "make_group_auc_scorer": {"groups": pd.Series(GROUPS)},
    "group_auc_scoring": {"groups": pd.Series(GROUPS)},
    "rows_needed": {"width": 0.1, "prevalence": 0.3},
    "measures.Sensitivity": {"specificity": 0.9},
    "measures.Specificity": {"sensitivity": 0.9},
    "error_bounds.error_rate_bound": {"n_errors": [3], "n_rows": [50]},
    "error_bounds.fit_with_error_bound": {"estimator": LogisticRegression()},
    "periods.compare_periods": {"counts": BY_PERIOD, "reference": "2026-01"},
    "periods.find_change": {"counts": BY_PERIOD},
    "measures.PartialAUC": {"max_fpr": 0.5},
    "boosting.XGBoostMetric": {"groups": lambda data: GROUPS},
    "boosting.LightGBMMetric": {"groups": lambda data: GROUPS},
    "datasets.make_group_scores": {"case": "different"},
    "datasets.make_uniform_scores": {"n_samples": 50, "prevalence": 0.5},
}
if PRIVATE:
    OWN |= {
        "privacy.PrivateCounts.from_counts": {"groups": ["a", "b"], "epsilon": 1.0},
        "privacy.PrivateCounts.from_bytes": {"data": PRIVATE.to_bytes()},
        "privacy.PrivateCounts.load": {"path": _saved(PRIVATE, "private.parquet")},
        "privacy.PrivateCounts.merge": {"parts": [PRIVATE]},
    }

# Objects whose methods are called, and what is done with a new object so that it checks arguments
INSTANCES = {
    "ScoreCounts": lambda: COUNTS,
    "GroupAUC": lambda: REPORT,
    "FairnessAudit": lambda: AUDIT,
    "Bins": lambda: BINS,
    "MulticlassGroupAUC": lambda: MulticlassGroupAUC.from_predictions(**SEVERAL),
    "WithinGroupStratifiedKFold": lambda: WithinGroupStratifiedKFold(2, groups="g"),
    "MitigatedClassifier": lambda: MitigatedClassifier(**OWN["MitigatedClassifier"]).fit(X, Y),
    "PrivateCounts": lambda: PRIVATE,
    "GroupAUCCrossValidation": lambda: cross_validate_group_auc(
        LogisticRegression(), X[["s"]], Y, groups=GROUPS, cv=2
    ),
}
USES = {
    "WithinGroupStratifiedKFold": lambda made: list(made.split(X, Y)),
    "RepeatedWithinGroupStratifiedKFold": lambda made: list(made.split(X, Y)),
    "MitigatedClassifier": lambda made: made.fit(X, Y),
    "SelectWithinGap": lambda made: made(SEARCH.cv_results_),
    "SelectSimplest": lambda made: made(SEARCH.cv_results_),
}
# Methods of scikit-learn's base classes, and classes that only this package makes
INHERITED = {"get_params", "set_params", "get_metadata_routing", "score", "get", "items", "keys"}
MADE_HERE = {"DisclosureError", "GroupAUCCrossValidation", "SecureReport", "Measure"}
MADE_HERE |= {"MulticlassCounts", "FoldEffect", "show_versions"}


@dataclass
class Function:
    """A public function, class or method with valid arguments."""

    name: str
    function: object
    parameters: tuple[str, ...]
    valid: dict

    def __call__(self, **changed):
        made = self.function(**(self.valid | changed))
        if self.name in USES:
            USES[self.name](made)
        elif isinstance(self.function, type) and hasattr(made, "from_report"):
            made.plot()  # the other constructors have drawn it
        elif inspect.isgenerator(made):
            list(made)
        return made


def _listed(name, function, left_out=()):
    """Return the function; its ``**options`` are those of their type, without some."""
    signature = dict(inspect.signature(function).parameters)
    options = []
    for key in [key for key in signature if signature[key].kind is inspect.Parameter.VAR_KEYWORD]:
        typed = re.fullmatch(r"Unpack\[(\w+)\]", str(signature.pop(key).annotation))
        if typed:
            options += getattr(inspect.getmodule(function), typed[1]).__annotations__
    # An option with a default keeps it, unless the function needs another value.
    needed = [key for key in signature if signature[key].default is inspect.Parameter.empty]
    valid = {key: KNOWN[key] for key in needed if key in KNOWN} | OWN.get(name, {})
    parameters = (*signature, *(key for key in options if key not in left_out))
    return Function(name, function, parameters, valid)


def public_functions():
    """Yield what takes arguments: public functions, classes and methods of objects."""
    return (function for function in _all_functions() if function.parameters)


def _all_functions():
    left_out = {"flower"} if HAS_OPENDP else {"flower", "privacy"}
    modules = [m for m in skfedauc._PUBLIC_MODULES if m not in left_out]
    for module in ("", *modules, "model_selection"):
        package = importlib.import_module(f"skfedauc.{module}" if module else "skfedauc")
        for short in package.__all__:
            public = getattr(package, short)
            name = f"{module}.{short}" if module else short
            if not callable(public) or (module == "model_selection" and short in skfedauc.__all__):
                continue
            if short not in MADE_HERE:
                yield _listed(name, public)
            if isinstance(public, type):
                yield from _methods(name, short, public)


def _methods(name, short, public):
    instance, left_out = INSTANCES.get(short), ()
    if short.endswith("Display"):  # the type of its options has those of all displays
        left_out = Drawing.__annotations__.keys() - inspect.signature(public).parameters
    for attribute in dir(public):
        static = inspect.getattr_static(public, attribute)
        if attribute.startswith("_") or attribute in INHERITED:
            continue
        if isinstance(static, classmethod | staticmethod):
            yield _listed(f"{name}.{attribute}", getattr(public, attribute), left_out)
        elif inspect.isfunction(static) and instance is not None:
            yield _listed(f"{name}.{attribute}", getattr(instance(), attribute))
