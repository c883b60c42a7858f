"""Merge the counts of four sites with NVFlare: ``python job.py`` runs NVFlare's simulator.

At the end, the script compares the merged counts with those of all rows counted at once.
"""

import tempfile
from pathlib import Path

import numpy as np
from nvflare import FedJob
from nvflare.fuel.utils.constants import FrameworkType
from nvflare.job_config.script_runner import ScriptRunner
from server import MergeCounts
from site_rows import SITES, rows_of
from sklearn.metrics import roc_auc_score

from skfedauc import GroupAUC, ScoreCounts


def make_job(path):
    """Return a job whose server writes the merged counts to a file."""
    job = FedJob(name="auc", min_clients=len(SITES))
    job.to_server(MergeCounts(list(SITES), str(path)))
    # framework="raw" sends bytes unchanged
    job.to_clients(ScriptRunner(script="client.py", framework=FrameworkType.RAW))
    job.to_clients("site_rows.py")
    return job


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "merged.skfa"
        make_job(path).simulator_run(folder, n_clients=len(SITES), threads=len(SITES))
        counts = ScoreCounts.load(path)

    y, score = (np.concatenate(part) for part in zip(*map(rows_of, SITES), strict=True))
    groups = np.repeat(list(SITES), 500)
    assert counts == ScoreCounts.from_predictions(y, score, groups=groups)
    report = GroupAUC(counts)
    print(counts)
    print(f"AUC of all rows:      {report.pooled:.4f}, roc_auc_score {roc_auc_score(y, score):.4f}")
    print(f"average of the sites: {report.average('samples'):.4f}")
    print(f"worst site:           {report.worst:.4f}")


if __name__ == "__main__":
    main()
