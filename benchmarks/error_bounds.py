"""Bounds of error rates of several learners: ``python -m benchmarks.error_bounds``.

The data are those of scikit-learn. Each repetition removes the labels of a tenth of the rows. The
classifiers learn from the other rows, by `fit_with_error_bound` with each resampling. The table is
printed and written to benchmarks/error_bounds.md.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, get_args

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skfedauc.error_bounds import Resampling, error_rate_bound, fit_with_error_bound

DOCUMENT = Path(__file__).with_suffix(".md")
CONFIDENCE_LEVEL, N_REPETITIONS, N_MEMBERS, SHARE = 0.99, 10, 10, 0.1
DATA = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
LEARNERS = {
    "linear SVM": make_pipeline(StandardScaler(), SVC(kernel="linear")),
    "RBF SVM": make_pipeline(StandardScaler(), SVC()),
    "nearest neighbors": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "decision tree": DecisionTreeClassifier(random_state=0),
    "naive Bayes": GaussianNB(),
}
# Published counts and bounds for the data set FOURCLASS of LIBSVM (862 rows), in %
PUBLISHED = [
    ("error rate on the rows without labels", "17 of 87", 19.54),
    ("random, train/test", "13 of 78", 28.75),
    ("deterministic, train/test", "13 of 78, 1 disagreement in 87", 38.33),
]


def bounds_of(learner: Any, X: Any, y: Any, seed: int) -> list[float]:
    """Return the error rate without labels, and the bounds of each resampling, in %."""
    order = np.random.default_rng(seed).permutation(y.size)
    unlabeled, labeled = np.split(order, [int(np.ceil(SHARE * y.size))])
    fitted = clone(learner).fit(X[labeled], y[labeled])
    error = float((fitted.predict(X[unlabeled]) != y[unlabeled]).mean())
    random, deterministic = [], []
    for resampling in get_args(Resampling):
        found = fit_with_error_bound(
            learner,
            X[labeled],
            y[labeled],
            resampling=resampling,
            X_unlabeled=X[unlabeled],
            n_members=N_MEMBERS,
            test_size=SHARE,
            confidence_level=CONFIDENCE_LEVEL,
            random_state=seed,
        )
        deterministic.append(found.error_bound)
        tests = found.tests
        random.append(
            error_rate_bound(tests["n_errors"], tests["n_rows"], confidence_level=CONFIDENCE_LEVEL)
        )
    return [100 * value for value in (error, *random, *deterministic)]


def published() -> list[list[str]]:
    """Return the lines of the published cells, computed again from the counts."""
    computed = (
        17 / 87,
        error_rate_bound(13, 78, confidence_level=CONFIDENCE_LEVEL),
        error_rate_bound(
            13, 78, n_disagreements=1, n_unlabeled=87, confidence_level=CONFIDENCE_LEVEL
        ),
    )
    return [
        [name, counts, f"{cell:.2f}", f"{100 * value:.2f}"]
        for (name, counts, cell), value in zip(PUBLISHED, computed, strict=True)
    ]


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    began, rows = time.process_time(), []
    for name, load in DATA.items():
        X, y = load(return_X_y=True)
        for of_learner, learner in LEARNERS.items():
            found = [bounds_of(learner, X, y, seed) for seed in range(N_REPETITIONS)]
            rows.append(
                [f"{name}, {y.size:,}", of_learner, *(f"{v:.1f}" for v in np.mean(found, axis=0))]
            )
            print(*rows[-1], flush=True)
    ways = ["train/test", "bagging", "cross-validation"]
    columns = ["data, rows", "learner", "error rate", *(f"random, {way}" for way in ways)]
    columns += [f"deterministic, {way}" for way in ways]
    DOCUMENT.write_text(
        TEXT.format(
            minutes=(time.process_time() - began) / 60,
            level=100 * CONFIDENCE_LEVEL,
            repetitions=N_REPETITIONS,
            members=N_MEMBERS,
            table=table(columns, rows),
            published=table(["cell", "errors", "published", "computed"], published()),
        ),
        encoding="utf-8",
    )


TEXT = """# Bounds of error rates of several learners

Written by `python -m benchmarks.error_bounds` in {minutes:.1f} minutes of one processor.

Means of {repetitions} repetitions, in %. Each repetition removes the labels of a tenth of the rows.
`error rate` is the error rate on these rows of the classifier that learned from all other rows. The
other columns are upper bounds with confidence {level:.0f} %. `random` bounds the classifier that
predicts each row by a random member. `deterministic` bounds the classifier that learned from all
rows with labels. `train/test` tests one member on a tenth of the rows with labels. `bagging` and
`cross-validation` have {members} members.

{table}

## Published cells

The data set FOURCLASS of LIBSVM does not come with scikit-learn. The bounds are computed from the
published numbers of errors, in %.

{published}
"""


if __name__ == "__main__":
    main()
