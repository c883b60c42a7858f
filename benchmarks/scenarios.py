"""Uses other than one large call: small calls, searches, folds, merging, memory."""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks.data import Case, Rows, make_rows
from benchmarks.measure import OURS, repeated, time_interleaved
from skfedauc import (
    FairnessAudit,
    GroupAUC,
    ScoreCounts,
    WithinGroupStratifiedKFold,
    compare_models,
    group_auc_scoring,
    group_roc_auc_score,
)
from skfedauc._kernel import concordance, count_rows
from skfedauc.report.group_auc import null_difference_of

Way = Callable[[], Any]


def all_scenarios() -> list[dict[str, Any]]:
    """Rows of the table: topic, description, our seconds (or GB), the peer's, and its name."""
    found = [*small_calls(), *merging(), search(), folds(), categories(), cross_matrix()]
    return [*found, *inference(), *audit(), batches(), many_batches()]


def _row(topic: str, what: str, unit: str, runs: Mapping[str, list[float]]) -> dict[str, Any]:
    """Return a row with the medians of our function (the first) and of the peer, if any."""
    (_, ours), *rest = runs.items()
    return {
        "topic": topic,
        "what": what,
        "unit": unit,
        "ours": statistics.median(ours),
        "peer": statistics.median(rest[0][1]) if rest else None,
        "peer_is": rest[0][0] if rest else "",
        "n_runs": {name: len(times) for name, times in runs.items()},
        "runs": dict(runs),
    }


def _timed(
    topic: str,
    what: str,
    ways: Mapping[str, Way],
    agree: Callable[[Any, Any], bool],
    *,
    repeats: int = 7,
    calls: int = 1,
) -> dict[str, Any]:
    """Time `calls` calls of each function; `agree` compares each result with our result."""
    ours: list[Any] = []

    def check(name: str, result: Any) -> None:
        ours.append(result)
        if not agree(result, ours[0]):
            raise AssertionError(f"{name}: a result that does not agree with ours in {what}")

    called = {name: repeated(way, calls) for name, way in ways.items()}
    runs = time_interleaved(called, check, repeats=repeats)
    each = {name: [seconds / calls for seconds in times] for name, times in runs.items()}
    return _row(topic, what, "s", each)


def _close(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-9))


def _near(a: Any, b: Any) -> bool:
    """Compare six digits, because some peers keep placements in 32 bits."""
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-6))


def small_calls() -> list[dict[str, Any]]:
    """Time a thousand small calls, as a search makes."""
    from sklearn.metrics import roc_auc_score

    def timed(
        n: int, calls: int, statistic: str, peer: str, labels: str = "integers"
    ) -> dict[str, Any]:
        y, score, group, _ = make_rows(Case(n, 10, labels=labels))

        def by_group() -> Any:
            each = (np.asarray(group == label) for label in np.unique(group))
            return np.mean([roc_auc_score(y[rows], score[rows]) for rows in each])

        ways: dict[str, Way] = {
            "ours": lambda: group_roc_auc_score(y, score, groups=group, statistic=statistic),
            peer: by_group if statistic == "macro" else lambda: roc_auc_score(y, score),
        }
        what = f"one call, {statistic}, {n:,} rows, 10 groups"
        what += f", {labels} as labels" * (labels != "integers")
        return _timed(f"call of {n:,} rows", what, ways, _close, calls=calls)

    macro = "macro", "roc_auc_score of each group, averaged"
    return [
        *(
            timed(n, calls, *way)
            for n, calls in ((1_000, 100), (100_000, 10))
            for way in (macro, ("pooled", "roc_auc_score"))
        ),
        *(timed(1_000, 100, *macro, labels) for labels in ("strings", "categories")),
        scorers(),
        fixed_cost(),
    ]


