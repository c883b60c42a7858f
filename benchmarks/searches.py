"""Measure what statistics by group add to a search: ``python -m benchmarks.searches``.

A search of 100 fits with five statistics is timed beside the same search with scikit-learn's
``scoring="roc_auc"``. The means of the scores are compared first. The table is printed and written
to benchmarks/searches.md.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.report import describe, machine
from skfedauc import group_auc_scoring

OUTPUT = Path("benchmarks/searches.md")
STATISTICS = ["pooled", "macro", "within", "worst", "neg_difference"]
N_FEATURES = 10
# Numbers of rows and of groups
SIZES = ((500, 5), (2_000, 5), (2_000, 50))
N_RUNS = 3
AT_MOST = 1.3
INTRODUCTION = f"""# Searches

Written by `python -m benchmarks.searches`. Each search has 20 candidates and 5 folds, so 100 fits.
"roc_auc" has scikit-learn's `scoring="roc_auc"`, and "five statistics" has `group_auc_scoring` with
{", ".join(STATISTICS)}; both have the same mean pooled AUC of each candidate. Seconds are those of
the processor, with one thread: the least of {N_RUNS} searches of each kind, in turn. The ratio is
to be at most {AT_MOST}.

"""


def rows(n_rows: int, n_groups: int) -> tuple[pd.DataFrame, Any]:
    """Return features with a column of groups, and labels."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.normal(size=(n_rows, N_FEATURES)), columns=[f"x{i}" for i in range(N_FEATURES)]
    )
    y = (X["x0"] - X["x1"] + rng.normal(size=n_rows) > 0).astype(int).to_numpy()
    return X.assign(site=rng.integers(n_groups, size=n_rows)), y


def models() -> Iterator[tuple[str, Any, dict[str, list[Any]]]]:
    """Yield the name of a model, the model and its 20 candidates."""
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    yield "logistic", logistic, {"logisticregression__C": np.logspace(-4, 4, 20).tolist()}
    boosting = HistGradientBoostingClassifier(max_iter=10, random_state=0)
    yield "boosting", boosting, {"l2_regularization": np.logspace(-4, 4, 20).tolist()}
    forest = RandomForestClassifier(n_estimators=10, max_depth=6, random_state=0)
    yield "forest", forest, {"max_features": np.linspace(0.1, 1, 20).tolist()}


def searched(model: Any, grid: dict[str, list[Any]], scoring: Any, X: Any, y: Any) -> GridSearchCV:
    """Return the search of a model that leaves out the column of the groups."""
    features = make_column_transformer(("passthrough", [f"x{i}" for i in range(N_FEATURES)]))
    return GridSearchCV(
        Pipeline([("features", features), ("model", model)]),
        {f"model__{name}": values for name, values in grid.items()},
        scoring=scoring,
        cv=StratifiedKFold(5),
        refit=False,
    ).fit(X, y)


def main() -> None:
    """Print the table, and write it."""
    threads = os.environ.get("OMP_NUM_THREADS")
    if threads != "1":
        raise SystemExit("run with OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1")
    columns = ("model", "rows", "groups", "roc_auc", "five statistics", "ratio", "met")
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    about, load = machine(), os.getloadavg()[0]  # before the commit or the load can change
    for n_rows, n_groups in SIZES:
        X, y = rows(n_rows, n_groups)
        for name, model, grid in models():
            seconds = _seconds(model, grid, X, y)
            ratio = seconds[1] / seconds[0]
            cells = [name, f"{n_rows:,}", str(n_groups), *(f"{s:.2f}" for s in seconds)]
            met = "yes" if ratio <= AT_MOST else "no"
            lines.append(f"| {' | '.join([*cells, f'{ratio:.2f}', met])} |")
            print(lines[-1], flush=True)
    shared = (
        f"\nThe load of the machine was {load:.1f} on {os.cpu_count()} cores at the start"
        f"{'; other processes ran' if load > 1.5 else ''}.\n"
    )
    table = "\n".join(lines)
    text = f"{INTRODUCTION}{describe(about)}\n\n{table}\n{shared}"
    print(text)
    OUTPUT.write_text(text)


def _seconds(model: Any, grid: dict[str, list[Any]], X: Any, y: Any) -> tuple[float, float]:
    """Return the least seconds of both searches."""
    ours = group_auc_scoring(STATISTICS, groups="site", undefined="ignore")
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(N_RUNS):
        found = []
        for scoring, kept in zip(("roc_auc", ours), times, strict=True):
            start = time.process_time()
            found.append(searched(model, grid, scoring, X, y).cv_results_)
            kept.append(time.process_time() - start)
        np.testing.assert_allclose(
            found[1]["mean_test_pooled"], found[0]["mean_test_score"], rtol=1e-12
        )
    return min(times[0]), min(times[1])


if __name__ == "__main__":
    warnings.simplefilter("error", RuntimeWarning)
    main()
