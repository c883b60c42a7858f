"""Type of score counts for modules that `ScoreCounts` imports."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeVar

import numpy as np
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
    @property
    def disclosure(self) -> Literal["exact", "bins", "summary"]: ...  # noqa: D102
    @property
    def arrays(self) -> list[NDArray[Any]]: ...  # noqa: D102
    @property
    def n_negatives(self) -> NDArray[np.int64]: ...  # noqa: D102
    @property
    def n_positives(self) -> NDArray[np.int64]: ...  # noqa: D102
    def __len__(self) -> int: ...


P = TypeVar("P", bound=State)
