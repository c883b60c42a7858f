"""Server side of secure aggregation: sums of masked vectors in Flower's protocol SecAgg+."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.counts import ScoreCounts
from skfedauc.counts.vectors import Grid
from skfedauc.flower.aggregator import flwr
from skfedauc.flower.secure_client import FEWEST_CLIENTS, GRID, WORKFLOW, copied, settings_of

if TYPE_CHECKING:
    from flwr.app import ArrayRecord, Context, Message
    from flwr.serverapp import Grid as FlowerGrid

    from skfedauc import Bins
    from skfedauc.report import GroupAUC

# Limit on the rounding error of the average times the number of clients. Sums are below 2**32, so
# the error in float64 is below 2**-19.
_MOST_ROUNDED = 1e-5

# Number of requests after which all clients have shared their keys
_REQUESTS_OF_KEYS = 2


@dataclass(frozen=True)
class SecureReport:
    """Report of the sum of masked counts, with the number of clients in the sum.

    Parameters
    ----------
    report : GroupAUC
        Report of the rows of all clients that contributed, from binned counts.
    n_clients : int
        Number of clients whose counts are part of the sum.
    n_asked : int
        Number of clients that received requests.
    failures : dict of int to str
        Reason by the identifier of each node that failed or did not reply. If a node failed after
        sending counts, the sum includes these counts.

    See Also
    --------
    secure_group_auc : Compute the report.

    Examples
    --------
    In a ServerApp::

        print(secure_group_auc(grid, context, bins=BINS, groups=None).report.pooled)
    """

    report: GroupAUC
    n_clients: int
    n_asked: int
    failures: dict[int, str]


def secure_group_auc(
    grid: FlowerGrid,
    context: Context,
    *,
    bins: Bins,
    groups: Any,
    arrays: ArrayRecord | None = None,
    node_ids: Iterable[int] | None = None,
    min_clients: int | None = None,
    timeout: float | None = 3600.0,
) -> SecureReport:
    """Compute the AUCs of the rows of all clients from a sum of masked counts.

    The function runs one round of Flower's protocol SecAgg+ [1]_ [2]_: the server receives each
    client's counts masked, and learns only their sum. The clients answer by `secure_reply`. Call it
    in the main function of a ServerApp, for instance after training a model.

    Parameters
    ----------
    grid : flwr.serverapp.Grid
        Grid of the ServerApp.
    context : flwr.app.Context
        Context of the ServerApp.
    bins : Bins
        Bins of the scores, of a fixed number, equal to those of the clients.
    groups : array-like of labels, or None
        Labels of the groups of all clients, or None for rows without groups.
    arrays : flwr.app.ArrayRecord, default=None
        Arrays of the model for the clients, or none.
    node_ids : iterable of int, default=None
        Nodes to ask; None asks all connected ones.
    min_clients : int, default=None
        Smallest number of clients in the sum, at least 3: each of two would learn the counts of the
        other. None requires all that are asked.
    timeout : float, default=3600.0
        Longest wait in seconds for the replies to each of the four requests, or None.

    Returns
    -------
    SecureReport
        The report, and how many clients are in the sum and were asked.

    Raises
    ------
    ValueError
        If there are fewer than 3 clients, or `min_clients` in the sum, or an argument is not as
        described. If a client did not answer by `secure_reply`, or the result is no sum of counts.
    RuntimeError
        If clients failed before all shared their keys, or too many failed later; the message has
        the nodes and the reasons.
    ImportError
        If Flower is missing.

    See Also
    --------
    secure_reply : Answer of the clients.
    GroupAUCAggregator : Merge counts that the server sees.
    SecureReport : The report that it returns.

    Notes
    -----
    Flower averages floats, clipped to [-8, 8] and rounded at random. Here, the settings make sums
    of counts exact, masks come from SHAKE-256 in place of the Mersenne Twister, and clients refuse
    other settings: see the page "Federated evaluation with Flower and NVFlare". Clients with
    Flower's own mod can therefore not take part.

    The sum discloses the counts of a client in a group that no other client has: use groups that
    all share, such as age bands, or None. Two rounds with almost the same clients disclose those of
    the difference: do not repeat a round without a client that was in it. The sum has no class
    labels, so that the positive class must be agreed.

    References
    ----------
    .. [1] Bonawitz, K. et al. (2017). Practical secure aggregation for privacy-preserving machine
       learning. Proceedings of the 2017 ACM SIGSAC Conference on Computer and Communications
       Security. https://doi.org/10.1145/3133956.3133982
    .. [2] Bell, J. H. et al. (2020). Secure single-server aggregation with (poly)logarithmic
       overhead. Proceedings of the 2020 ACM SIGSAC Conference on Computer and Communications
       Security. https://doi.org/10.1145/3372297.3417885

    Examples
    --------
    In a ServerApp::

        arrays = FedAvg().start(grid, arrays, num_rounds=3).arrays
        secure = secure_group_auc(grid, context, bins=BINS, groups=["<50", "50+"], arrays=arrays)
        print(secure.n_clients, secure.report.pooled)
    """
    from skfedauc.report import GroupAUC

    agreed = Grid(bins, groups)
    nodes = sorted(grid.get_node_ids() if node_ids is None else set(node_ids))
    settings = settings_of(len(nodes))
    if min_clients is None:
        min_clients = len(nodes)
    elif _input.check_whole_number(min_clients, "min_clients", FEWEST_CLIENTS) > len(nodes):
        raise ValueError(
            f"min_clients is {min_clients}, and only {len(nodes)} clients are asked; wait until "
            "more clients are connected."
        )
    common = flwr("common")
    parameters = common.ndarrays_to_parameters([] if arrays is None else arrays.to_numpy_ndarrays())
    asked = _Round(grid, nodes, common.FitIns(parameters, {GRID: agreed.digest}))
    asked.run(context, settings, timeout)
    if asked.average is None:
        raise RuntimeError(
            "secure aggregation stopped without a sum, because too many clients failed"
            f"{asked.reasons}. At least {settings['threshold']} of {settings['share_num']} clients "
            "with common masks must remain until the end."
        )
    if asked.n_clients < min_clients:
        raise ValueError(
            f"the sum has the counts of {asked.n_clients} of {len(nodes)} clients"
            f"{asked.reasons}; at least {min_clients} are required. Pass min_clients= to accept "
            "a smaller number, if the rows of the other clients may be left out."
        )
    sums = np.asarray(asked.average, np.float64) * asked.n_clients
    whole, most = np.rint(sums), asked.n_clients * settings["clipping_range"]
    is_right = (np.abs(sums - whole) <= _MOST_ROUNDED) & (whole >= 0) & (whole <= most)
    if sums.shape != (agreed.size,) or not is_right.all():
        raise ValueError(
            "the result of secure aggregation is not a sum of counts: of "
            f"{sums.size:,} entries (expected: {agreed.size:,}), {int((~is_right).sum()):,} are "
            f"not whole numbers from 0 to {most:,}. Masks remain in the sum, or a client sent "
            "other numbers; all clients must answer by skfedauc.flower.secure_reply of this "
            "version."
        )
    counts = ScoreCounts.from_vector(whole.astype(np.int64), bins, groups)
    return SecureReport(GroupAUC(counts), asked.n_clients, len(nodes), asked.failures)


class _Round:
    """One round of the protocol, as Flower's grid, strategy and client manager.

    It keeps the average, and the reason by the identifier of each node that failed.
    """

    def __init__(self, grid: Any, nodes: list[int], instructions: Any) -> None:
        self._grid, self._nodes, self._instructions = grid, nodes, instructions
        self._key = flwr("common.secure_aggregation.secaggplus_constants").RECORD_KEY_CONFIGS
        self._n_requests = 0
        self.failures: dict[int, str] = {}
        self.average: NDArray[np.float64] | None = None
        self.n_clients = 0

    def run(self, context: Context, settings: dict[str, int], timeout: float | None) -> None:
        """Run the protocol; there is no average if too many clients fail."""
        app, constants = flwr("app"), flwr("server.workflow.constant")
        # The workflow writes records to the context.
        own = copy.copy(context)
        own.state = app.RecordDict()
        state = flwr("server").LegacyContext(own, strategy=self, client_manager=self)
        number = app.ConfigRecord({constants.Key.CURRENT_ROUND: 1})
        state.state[constants.MAIN_CONFIGS_RECORD] = number
        state.state[constants.MAIN_PARAMS_RECORD] = app.ArrayRecord()
        workflow = copied(WORKFLOW).SecAggPlusWorkflow(
            settings["share_num"],
            settings["threshold"],
            max_weight=1.0,
            clipping_range=float(settings["clipping_range"]),
            quantization_range=settings["target_range"],
            modulus_range=settings["mod_range"],
            timeout=timeout,
        )
        workflow(self, state)

    def num_available(self) -> int:
        return len(self._nodes)

    def configure_fit(self, *_: Any) -> list[tuple[Any, Any]]:
        # The workflow needs only the identifier of a client's proxy.
        proxies = (SimpleNamespace(node_id=node, cid=str(node)) for node in self._nodes)
        return [(proxy, self._instructions) for proxy in proxies]

    def aggregate_fit(
        self, _: int, results: list[tuple[Any, Any]], failures: Any
    ) -> tuple[None, dict[str, Any]]:
        weights = {result.num_examples for _, result in results}
        if weights != {1}:
            raise ValueError(
                f"clients sent the weights {sorted(weights)} in place of 1; all clients must "
                "answer by skfedauc.flower.secure_reply."
            )
        (self.average,) = flwr("common").parameters_to_ndarrays(results[0][1].parameters)
        self.n_clients = len(results)
        return None, {}

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> list[Message]:
        sent = list(messages)
        replies = list(self._grid.send_and_receive(sent, timeout=timeout))
        silent = {message.metadata.dst_node_id for message in sent}
        for reply in replies:
            node = reply.metadata.src_node_id
            silent.discard(node)
            if reply.has_error():
                reason = reply.error.reason or f"error {reply.error.code}"
                self.failures[node] = reason.strip()
            elif self._key not in reply.content.config_records:
                raise ValueError(
                    f"node {node} did not answer by SecAgg+; call skfedauc.flower.secure_reply in "
                    "the train function of each client, if skfedauc.flower.is_secure_request."
                )
        self.failures |= dict.fromkeys(silent, "no reply")
        self._n_requests += 1
        if self.failures and self._n_requests <= _REQUESTS_OF_KEYS:
            # Flower would continue, and fail to remove the masks at the end.
            raise RuntimeError(
                "secure aggregation stopped before a client sent counts, because not all clients "
                f"shared their keys{self.reasons}. Ask again, or pass the other nodes as node_ids=."
            )
        return replies

    @property
    def reasons(self) -> str:
        """The failed nodes and reasons in parentheses; empty without failed nodes."""
        if not self.failures:
            return ""
        named = [
            f"node {node}: {_words.shortened_text(' '.join(reason.split()), 300)}"
            for node, reason in sorted(self.failures.items())[:5]
        ]
        return f" ({_words.counted(len(self.failures), 'failure')}: {'; '.join(named)})"
