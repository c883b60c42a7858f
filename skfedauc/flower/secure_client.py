"""Flower's protocol SecAgg+: exact settings, masks, and the reply of a client with masked counts.

A client sends each parameter x as an integer of 32 bits plus masks modulo M. The integer is
``(x + C) * Q / (2 * C)``, rounded at random, with the clipping range C and the quantization range
Q. The client also masks its weight, ``num_examples / max_weight * Q``. The masks cancel in the sum.

The sum of n clients is exact if ``Q == 2 * C`` and each weight is Q, so that each client sends
``x + C``; if counts are at most C, so that nothing is clipped; if ``2 * C`` fits in 32 bits; and if
``n * Q < M``, so that sums do not wrap around. All numbers are then whole and below 2**32.

Flower expands a key to masks from a seed of 28 bits, so that a server can compute counts. Here,
SHAKE-256 expands the whole key, in a copy of Flower's modules.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import logging
import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.counts import ScoreCounts
from skfedauc.counts.vectors import Grid
from skfedauc.flower.aggregator import flwr

if TYPE_CHECKING:
    from flwr.app import Context, Message

    from skfedauc import Bins

# Modulus of the masks, the largest that Flower allows
MODULUS = 1 << 32
# Largest quantization range, because Flower rounds to signed integers of 32 bits
_MOST_QUANTIZED = 1 << 30
# Fewest clients in a sum: of two clients, each reads the counts of the other in their sum.
FEWEST_CLIENTS = 3
# Most clients with which a client shares masks, itself included. The work grows with the number of
# clients times this number, which Flower requires to be odd, or that of all clients.
_MOST_SHARES = 101


def settings_of(n_clients: int) -> dict[str, int]:
    """Return the settings of a round by their names in the state of a client's mod.

    Each client shares masks with `share_num` clients, itself included, and `threshold` shares
    reveal them. A client may send counts up to `clipping_range`, a power of two.
    """
    if n_clients < FEWEST_CLIENTS:
        raise ValueError(
            f"secure aggregation needs at least {FEWEST_CLIENTS} clients; got {n_clients}. "
            "The sum over fewer clients shows a client the counts of the other one."
        )
    # The largest power of two with n_clients * quantized < MODULUS
    quantized = min(1 << ((MODULUS - 1) // n_clients).bit_length() - 1, _MOST_QUANTIZED)
    shares = min(n_clients, _MOST_SHARES)
    return {
        "share_num": shares,
        # More than two thirds of the shares. Flower requires fewer than all shares, such as 2 of 3.
        "threshold": min(2 * shares // 3 + 1, shares - 1),
        "clipping_range": quantized // 2,
        "target_range": quantized,  # at which Flower does not round counts
        "mod_range": MODULUS,
        "max_weight": 1,
    }


def _most_count(state: Mapping[str, Any]) -> int:
    """Return the largest count to send under the settings of a mod's state, after checking them."""
    n_clients = int(state["sample_num"])
    own = settings_of(n_clients)
    asked = {name: float(state[name]) for name in own}
    if asked != own:
        shown = ", ".join(f"{name} {value:g}" for name, value in asked.items())
        raise ValueError(
            "the server asks for counts under settings of SecAgg+ that are not exact or not "
            f"safe for {n_clients} clients: {shown}. Start the round by "
            "skfedauc.flower.secure_group_auc of the version of the clients."
        )
    return own["clipping_range"]


def masks_of(key: bytes, modulus: int, shapes: list[tuple[int, ...]]) -> list[NDArray[np.int64]]:
    """Expand a key of at least 128 bits of entropy to arrays of uniform numbers below 2**32."""
    if modulus != MODULUS:
        raise ValueError(f"masks are modulo 2**32; got the modulus {modulus}.")
    sizes = [math.prod(shape) for shape in shapes]
    stream = hashlib.shake_256(b"skfedauc masks 1\0" + key).digest(4 * sum(sizes))
    numbers = np.frombuffer(stream, "<u4").astype(np.int64)
    parts = np.split(numbers, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


# Flower's modules with the client mod and with the workflow of SecAgg+
CLIENT_MOD = "flwr.client.mod.secure_aggregation.secaggplus_mod"
WORKFLOW = "flwr.server.workflow.secure_aggregation.secaggplus_workflow"


@functools.cache
def copied(name: str) -> ModuleType:
    """Return a copy of a module of Flower, in which `masks_of` makes the masks."""
    flwr("common")  # raise the error for a missing package
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if hasattr(module, "pseudo_rand_gen"):
            vars(module)["pseudo_rand_gen"] = masks_of
            return module
    raise ImportError(
        f"this version of Flower has no {name}.pseudo_rand_gen, so its masks cannot be replaced. "
        "Install flwr 1.41."
    )


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
            return secure_reply(message, context, count, bins=BINS, groups=None)
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

    Call it in the function that `ClientApp.train` registers. It runs Flower's client mod of
    SecAgg+; do not register this mod.

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
        The reply, with masks that cancel in the sum over all clients, and neither a number of rows
        nor a name.

    Raises
    ------
    ValueError
        If the server has other bins or groups, or inexact or unsafe settings.
    RuntimeError
        If `count` fails, or its counts have weights, another group, or a count above the limit:
        2**29 for 3 clients, 2**27 for 10, 2**24 for 100. Only the log of the client has the reason,
        because Flower sends the text of an error to the server.
    TypeError
        If an argument is not as described.
    ImportError
        If Flower is missing.

    See Also
    --------
    secure_group_auc : Ask all clients, and compute the report of the sum.
    is_secure_request : Whether a message asks for this reply.
    ScoreCounts.to_vector : The counts that the reply masks.

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
            most = _most_count(context.state.config_records[records.RECORD_KEY_STATE])
            if config.get(GRID) != grid.digest:
                raise ValueError(
                    "the bins or the groups of this client differ from those of the server; agree "
                    "on bins and on the labels of all groups, in one spelling."
                )
            try:
                counts = count(parameters)
                _input.check_type(counts, ScoreCounts, "count must return a ScoreCounts")
                vector = counts.to_vector(bins, groups, max_count=most)
            except Exception as error:
                # Flower sends the text of an error to the server, and the text may disclose counts.
                _LOGGER.exception("The counts of this client were not sent.")
                raise RuntimeError(
                    f"the counts were not sent, because of a {type(error).__name__}; the log of "
                    "this client has the reason, which may disclose counts"
                ) from None
            # The weight 1 makes the aggregate the plain average.
            return [vector], 1, {}

    _check_lists(message, records)
    mod = copied(CLIENT_MOD).secaggplus_mod
    app = flwr("clientapp").ClientApp(client_fn=lambda context: Site().to_client(), mods=[mod])
    return app(message, context)


def _check_lists(message: Message, records: Any) -> None:
    """Refuse to disclose both secrets of a client, or the sum of fewer than three clients."""
    content = message.content.config_records[records.RECORD_KEY_CONFIGS]
    keys = records.Key
    active = set(content.get(keys.ACTIVE_NODE_ID_LIST, []))
    dead = set(content.get(keys.DEAD_NODE_ID_LIST, []))
    has_few = keys.ACTIVE_NODE_ID_LIST in content and len(active) < FEWEST_CLIENTS
    if active & dead or has_few:
        raise ValueError(
            f"the server asks for the sum of {_words.counted(len(active), 'client')} that share "
            f"masks, and for both secrets of {_words.counted(len(active & dead), 'node')}. This "
            f"client does not answer for fewer than {FEWEST_CLIENTS} clients, or if the server "
            "could remove all masks of one: the counts of single clients would be disclosed."
        )