def scorers() -> dict[str, Any]:
    """Time four group statistics of 1,000 rows as scorers, next to the scorer "roc_auc"."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import check_scoring

    y, score, group, _ = make_rows(Case(1_000, 10))
    X = pd.DataFrame({"x": score, "site": group})
    model = LogisticRegression().fit(X, y)
    statistics = ["pooled", "positives", "worst", "neg_difference"]
    ours = check_scoring(model, group_auc_scoring(statistics, groups="site"))
    theirs = check_scoring(model, {"roc_auc": "roc_auc"})
    ways: dict[str, Way] = {
        "ours": lambda: ours(model, X, y)["pooled"],
        'scoring="roc_auc"': lambda: theirs(model, X, y)["roc_auc"],
    }
    return _timed(
        "scorers", "scorers of 4 statistics, 1,000 rows, 10 groups", ways, _close, calls=20
    )


def fixed_cost() -> dict[str, Any]:
    """Time one call next to sorting and counting rows that are validated and numbered."""
    y, score, group, _ = make_rows(Case(100_000, 10))
    positive = y == 1

    def kernel() -> Any:
        found = concordance(count_rows(score, positive, group, 10))
        return (found.u2 / (2.0 * found.negatives * found.positives)).mean()

    ways: dict[str, Way] = {
        "ours": lambda: group_roc_auc_score(y, score, groups=group, statistic="macro"),
        "its kernel alone": kernel,
    }
    what = "one call, macro, 100,000 rows, 10 groups"
    return _timed("fixed cost", what, ways, _close, calls=10)


def merging() -> list[dict[str, Any]]:
    """Time merging states next to counting the same rows."""

    def state(rows: Rows, chosen: slice) -> ScoreCounts:
        y, score, group, _ = rows
        return ScoreCounts.from_predictions(y[chosen], score[chosen], groups=group[chosen])

    def timed(case: Case, chosen: list[slice], name: str) -> dict[str, Any]:
        rows = make_rows(case)
        parts = [state(rows, part) for part in chosen]
        ways: dict[str, Way] = {
            "ours": lambda: ScoreCounts.merge(parts),
            "build from the 2e6 rows": lambda: state(rows, slice(None)),
        }
        what = f"merge {name} rows, {case.n_groups:,} groups, ties {case.ties}"
        topic = "merge of two" if len(chosen) == 2 else "merge of many"
        return _timed(topic, what, ways, lambda built, merged: bool(built == merged))

    n, half = 2_000_000, 1_000_000
    halves = [slice(half), slice(half, None)]
    cases = [Case(n), Case(n, 1_000), Case(n, 1_000, "3 digits")]
    found = [timed(case, halves, "two states of 1e6") for case in cases]
    every_200th = [slice(i, None, 200) for i in range(200)]
    return [*found, timed(Case(n, 100), every_200th, "200 states of 1e4")]


def search() -> dict[str, Any]:
    """Time four group statistics in GridSearchCV next to scoring="roc_auc"."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    y, score, group, _ = make_rows(Case(1_000_000, 1_000))
    X = pd.DataFrame({"x": score, "site": group})

    def searched(scoring: Any) -> dict[str, Any]:
        model = LogisticRegression(max_iter=5, tol=1.0)
        grid = GridSearchCV(model, {"C": [0.1, 1.0]}, scoring=scoring, cv=3, refit=False)
        found: dict[str, Any] = grid.fit(X, y).cv_results_
        return found

    of_groups = group_auc_scoring(["pooled", "positives", "worst", "neg_difference"], groups="site")
    theirs_is = 'the same search with scoring="roc_auc"'
    runs: dict[str, list[float]] = {"ours": [], theirs_is: []}
    for _ in range(3):
        ours, theirs = searched(of_groups), searched("roc_auc")
        if not _close(ours["mean_test_pooled"], theirs["mean_test_score"]):
            raise AssertionError('the search has other pooled AUCs than scoring="roc_auc"')
        for name, found in (("ours", ours), (theirs_is, theirs)):
            runs[name].append(float(np.sum(found["mean_score_time"]) * 3))
    what = "scoring time of GridSearchCV, 1e6 rows, 4 statistics, 1,000 groups"
    return _row("search", what, "s", runs)


