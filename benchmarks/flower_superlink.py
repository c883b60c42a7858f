"""Run the Flower example on a SuperLink with four SuperNodes, all processes of this machine.

``python -m benchmarks.flower_superlink`` runs it with counts in the replies of the clinics, and
``python -m benchmarks.flower_superlink secure`` with secure aggregation. Both need
``pip install "skfedauc[flower]"``. Each takes three to six minutes and writes
``benchmarks/results/superlink.md`` or ``superlink_secure.md``. They need no network other than the
loopback interface:
``unshare -n sh -c "ip link set lo up && python -m benchmarks.flower_superlink"``.

Without `secure`, the first run evaluates a model at four clinics, and compares the AUC of the
server with the AUC of all patients evaluated at once. In the second run, one SuperNode is killed in
the second round.
"""

from __future__ import annotations

import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from skfedauc import GroupAUC, ScoreCounts

ROOT = Path(__file__).parents[1]
APP = ROOT / "docs" / "examples" / "flower"
RESULTS = ROOT / "benchmarks" / "results"
BIN = Path(sys.executable).parent
N_CLINICS = 4

sys.path.insert(0, str(APP))
from clinics import task  # noqa: E402


def free_ports(n):
    """Ports of the loopback interface that no process uses."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def wait_for(port, process, seconds=60):
    """Wait until a process listens on a port."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with code {process.returncode}")
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError(f"{process.args[0]} does not listen on port {port}")


