"""The server: averages the model, and merges the counts of all clinics."""

import time
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord
from flwr.serverapp import ServerApp
from flwr.serverapp.strategy import FedAvg

from clinics import task
from skfedauc import GroupAUC
from skfedauc.flower import GroupAUCAggregator, secure_group_auc

app = ServerApp()


def wait_for_nodes(grid, n_nodes, timeout):
    """Wait until all nodes are connected."""
    until = time.monotonic() + timeout
    while (n_connected := len(list(grid.get_node_ids()))) < n_nodes:
        if time.monotonic() > until:
            raise TimeoutError(f"{n_connected} of {n_nodes} nodes are connected")
        time.sleep(1)


def run(
    grid,
    clinics,
    num_rounds,
    on_missing="warn",
    timeout=120.0,
    evaluate=True,
    on_invalid="skip",
):
    """Train and evaluate, and return the result of the strategy and the aggregator."""
    # Each clinic may only send rows of the group that has its name.
    own_groups = {clinic: [clinic] for clinic in clinics}
    aggregator = GroupAUCAggregator(
        expected_groups=own_groups, on_missing=on_missing, on_invalid=on_invalid
    )
    wait_for_nodes(grid, len(clinics), timeout)
    strategy = FedAvg(
        fraction_evaluate=1.0 if evaluate else 0.0, evaluate_metrics_aggr_fn=aggregator
    )
    arrays = ArrayRecord(task.initial_arrays())
    result = strategy.start(grid, arrays, num_rounds=num_rounds, timeout=timeout)
    return result, aggregator


def save(result, aggregator, folder):
    """Save the final model and the counts of each round."""
    folder = Path(folder)
    np.savez(folder / "model.npz", *result.arrays.to_numpy_ndarrays())
    for server_round, report in aggregator.reports.items():
        report.counts.save(folder / f"round_{server_round}.skfa")


def events(aggregator, server_round):
    """Yield what happened to the replies of a round."""
    skipped = aggregator.invalid[server_round]
    for name in aggregator.repeated[server_round]:
        yield f"{name} came again and counts once"
    yield from skipped.values()
    for clinic in aggregator.missing_groups[server_round]:
        if not any(name.endswith(f"from {clinic!r}") for name in skipped):
            yield f"no reply from {clinic!r}"


def withdraw(aggregator, server_round, counts):
    """Take counts that a clinic sent out of the report of a round, and return the event."""
    report = aggregator.reports[server_round]
    aggregator.reports[server_round] = GroupAUC(report.counts - counts)
    return f"{counts.sources[0].name!r} withdrew its counts"


def secure_auc(grid, context, arrays, timeout=120.0):
    """Print the AUC of the model from the sum of the masked counts of all clinics."""
    secure = secure_group_auc(
        grid, context, bins=task.BINS, groups=None, arrays=arrays, timeout=timeout
    )
    auc = secure.report.bounds().loc["pooled"]
    print(f"secure aggregation of {secure.n_clients} clinics")
    print(f"  AUC of all patients:          {auc.value:.3f} ({auc.low:.3f} to {auc.high:.3f})")
    return secure


@app.main()
def main(grid, context):
    config = context.run_config
    clinics = task.NAMES[: config["num-clinics"]]
    num_rounds, on_missing = config["num-server-rounds"], config["on-missing"]
    timeout, secure = config["timeout"], config["secure"]
    # With secure aggregation, no clinic sends its counts in the clear.
    result, aggregator = run(grid, clinics, num_rounds, on_missing, timeout, evaluate=not secure)
    if secure:
        found = secure_auc(grid, context, result.arrays, timeout)
        if config["folder"]:
            found.report.counts.save(Path(config["folder"]) / "secure.skfa")
    for server_round in aggregator.invalid:
        for event in events(aggregator, server_round):
            print(f"round {server_round}: {event}")
    for server_round, metrics in result.evaluate_metrics_clientapp.items():
        missing = ", ".join(aggregator.missing_groups[server_round]) or "none"
        print(f"round {server_round}: {metrics['num-clients']} clinics, missing: {missing}")
        print(f"  average of the clinics' AUCs: {metrics['auc']:.3f}")
        print(f"  AUC of all patients:          {metrics['auc-pooled']:.3f}")
        print(f"  AUC of the worst clinic:      {metrics['auc-worst']:.3f}")
    if config["folder"]:
        save(result, aggregator, config["folder"])
