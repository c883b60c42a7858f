"""Imports of Flower, which is an optional dependency."""

from __future__ import annotations

import importlib
from typing import Any


def flwr(module: str) -> Any:
    """Import a module of Flower."""
    try:
        return importlib.import_module(f"flwr.{module}")
    except ImportError as error:
        raise ImportError(
            'skfedauc.flower needs Flower: pip install "skfedauc[flower]".'
        ) from error
