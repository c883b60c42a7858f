"""Neighbouring data sets distinguished by their private counts: lower bounds of epsilon.

``python -m benchmarks.releases`` writes benchmarks/releases.md. Two sites differ in one row. Each
site makes releases by OpenDP. For each statistic and each threshold, the shares of
releases above the threshold (Clopper-Pearson, Bonferroni over statistics, thresholds and both
directions) give a lower bound of epsilon. A bound above the stated epsilon shows a leak. All files
must be alike except for the noise, the identifier of the release and the checksum over them.
"""

from __future__ import annotations

import io
import json
import zlib
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from joblib import Parallel, delayed
from scipy.stats import beta

from benchmarks import report
from skfedauc import Bins, ScoreCounts
from skfedauc.privacy import PrivateCounts

DOCUMENT = Path(__file__).with_suffix(".md")
BINS, GROUPS = Bins.at([0.5]), ["a", "b"]
EPSILONS, LEVEL, N_THRESHOLDS = (0.5, 1.0, 3.0), 0.05, 20
CASES = {
    "9 or 10 rows of a group, of 39 or 40": ([9, 30], [10, 30]),
    "no row or one": ([0, 0], [1, 0]),
}


def counts_of(sizes: list[int]) -> ScoreCounts:
    """Positives with the score 0.7 in each group."""
    groups = np.repeat(GROUPS, sizes)
    return ScoreCounts.from_predictions(
        np.ones(groups.size, int), np.full(groups.size, 0.7), groups=groups
    )


def content_without_noise(private: PrivateCounts) -> str:
    """Return all that a file holds, without the noise, the identifier and the checksum."""
    table = pq.read_table(io.BytesIO(private.to_bytes()))
    facts = json.loads(table.schema.metadata[b"skfedauc"])
    del facts["sha256"], facts["releases"][0]["identifier"]
    places = [table[name].to_pylist() for name in ("group", "bin")]
    return repr((facts, table.schema.remove_metadata(), table.num_rows, places))


def statistics(counts: ScoreCounts, epsilon: float, n_runs: int, every: int) -> dict:
    """Return the values of each statistic in the releases; files are written every few runs."""
    found: dict[str, list[float]] = {}
    for run in range(n_runs):
        private = PrivateCounts.from_counts(counts, BINS, GROUPS, epsilon=epsilon)
        numbers = np.concatenate([private.negatives.ravel(), private.positives.ravel()])
        values = {f"count {i}": value for i, value in enumerate(numbers)}
        values |= {"sum": numbers.sum(), "counts of 0": (numbers == 0).sum()}
        values |= {"largest": numbers.max(), "smallest": numbers.min()}
        values["groups"] = len(private)
        values["label"] = float(private.pos_label is not None)
        if run % every == 0:
            values["bytes of the file"] = len(private.to_bytes())
            content = content_without_noise(private)
            values["text of the facts"] = zlib.crc32(content.encode())
        for name, value in values.items():
            found.setdefault(name, []).append(float(value))
    return {name: np.array(values) for name, values in found.items()}


def bounds(one: dict, other: dict) -> dict[str, float]:
    """Return a lower bound of epsilon by statistic; all hold together with 95 %."""
    tail = LEVEL / (len(one) * 2 * 2 * N_THRESHOLDS * 2)
    result = {}
    for name in one:
        cuts = np.unique(
            np.quantile(np.r_[one[name], other[name]], np.linspace(0, 1, N_THRESHOLDS))
        )
        best = 0.0
        for first, second in ((one[name], other[name]), (other[name], one[name])):
            for cut in cuts:
                for k, m in (
                    ((first >= cut).sum(), (second >= cut).sum()),
                    ((first < cut).sum(), (second < cut).sum()),
                ):
                    low = beta.ppf(tail, k, first.size - k + 1) if k else 0.0
                    high = beta.isf(tail, m + 1, second.size - m) if m < second.size else 1.0
                    if low > 0:
                        best = max(best, float(np.log(low / high)))
        result[name] = best
    return result


def line(case: str, epsilon: float, n_runs: int) -> str:
    """Return the line of a table."""
    pair = [statistics(counts_of(of), epsilon, n_runs, 100) for of in CASES[case]]
    found = bounds(*pair)
    name = max(found, key=found.__getitem__)
    texts = np.concatenate([of["text of the facts"] for of in pair])
    files = f"{texts.size} files, {np.unique(texts).size - 1} differ"
    return f"| {case} | {epsilon:g} | {found[name]:.3f} | {name} | {len(found)} | {files} |"


def document(n_runs: int = 10_000) -> str:
    """Return the table of all cases."""
    jobs = (delayed(line)(case, epsilon, n_runs) for case in CASES for epsilon in EPSILONS)
    return "\n".join(
        [
            "# Neighbouring data sets distinguished by private counts\n",
            f"`python -m benchmarks.releases`: {2 * n_runs:,} releases per line, half of each of "
            "two data sets that differ in one row; every hundredth release is also a file. The "
            "table has the highest lower bound of epsilon over all statistics; bounds of a line "
            "hold together with 95 %. A bound above epsilon would show a leak. Files differ if "
            "more than the noise, the identifier and the checksum differs. "
            f"{report.describe(report.machine())}\n",
            "| data sets | epsilon | largest bound | statistic | statistics | content of files |",
            "|---|---|---|---|---|---|",
            *Parallel(n_jobs=-1)(jobs),
            "",
        ]
    )


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
