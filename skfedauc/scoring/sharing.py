"""Results that the scorers of a multi-metric search share, so that the rows are counted once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Result = TypeVar("Result")

# Results of the current scoring call, by method caller. All scorers of a multi-metric search share
# one method caller, which lives as long as the call.
_RESULTS: WeakKeyDictionary[Any, dict[Any, tuple[Any, Any]]] = WeakKeyDictionary()


def shared(method_caller: Any, key: Any, kept: Any, compute: Callable[[], Result]) -> Result:
    """Return the result of `compute`; scorers with an equal key share the result of one call.

    Parameters
    ----------
    method_caller : object
        Object that scikit-learn makes for each scoring call.
    key : hashable
        Everything that determines the result.
    kept : object
        Objects whose ids are part of the key. The ids are unique while these objects exist.
    compute : callable
        Function without arguments.
    """
    results = _RESULTS.setdefault(method_caller, {})
    if key not in results:
        results[key] = compute(), kept
    found: Result = results[key][0]
    return found