def folds() -> dict[str, Any]:
    """Time splits within groups next to splits by class only."""
    import pandas as pd
    from sklearn.model_selection import StratifiedKFold

    y, score, group, _ = make_rows(Case(1_000_000, 10_000))
    X = pd.DataFrame({"x": score, "site": group})

    def each_row_once(splits: Any, ours: Any) -> bool:
        tested: NDArray[np.intp] = np.concatenate([test for _, test in splits])
        in_all = all(train.size + test.size == y.size for train, test in splits)
        return in_all and np.array_equal(np.sort(tested), np.arange(y.size))

    ways: dict[str, Way] = {
        "ours": lambda: list(WithinGroupStratifiedKFold(5, groups="site").split(X, y)),
        "StratifiedKFold(5)": lambda: list(StratifiedKFold(5).split(X, y)),
    }
    what = "WithinGroupStratifiedKFold(5), 1e6 rows, 10,000 groups"
    return _timed("folds", what, ways, each_row_once)


def categories() -> dict[str, Any]:
    """Time groups as a pandas Categorical next to a polars column of categories."""

    def agree(theirs: Any, ours: Any) -> bool:
        return bool(peers.as_series(theirs).round(9).equals(peers.as_series(ours).round(9)))

    name = "polars rank.over"
    case = Case(1_000_000, 1_000, labels="categories")
    ways = peers.by_group(make_rows(case))
    ways = {key: ways[of] for key, of in (("ours", OURS), (name, name)) if of in ways}
    return _timed("categories", f"by group, {case}", ways, agree)


def cross_matrix() -> dict[str, Any]:
    """Time the AUCs of each group's positives against each other group's negatives."""
    from sklearn.metrics import roc_auc_score

    y, score, group, _ = make_rows(Case(1_000_000, 200))
    counts = ScoreCounts.from_predictions(y, score, groups=group)
    compared = ((group == 3) & (y == 1)) | ((group == 150) & (y == 0))
    one_entry = roc_auc_score(y[compared], score[compared])
    return _timed(
        "cross matrix",
        "cross_matrix, 1e6 rows, 200 groups",
        {"ours": lambda: GroupAUC(counts, undefined="ignore").cross_matrix},
        lambda matrix, _: _close(matrix.loc[3, 150], one_entry),
        repeats=3,
    )


