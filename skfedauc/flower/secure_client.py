"""Client side of secure aggregation: counts as masked vectors in Flower's protocol SecAgg+."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _words
from skfedauc.counts import ScoreCounts
from skfedauc.counts.vectors import Grid
from skfedauc.flower.modules import flwr
from skfedauc.flower.secure_protocol import FEWEST_CLIENTS, Settings, client_module

if TYPE_CHECKING:
    from flwr.app import Context, Message

    from skfedauc import Bins

_LOGGER = logging.getLogger(__name__)
# Key of the digest of the grid in the instructions of the server
GRID = "score-counts-grid"


def is_secure_request(message: Message) -> bool:
    """Return whether a message to the train function is a request of `secure_group_auc`.

    Parameters
    ----------
    message : flwr.app.Message
        Message to the train function of a client.

    Returns
    -------
    bool
        True if `secure_reply` must answer the message, False if it is, say, one to train a model.

    See Also
    --------
    secure_reply : Answer the message.

    Examples
    --------
    In the train function of a ClientApp::

        if is_secure_request(message):
            return secure_reply(message, context, count, bins=BINS, groups=["<50", "50+"])
    """
    records = flwr("common.secure_aggregation.secaggplus_constants")
    return message.has_content() and records.RECORD_KEY_CONFIGS in message.content.config_records


def secure_reply(
    message: Message,
    context: Context,
    count: Callable[[list[NDArray[Any]]], ScoreCounts],
    *,
    bins: Bins,
    groups: Any,
) -> Message:
    """Answer a request of `secure_group_auc` with masked counts; the server learns only the sum.

    Call it in the function that `ClientApp.train` registers, because SecAgg+ uses the messages of
    training. It runs Flower's client mod of SecAgg+; do not register this mod.

    Parameters
    ----------
    message : flwr.app.Message
        The server's message; see `is_secure_request`.
    context : flwr.app.Context
        The client's context, which keeps its keys between the four requests of a round.
    count : callable
        Function that returns the `ScoreCounts` of the client's rows, called at the third request
        with the server's arrays as a list of ndarrays.
    bins : Bins
        Bins of the scores, of a fixed number, equal to those of the server.
    groups : array-like of labels, or None
        Labels of the groups of all clients, as at the server, or None for rows without groups.

    Returns
    -------
    flwr.app.Message
        The reply.

    Raises
    ------
    ValueError
        If the server has other bins or groups, or inexact or unsafe settings.
    RuntimeError
        If `count` fails, or its counts have weights, another group, or a count above the limit:
        2**29 for 3 clients, 2**27 for 10, 2**24 for 100. The log of the client has the reason.
    TypeError
        If an argument is not as described.
    ImportError
        If Flower is missing.

    See Also
    --------
    secure_group_auc : Ask all clients, and compute the report of the sum.
    is_secure_request : Whether a message asks for this reply.
    ScoreCounts.to_vector : The counts that the reply masks.

    Notes
    -----
    The server receives the counts of each bin plus masks that cancel in the sum over all clients,
    and neither a number of rows nor a name. Flower sends the text of a client's error to the
    server; errors of `count` and of the counts are therefore only written to the client's log.

    Examples
    --------
    In a ClientApp::

        @app.train()
        def train(message, context):
            if is_secure_request(message):
                return secure_reply(message, context, count, bins=BINS, groups=["<50", "50+"])
            ...  # train the model

    ``count(arrays)`` computes the scores of the client's rows, and returns their `ScoreCounts`.
    """
    if not callable(count):
        raise TypeError(
            f"count must be a function that returns a ScoreCounts; got {_words.described(count)}."
        )
    grid = Grid(bins, groups)
    records = flwr("common.secure_aggregation.secaggplus_constants")

    class Site(flwr("client").NumPyClient):  # type: ignore[misc]
        def fit(
            self, parameters: list[NDArray[Any]], config: dict[str, Any]
        ) -> tuple[list[NDArray[np.int64]], int, dict[str, Any]]:
            settings = Settings.of_client(context.state.config_records[records.RECORD_KEY_STATE])
            if config.get(GRID) != grid.digest:
                raise ValueError(
                    "the bins or the groups of this client differ from those of the server; agree "
                    "on bins and on the labels of all groups, in one spelling."
                )
            try:
                counts = count(parameters)
                if not isinstance(counts, ScoreCounts):
                    raise TypeError(
                        f"count must return a ScoreCounts; got {_words.described(counts)}."
                    )
                vector = counts.to_vector(bins, groups, max_count=settings.max_count)
            except Exception as error:
                # Flower sends the text of an error to the server, and the text may disclose counts.
                _LOGGER.exception("The counts of this client were not sent.")
                raise RuntimeError(
                    f"the counts were not sent, because of a {type(error).__name__}; the log of "
                    "this client has the reason, which may disclose counts"
                ) from None
            # The weight 1 makes the aggregate the plain average.
            return [vector], 1, {}

    def site_of(context: Context) -> Any:
        return Site().to_client()

    _check_lists(message, records)
    mod = client_module().secaggplus_mod
    return flwr("clientapp").ClientApp(client_fn=site_of, mods=[mod])(message, context)


def _check_lists(message: Message, records: Any) -> None:
    """Refuse to disclose both secrets of a client, or the sum of fewer than three clients.

    With both secrets, the server removes all masks of a client. Each of two clients knows its own
    counts, and so reads the counts of the other in their sum.
    """
    content = message.content.config_records[records.RECORD_KEY_CONFIGS]
    keys = records.Key
    active, dead = (
        set(content.get(key, [])) for key in (keys.ACTIVE_NODE_ID_LIST, keys.DEAD_NODE_ID_LIST)
    )
    if active & dead:
        raise ValueError(
            f"the server asks for both secrets of {_words.counted(len(active & dead), 'node')}, "
            "which would disclose the counts of a single client. This client does not answer."
        )
    if keys.ACTIVE_NODE_ID_LIST in content and len(active) < FEWEST_CLIENTS:
        raise ValueError(
            f"the server asks for the sum of {_words.counted(len(active), 'client')} that share "
            f"masks; at least {FEWEST_CLIENTS} are needed, because each of two clients could read "
            "the counts of the other. This client does not answer."
        )
