"""Flower's code of SecAgg+ with masks from a cryptographic random number generator.

Flower expands a key to masks by the Mersenne Twister with a seed of 32 bits; only 28 bits vary. The
lowest bits of the twister's numbers obey a known linear recurrence of order 19,937. Sums of several
sequences obey the same recurrence. A server can therefore compute counts from a long masked vector
for any number of clients. Here, SHAKE-256 expands the whole key.

The functions below execute Flower's modules a second time, and replace the generator only in this
copy. Other apps in the process keep Flower's generator. Masks of different generators do not
cancel, so all clients and the server must use the same generator.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import math
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc.flower.modules import flwr
from skfedauc.flower.secure_settings import MODULUS

# Name of Flower's generator in its modules
_GENERATOR = "pseudo_rand_gen"
# Text that separates these masks from other uses of a key
_DOMAIN = b"skfedauc masks 1\0"


def masks_of(
    key: bytes, modulus: int, shapes: list[tuple[int, ...]]
) -> list[NDArray[np.signedinteger[Any]]]:
    """Expand a key of at least 128 bits of entropy to arrays of uniform numbers below 2**32.

    Parameters
    ----------
    key : bytes
    modulus : int
        2**32.
    shapes : list of tuple of int
        Shapes of the arrays to mask.
    """
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
