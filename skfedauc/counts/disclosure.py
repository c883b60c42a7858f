"""The argument `disclosure`, and the error for results that a level of disclosure excludes."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from skfedauc._kernel import Cells
from skfedauc._words import described
from skfedauc.counts.bins import Bins

# Values of the argument `disclosure` of `reduced` and other functions
Disclosure: TypeAlias = Literal["exact", "bins", "summary"] | Bins


class _Counts(Protocol):
    """Protocol of `ScoreCounts` and `State`, because their modules import this module."""

    @property
    def cells(self) -> Cells: ...
    @property
    def disclosure(self) -> str: ...


class DisclosureError(ValueError):
    """Error for a result that the level of disclosure of counts does not permit.

    See Also
    --------
    ScoreCounts.disclosure : Level of disclosure of score counts.
    ScoreCounts.reduced : Score counts at a lower level of disclosure.

    Examples
    --------
    >>> from skfedauc import DisclosureError, ScoreCounts
    >>> counts = ScoreCounts.from_predictions([0, 1], [0.25, 0.75], disclosure="bins")
    >>> try:
    ...     counts.map_scores(abs)
    ... except DisclosureError as error:
    ...     print(error)
    map_scores needs disclosure='exact'; these counts hold ranges of scores. Map the scores before \
the counts are reduced to bins.
    """


def needs_scores(result: str) -> str:
    """Return the message for a result that a summary does not determine.

    Parameters
    ----------
    result : str
        The result, as the start of a sentence.
    """
    return (
        f"{result} needs disclosure='bins' or 'exact'; these counts are a summary by group, which "
        "holds no scores. Count the rows with disclosure='bins', or ask for such counts."
    )


def cells_for(counts: _Counts, result: str) -> Cells:
    """Return the cells of score counts, for a result that needs cells.

    Raises
    ------
    DisclosureError
        If the counts are a summary; the message names the result.
    """
    if counts.disclosure == "summary":
        raise DisclosureError(needs_scores(result))
    return counts.cells


def check_disclosure(disclosure: object) -> Literal["exact", "summary"] | Bins:
    """Return the level "exact" or "summary", or the bins that `disclosure` names.

    Raises
    ------
    ValueError
        If `disclosure` is text, but not a level.
    TypeError
        If `disclosure` is neither text nor `Bins`.
    """
    if isinstance(disclosure, Bins):
        return disclosure
    if isinstance(disclosure, str):
        if disclosure == "exact":
            return "exact"
        if disclosure == "bins":
            return Bins.of_probabilities()
        if disclosure == "summary":
            return "summary"
    kind = ValueError if isinstance(disclosure, str) else TypeError
    raise kind(
        f"disclosure must be 'exact', 'bins', 'summary' or a Bins; got {described(disclosure)}."
    )


def bins_of(disclosure: object) -> Bins | None:
    """Return the bins of binned counts, or None for exact counts and summaries."""
    level = check_disclosure(disclosure)
    return level if isinstance(level, Bins) else None