def inference() -> list[dict[str, Any]]:
    """Time intervals and tests, next to packages that have DeLong's variance."""
    rows = make_rows(Case(1_000_000))
    y, score = rows.y, rows.score
    other = score + np.random.default_rng(1).normal(0, 0.2, y.size)

    def interval() -> Any:
        report = GroupAUC(ScoreCounts.from_predictions(y, score))
        return report.confidence_intervals(method="delong")[["ci_low", "ci_high"]].iloc[0]

    one: dict[str, Way] = {"ours": interval}
    two: dict[str, Way] = {"ours": lambda: compare_models(y, {"a": score, "b": other}).pvalue}
    if importlib.util.find_spec("confidenceinterval"):
        from confidenceinterval import roc_auc_score

        one["confidenceinterval"] = lambda: roc_auc_score(y, score, confidence_level=0.95)[1]
    if importlib.util.find_spec("MLstatkit"):
        from MLstatkit import Delong_test

        two["MLstatkit Delong_test"] = lambda: Delong_test(y, score, other)[1]
    rows = make_rows(Case(1_000_000, 1_000))
    by_group = ScoreCounts.from_predictions(rows.y, rows.score, groups=rows.group)

    mine = rows.group == 500
    alone = GroupAUC(ScoreCounts.from_predictions(rows.y[mine], rows.score[mine]))
    expected = alone.confidence_intervals(method="exact").iloc[0][["auc", "ci_low", "ci_high"]]

    def every_interval_and_test() -> Any:
        report = GroupAUC(by_group)
        for method in ("logit", "delong", "exact"):
            intervals = report.confidence_intervals(method=method)
            report.confidence_intervals(method=method, of="statistics")
        report.test_equal_groups()
        report.compare_groups("rest")
        _ = report.tau
        _ = null_difference_of(report)
        return intervals.loc[500, ["auc", "ci_low", "ci_high"]]

    def gaps_to_pooled() -> Any:
        averages = GroupAUC(by_group).agreement().table
        return averages["difference"] + averages["value"]

    of_groups = "1e6 rows, 1,000 groups"
    return [
        _timed("interval", "DeLong interval of the pooled AUC, 1e6 rows", one, _near),
        _timed("paired", "paired DeLong test, 1e6 rows", two, _near, repeats=3),
        _timed(
            "intervals and tests",
            f"all intervals and tests, {of_groups}",
            {"ours": every_interval_and_test},
            lambda result, _: _close(result.astype(float), expected.astype(float)),
            repeats=3,
        ),
        _timed(
            "agreement",
            f"agreement, {of_groups}",
            {"ours": gaps_to_pooled},
            lambda result, _: _close(result, GroupAUC(by_group).pooled),
            repeats=3,
        ),
    ]


def audit() -> list[dict[str, Any]]:
    """Time audits, next to fairlearn on the rows, whose AUCs have neither intervals nor tests."""
    from fairlearn.metrics import (
        MetricFrame,
        false_positive_rate,
        selection_rate,
        true_positive_rate,
    )
    from sklearn.metrics import roc_auc_score

    rows = make_rows(Case(1_000_000, 1_000))
    y, score, group = rows.y, rows.score, rows.group

    def audit() -> Any:
        made = FairnessAudit.from_predictions(y, score, groups=group, threshold=0.5)
        assert made.document.lines()
        return made.by_group()[["auc", *_RATES]]

    def frame() -> Any:
        decision = (score >= 0.5).astype(int)
        functions = (selection_rate, true_positive_rate, false_positive_rate)
        rates = MetricFrame(
            metrics=dict(zip(_RATES, functions, strict=True)),
            y_true=y,
            y_pred=decision,
            sensitive_features=group,
        )
        auc = MetricFrame(
            metrics={"auc": roc_auc_score}, y_true=y, y_pred=score, sensitive_features=group
        )
        return auc.by_group.join(rates.by_group)

    few = make_rows(Case(100_000, 200))
    of_groups = FairnessAudit.from_predictions(few.y, few.score, groups=few.group, threshold=0.5)
    return [
        _timed(
            "audit",
            "fairness audit, 1e6 rows, 1,000 groups",
            {"ours": audit, "fairlearn MetricFrame": frame},
            lambda result, ours: _close(result.astype(float), ours),
            repeats=3,
        ),
        _timed(
            "page",
            "page of an audit of 200 groups",
            {"ours": of_groups.to_html},
            lambda result, ours: len(result.encode()) < 2_000_000,
            repeats=3,
        ),
    ]


_RATES = ["selection_rate", "true_positive_rate", "false_positive_rate"]

# The peak of the process, because Python does not see the memory of the compiled kernel.
_PEAK = """
import time
from pathlib import Path
from benchmarks.data import Case, make_rows
from skfedauc import ScoreCounts
def kilobytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith(name)).split()[1])
y, score, group, weight = make_rows({case!r})
ScoreCounts.from_predictions(y[:2], score[:2], groups=group[:2])  # imports
Path("/proc/self/clear_refs").write_text("5")
before = kilobytes("VmRSS")
began = time.perf_counter()
counts = ScoreCounts.from_predictions(y, score, groups=group, sample_weight=weight)
seconds = time.perf_counter() - began
held = sum(column.nbytes for column in counts.cells if column is not None)
print((kilobytes("VmHWM") - before) * 1024 / y.size, held / counts.cells.scores.size, seconds)
"""


