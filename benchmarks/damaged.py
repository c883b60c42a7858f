"""Damaged files of counts: each is refused, or has the same counts.

``python -m benchmarks.damaged`` writes benchmarks/damaged.md. The files are those of this version,
of versions 1 to 3, of the writers in SQL (DuckDB) and JavaScript (hyparquet-writer) in
tests/writers, and private counts. Each damaged copy has one to three changes of bits, bytes, length
or order. A copy that is read and has other counts, groups or facts is a silent difference.
"""

from __future__ import annotations

import collections
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from joblib import Parallel, delayed

from benchmarks import report

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from rules import facts_of  # noqa: E402
from saved_cases import CASES  # noqa: E402
from test_damaged_files import changed_bytes  # noqa: E402
from test_file_format import rows_of, write_in_javascript, write_in_sql  # noqa: E402

from skfedauc import Bins, ScoreCounts  # noqa: E402
from skfedauc.privacy import PrivateCounts  # noqa: E402

DOCUMENT = Path(__file__).with_suffix(".md")
N_COPIES = 20_000


def files() -> dict[str, list[bytes]]:
    """Return the contents of whole files by writer."""
    data = ROOT / "tests" / "data"
    found: dict[str, list[bytes]] = {"this version": [of.to_bytes() for of in CASES.values()]}
    for path in sorted(data.glob("*.skfa")):
        version = pq.read_metadata(path).metadata[b"skfedauc"]
        found.setdefault(f"version {json.loads(version)['version']}", []).append(path.read_bytes())
    for name, write in (("DuckDB", write_in_sql), ("JavaScript", write_in_javascript)):
        for seed in range(12):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "other.skfa"
                write(rows_of(seed), path)
                found.setdefault(name, []).append(path.read_bytes())
    bins = Bins.of_probabilities(octaves=3, parts=2)
    for seed in range(12):
        rows = rows_of(seed)
        counts = ScoreCounts.from_predictions(
            rows["label"], rows["score"].abs() % 1, groups=rows["site"], pos_label=1
        )
        private = PrivateCounts.from_counts(counts, bins, counts.groups, epsilon=1.0, source="va")
        whole = private if seed % 2 else PrivateCounts.merge([private, counts])
        found.setdefault("private counts", []).append(whole.to_bytes())
    return found


def content_of(counts: ScoreCounts | PrivateCounts) -> Any:
    """Return all that the package reads from a file beside the counts."""
    if isinstance(counts, ScoreCounts):
        return facts_of(counts), counts.groups
    return counts._state._replace(negatives=None, positives=None, labels=None), counts.groups


def outcomes(data: bytes, n_copies: int, seed: int) -> collections.Counter[str]:
    """Return how many damaged copies of a file are refused, the same, or different."""
    kind = ScoreCounts
    try:
        whole = kind.from_bytes(data)
    except ValueError:
        kind = PrivateCounts
        whole = kind.from_bytes(data)
    rng, found = np.random.default_rng(seed), collections.Counter()
    for _ in range(n_copies):
        broken = data
        while broken == data:
            for _ in range(rng.integers(1, 4)):
                broken = changed_bytes(broken, rng) if broken else broken
        try:
            again = kind.from_bytes(broken)
        except ValueError:
            found["refused"] += 1
            continue
        is_same = again == whole and content_of(again) == content_of(whole)
        found["same" if is_same else "different"] += 1
    return found


def document() -> str:
    """Return the table of all files."""
    lines = []
    for number, (name, contents) in enumerate(files().items()):
        n_copies = -(-N_COPIES // len(contents))
        jobs = (
            delayed(outcomes)(data, n_copies, 1000 * number + i) for i, data in enumerate(contents)
        )
        found = sum(Parallel(n_jobs=-1)(jobs), collections.Counter())
        numbers = [found[of] for of in ("refused", "same", "different")]
        lines.append(
            f"| {name} | {len(contents)} | " + " | ".join(f"{n:,}" for n in numbers) + " |"
        )
        print(lines[-1], flush=True)
    return "\n".join(
        [
            "# Damaged files\n",
            f"`python -m benchmarks.damaged`: at least {N_COPIES:,} damaged copies per line, each "
            "with one to three changes of bits, bytes, length or order. A copy is refused by a "
            "ValueError, or has the same counts, groups and facts (the change is in padding, "
            "statistics or a name of the writer); a copy that is read and differs would be a "
            f"silent difference. {report.describe(report.machine())}\n",
            "| files | whole files | refused | the same | different |",
            "|---|---|---|---|---|",
            *lines,
            "",
        ]
    )


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
