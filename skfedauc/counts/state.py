"""Type of score counts for modules that `ScoreCounts` imports."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from skfedauc._kernel import Cells
from skfedauc.counts.origin import Origin
from skfedauc.counts.ranges import Ranges


class State(Protocol):
    """Attributes of `ScoreCounts`."""

    @property
    def cells(self) -> Cells: ...  # noqa: D102
    @property
    def labels(self) -> NDArray[Any] | None: ...  # noqa: D102
    @property
    def origin(self) -> Origin: ...  # noqa: D102
    @property
    def ranges(self) -> Ranges | None: ...  # noqa: D102


P = TypeVar("P", bound=State)