def memory(n: int) -> list[dict[str, Any]]:
    """Measure the peak memory beyond the rows, and the memory of the state."""
    cases = [
        *(Case(n, g, weighted=w) for g in (1, 10, 1_000, n // 10) for w in (False, True)),
        *(Case(n, g, "3 digits") for g in (1, 1_000)),
        *(Case(n, g, "one") for g in (1, 1_000)),
        *(Case(n, g, scores=scores) for scores in ("signed", "float32") for g in (1, 1_000)),
        Case(n // 10, 1_000, labels="strings"),
    ]
    found = []
    for case in cases:
        peak, state, _ = peak_of(case)
        name = f"{case}, one group" if case.n_groups == 1 else str(case)
        described = {"case": name, **case._asdict()}
        found.append({**described, "peak_per_row": peak, "state_per_cell": state})
    return found


def peak_of(case: Case) -> list[float]:
    """Peak bytes per row beyond the rows, bytes per cell of the state, and seconds."""
    return _in_new_process(_PEAK.format(case=case))


def _in_new_process(code: str) -> list[float]:
    """Run code in a new process and return the numbers that it prints."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [float(number) for number in run.stdout.split()]


_BATCHES = """
import time
import numpy as np
from skfedauc import ScoreCounts, GroupAUC
n_batches, n_rows = {n_batches}, {n_rows}
def made():
    for seed in range(n_batches):
        rng = np.random.default_rng(seed)
        score = rng.random(n_rows).round(4)
        yield rng.random(n_rows) < score, score, rng.integers(0, 1000, n_rows)
GroupAUC(ScoreCounts.from_predictions([0, 1], [0, 0.5], groups=[0, 0])).pooled
def peak_kilobytes():
    # Peak of this process; getrusage would return the peak of the parent process.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
before = peak_kilobytes()
began = time.perf_counter()
if {whole}:
    y, score, group = (np.concatenate(part) for part in zip(*made()))
    state = ScoreCounts.from_predictions(y, score, groups=group)
else:
    state = ScoreCounts.from_batches(made())
pooled = GroupAUC(state).pooled
seconds = time.perf_counter() - began
peak = peak_kilobytes()
print((peak - before) / 1e6, peak / 1e6, seconds, pooled)
"""


def _in_batches(n_batches: int, n_rows: int, *, whole: bool) -> list[float]:
    """Extra and total peak in GB, seconds and pooled AUC, in a process of its own."""
    return _in_new_process(_BATCHES.format(n_batches=n_batches, n_rows=n_rows, whole=whole))


def batches() -> dict[str, Any]:
    """Count 200 batches of 1e5 rows next to loading all of them."""
    ours, whole = (_in_batches(200, 100_000, whole=whole) for whole in (False, True))
    if ours[3] != whole[3]:
        raise AssertionError("from_batches: another AUC than of all rows at once")
    what = "peak memory beyond imports: from_batches over 200 batches of 1e5 rows, 4 digits"
    return _row("batches", what, "GB", {"ours": [ours[0]], "all rows at once": [whole[0]]})


def many_batches() -> dict[str, Any]:
    """Count 1e8 rows of 4 digits in 1,000 groups batch by batch."""
    _, peak, seconds, pooled = _in_batches(100, 1_000_000, whole=False)
    # A uniform score that equals the probability of a positive has the AUC 5/6.
    if abs(pooled - 5 / 6) > 1e-3:
        raise AssertionError(f"from_batches of 1e8 rows: {pooled} instead of 5/6")
    what = f"peak memory in all: 1e8 rows in 100 batches ({seconds:.0f} s)"
    return _row("many batches", what, "GB", {"ours": [peak]})
