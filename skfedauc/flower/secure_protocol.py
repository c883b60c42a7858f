"""Flower's protocol SecAgg+: settings under which sums of counts are exact, and its masks.

A client of the protocol sends each parameter x as an integer of 32 bits plus masks modulo M. The
integer is ``(x + C) * Q / (2 * C)``, rounded at random. C is the clipping range, Q is the
quantization range and M is the modulus. The client also masks its weight,
``num_examples / max_weight * Q``. The masks cancel in the sum.

The sum of n clients is exact under four conditions. First, ``Q == 2 * C`` and each weight is Q:
each client then sends the integer ``x + C``. Second, counts are at most C, so clipping has no
effect. Third, ``2 * C`` fits in 32 bits. Fourth, ``n * Q < M``, so the sums of the parameters and
of the weights do not wrap around. All numbers are then whole and below 2**32, and float64
represents these numbers exactly.

Flower expands a key to masks by the Mersenne Twister with a seed of 32 bits; only 28 bits vary. The
lowest bits of the twister's numbers obey a known linear recurrence of order 19,937. Sums of several
sequences obey the same recurrence. A server can therefore compute counts from a long masked vector
for any number of clients. Here, SHAKE-256 expands the whole key. The functions execute Flower's
modules a second time, and replace the generator only in this copy. Other apps in the process keep
Flower's generator. Masks of different generators do not cancel, so all clients and the server must
use the same generator.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.flower.modules import flwr

# Modulus of the masks: the largest modulus that Flower allows
MODULUS = 1 << 32
# Largest quantization range, because Flower rounds to signed integers of 32 bits
_MOST_QUANTIZED = 1 << 30
# Fewest clients in a sum: of two clients, each reads the counts of the other in their sum.
FEWEST_CLIENTS = 3
# Most clients with which a client shares masks, itself included. The work grows with the number of
# clients times this number, which Flower requires to be odd, or that of all clients.
_MOST_SHARES = 101


class Settings(NamedTuple):
    """Settings of one round of the protocol.

    Attributes
    ----------
    n_clients : int
        Number of clients that the server asks.
    num_shares : int
        Number of clients with which each client shares masks, including the client itself.
    threshold : int
        Number of shares that reveal a client's masks.
    max_count : int
        Largest count that a client may send, a power of two, and Flower's clipping range.
    """

    n_clients: int
    num_shares: int
    threshold: int
    max_count: int

    @property
    def quantization_range(self) -> int:
        """Flower's quantization range, at which Flower does not round counts."""
        return 2 * self.max_count

    @classmethod
    def chosen(cls, n_clients: int) -> Settings:
        """Choose the settings for a number of clients; a ValueError for fewer than three."""
        if n_clients < FEWEST_CLIENTS:
            raise ValueError(
                f"secure aggregation needs at least {FEWEST_CLIENTS} clients; got {n_clients}. "
                "The sum over fewer clients shows a client the counts of the other one."
            )
        # The largest power of two with n_clients * quantized < MODULUS
        quantized = min(1 << ((MODULUS - 1) // n_clients).bit_length() - 1, _MOST_QUANTIZED)
        shares = min(n_clients, _MOST_SHARES)
        # More than two thirds of the shares. Flower requires fewer than all shares, such as 2 of 3.
        threshold = min(2 * shares // 3 + 1, shares - 1)
        return cls(n_clients, shares, threshold, quantized // 2)

    @classmethod
    def of_client(cls, state: Mapping[str, Any]) -> Settings:
        """Return the checked settings in the state of a client's mod."""
        n_clients, clipping = int(state["sample_num"]), float(state["clipping_range"])
        shares, threshold = int(state["share_num"]), int(state["threshold"])
        quantized, modulus = int(state["target_range"]), int(state["mod_range"])
        is_exact = (
            float(state["max_weight"]) == 1
            and clipping >= 1
            and quantized == 2 * clipping
            and quantized & (quantized - 1) == 0
            and quantized <= _MOST_QUANTIZED
            and modulus & (modulus - 1) == 0
            and n_clients * quantized < modulus
        )
        if not is_exact or n_clients < FEWEST_CLIENTS or not shares < 2 * threshold:
            raise ValueError(
                "the server asks for counts under settings of SecAgg+ that are not exact or not "
                f"safe: clipping range {clipping:g}, quantization range {quantized}, largest "
                f"weight {float(state['max_weight']):g}, modulus {modulus}, {n_clients} clients, "
                f"{shares} shares, threshold {threshold}. Start the round by "
                "skfedauc.flower.secure_group_auc."
            )
        return cls(n_clients, shares, threshold, quantized // 2)


# Name of Flower's generator in its modules
_GENERATOR = "pseudo_rand_gen"
# Text that separates these masks from other uses of a key
_DOMAIN = b"skfedauc masks 1\0"


def masks_of(
    key: bytes, modulus: int, shapes: list[tuple[int, ...]]
) -> list[NDArray[np.signedinteger[Any]]]:
    """Expand a key of at least 128 bits of entropy to arrays of uniform numbers below 2**32."""
    if modulus != MODULUS:
        raise ValueError(f"masks are modulo 2**32; got the modulus {modulus}.")
    sizes = [math.prod(shape) for shape in shapes]
    stream = hashlib.shake_256(_DOMAIN + key).digest(4 * sum(sizes))
    numbers = np.frombuffer(stream, "<u4").astype(np.int64)
    parts = np.split(numbers, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


@functools.cache
def client_module() -> ModuleType:
    """Return a copy of Flower's module with the client mod of SecAgg+."""
    return _copied("client.mod.secure_aggregation", "secaggplus_mod")


@functools.cache
def server_module() -> ModuleType:
    """Return a copy of Flower's module with the workflow of SecAgg+."""
    return _copied("server.workflow.secure_aggregation", "secaggplus_workflow")


def _copied(package: str, name: str) -> ModuleType:
    flwr(package)
    spec = importlib.util.find_spec(f"flwr.{package}.{name}")
    if spec is None or spec.loader is None:
        raise ImportError(f"this version of Flower has no module flwr.{package}.{name}.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, _GENERATOR):
        raise ImportError(
            f"this version of Flower has no flwr.{package}.{name}.{_GENERATOR}, so its masks "
            "cannot be replaced. Install flwr 1.41."
        )
    setattr(module, _GENERATOR, masks_of)
    return module