def end(process):
    """End a process and the processes that it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Federation:
    """A SuperLink and its SuperNodes."""

    def __init__(self, folder, stack):
        self.folder, self.stack = folder, stack
        self.env = os.environ | {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "FLWR_HOME": str(folder),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "PYTHONUNBUFFERED": "1",
        }
        port, *node_ports = free_ports(1 + N_CLINICS)
        link = self.start(
            "flower-superlink",
            *("--insecure", "--host", "127.0.0.1", "--port", str(port)),
            "--disable-runtime-dependency-installation",
        )
        wait_for(port, link)
        (folder / "config.toml").write_text(
            '[superlink]\ndefault = "loopback"\n\n'
            f'[superlink.loopback]\naddress = "127.0.0.1:{port}"\ninsecure = true\n'
        )
        self.nodes = []
        for number, own in enumerate(node_ports):
            node = self.start(
                "flower-supernode",
                *("--insecure", "--superlink", f"127.0.0.1:{port}"),
                *("--host", "127.0.0.1", "--port", str(own)),
                *("--node-config", f"partition-id={number} num-partitions={N_CLINICS}"),
            )
            wait_for(own, node)
            self.nodes.append(node)

    def start(self, program, *arguments):
        """Start a program of Flower in a new session."""
        name = f"{program}-{time.monotonic_ns()}.log"
        log = self.stack.enter_context((self.folder / name).open("wb"))
        process = subprocess.Popen(
            [BIN / program, *arguments],
            env=self.env,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.stack.callback(end, process)
        return process

    def run(self, on_line=None, **config):
        """Run the app, and return the lines that it logs and the folder of its results."""
        results = Path(tempfile.mkdtemp(dir=self.folder))
        config |= {"num-clinics": N_CLINICS, "folder": f'"{results}"'}
        command = [BIN / "flwr", "run", APP, "loopback", "--stream", "--run-config"]
        command.append(" ".join(f"{name}={value}" for name, value in config.items()))
        with subprocess.Popen(
            command,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            self.stack.callback(end, process)
            lines = []
            for line in process.stdout:
                print(line, end="", file=sys.stderr)
                lines.append(line.rstrip())
                if on_line is not None:
                    on_line(line)
        return lines, results


def all_patients(results, clinics):
    """Return the AUC and the counts of all patients, evaluated at once with the final model."""
    with np.load(results / "model.npz") as arrays:
        model = [arrays[name] for name in arrays.files]
    rows = [task.load(clinic, "test") for clinic in clinics]
    y = np.concatenate([y for _, y in rows])
    score = np.concatenate([task.predict(model, X) for X, _ in rows])
    groups = np.repeat(clinics, [len(y) for _, y in rows])
    counts = ScoreCounts.from_predictions(y, score, groups=groups)
    return float(roc_auc_score(y, score)), counts


def main():
    began = time.monotonic()
    clinics = list(task.NAMES[:N_CLINICS])
    out = [
        "# The Flower example on a SuperLink",
        "",
        f"`python -m benchmarks.flower_superlink`, flwr {version('flwr')}, Python "
        f"{platform.python_version()}, skfedauc {version('skfedauc')}. A SuperLink and "
        f"{N_CLINICS} SuperNodes are processes of one machine and use its loopback interface only.",
        "",
    ]
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        federation = Federation(Path(name), stack)
        lines, results = federation.run(**{"num-server-rounds": 2})
        report = GroupAUC(ScoreCounts.load(results / "round_2.skfa"))
        expected, counts = all_patients(results, clinics)
        out += ["## All SuperNodes reply", "", "```text"]
        out += [line for line in lines if line.startswith(("round ", "  A", "  average"))]
        out += [
            "```",
            "",
            f"- pooled AUC of round 2 at the server: {report.pooled!r}",
            f"- `roc_auc_score` of all patients:     {expected!r}",
            f"- counts equal to those of all patients: {report.counts == counts}",
            f"- seconds, with the start of all processes: {time.monotonic() - began:.0f}",
            "",
        ]
        assert abs(report.pooled - expected) < 1e-12
        assert report.counts == counts

        def kill_last(line):
            if "[ROUND 2/3]" in line and federation.nodes[-1].poll() is None:
                os.killpg(federation.nodes[-1].pid, signal.SIGKILL)

        began = time.monotonic()
        lines, results = federation.run(
            kill_last, **{"num-server-rounds": 3, "timeout": 30.0, "on-missing": '"warn"'}
        )
        reports = {
            number: GroupAUC(ScoreCounts.load(results / f"round_{number}.skfa"))
            for number in (1, 2, 3)
        }
        expected, counts = all_patients(results, clinics[:-1])
        out += [f"## The SuperNode of {clinics[-1]!r} is killed in round 2", "", "```text"]
        out += [line for line in lines if line.startswith(("round ", "  A", "  average"))]
        out += ["```", "", "The server warns:", "", "```text"]
        warned = [line.partition("UserWarning: ")[2] for line in lines]
        out += [sentence for line in warned for sentence in line.split(". ") if sentence]
        out += [
            "```",
            "",
            f"- pooled AUC of round 3 at the server: {reports[3].pooled!r}",
            f"- `roc_auc_score` of the patients of {', '.join(clinics[:-1])}: {expected!r}",
            f"- seconds: {time.monotonic() - began:.0f}",
            "",
        ]
        assert set(reports[1].counts.groups) == set(clinics)
        assert reports[3].counts == counts
        assert abs(reports[3].pooled - expected) < 1e-12
    text = "\n".join(out)
    (RESULTS / "superlink.md").write_text(text, encoding="utf-8")
    print(text)


def secure():
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        federation = Federation(Path(name), stack)
        lines, results = federation.run(**{"num-server-rounds": 1, "secure": "true"})
        counts = ScoreCounts.load(results / "secure.skfa")
        expected, exact = all_patients(results, task.NAMES[:N_CLINICS])
        low, high = GroupAUC(counts).bounds().loc["pooled", ["low", "high"]]
        is_equal = counts == exact.regroup(None).reduced(task.BINS)
        out = [
            "# Secure aggregation on a SuperLink",
            "",
            f"`python -m benchmarks.flower_superlink secure`, flwr {version('flwr')}, Python "
            f"{platform.python_version()}, skfedauc {version('skfedauc')}. A SuperLink and "
            f"{N_CLINICS} SuperNodes are processes of one machine.",
            "",
            "```text",
            *[line for line in lines if line.startswith(("secure ", "  A"))],
            "```",
            "",
            f"- certain interval of the pooled AUC: {low:.6f} to {high:.6f}",
            f"- `roc_auc_score` of all patients:    {expected:.6f}",
            f"- sum equal to the merged state of all clinics: {is_equal}",
            f"- seconds, with the start of all processes: {time.monotonic() - began:.0f}",
            "",
        ]
        assert is_equal
        assert low <= expected <= high
    text = "\n".join(out)
    (RESULTS / "superlink_secure.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    secure() if sys.argv[1:] == ["secure"] else main()
