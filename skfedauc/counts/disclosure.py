"""Levels of disclosure of score counts, and the reduction of counts to a lower level."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from skfedauc._kernel import Cells
from skfedauc._words import described, shortened
from skfedauc.counts.bins import Bins
from skfedauc.counts.joining import united_bins
from skfedauc.counts.ranges import Ranges
from skfedauc.counts.state import State

# What `reduced` and other functions take as `disclosure`
Disclosure: TypeAlias = Literal["exact", "bins", "summary"] | Bins
# Levels of disclosure, from the highest to the lowest
LEVELS = ("exact", "bins", "summary")


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


def cells_for(counts: State, result: str) -> Cells:
    """Return the cells of score counts, for a result that needs them.

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
    if not isinstance(disclosure, str):
        raise TypeError(
            f"disclosure must be 'exact', 'bins', 'summary' or a Bins; got {described(disclosure)}."
        )
    if disclosure in ("exact", "summary"):
        return disclosure  # type: ignore[return-value]
    if disclosure == "bins":
        return Bins.of_probabilities()
    raise ValueError(
        f"disclosure must be 'exact', 'bins', 'summary' or a Bins; got {described(disclosure)}."
    )


def bins_of(disclosure: object) -> Bins | None:
    """Return the bins that rows are counted by; None if they are counted by score."""
    level = check_disclosure(disclosure)
    return level if isinstance(level, Bins) else None


def check_protects(counts: State, disclosure: object) -> None:
    """Refuse a level of disclosure at which single rows have ranges or scores of their own.

    Parameters
    ----------
    counts : ScoreCounts
    disclosure : "exact", "bins", "summary", Bins or None
        Level to which the counts are to be reduced; None for their own level.

    Raises
    ------
    DisclosureError
        If the level is neither bins nor a summary.
    """
    level = counts.disclosure if disclosure is None else check_disclosure(disclosure)
    if isinstance(level, Bins) or level == "summary":
        return
    if level == "exact" or counts.origin.bins is None:
        mend = "disclosure='bins', a Bins or 'summary'"
        if counts.ranges is not None:
            mend = "disclosure='summary', or min_count before counts are joined or merged"
        raise DisclosureError(
            f"min_count needs bins of one rule or a summary; the result would be "
            f"{level_in_words(counts)}. Pass {mend}."
        )


def level_in_words(counts: State) -> str:
    """Return the level of disclosure of score counts, with the rule of the bins."""
    if counts.disclosure != "bins":
        return "a summary" if counts.disclosure == "summary" else "exact"
    return "ranges of scores" if counts.origin.bins is None else repr(counts.origin.bins)


def level_of(counts: State) -> Any:
    """Return "exact", "summary" or the bins; None for ranges that are not bins of one rule."""
    return counts.origin.bins if counts.disclosure == "bins" else counts.disclosure


def common_level(one: Any, other: Any) -> Any:
    """Return the highest level to which counts of both levels can be reduced.

    The levels are results of `level_of`. The result is None if there is no such level, or if the
    level depends on the ranges of the counts.
    """
    if "summary" in (one, other):
        return "summary"
    rules = [level for level in (one, other) if isinstance(level, Bins)]
    if len(rules) < 2:
        return rules[0] if rules else None
    first, second = rules
    return second if first.refines(second) else first if second.refines(first) else None


def mend_of_levels(one: Any, other: Any) -> str:
    """Return a sentence that says how to merge counts of two different results of `level_of`."""
    common = common_level(one, other)
    if common is not None:
        return f"ScoreCounts.merge(parts, disclosure={common!r}) reduces all of them first."
    if None in (one, other):
        return "Pass Bins, such as those of the ranges, as disclosure= to ScoreCounts.merge."
    return "Neither has bins that are unions of the other's: count one of them again."


def reduced_cells(
    counts: State, disclosure: object, *, widen: bool
) -> tuple[Cells, Ranges, Bins | None] | None:
    """Return the unmerged cells of the counts at a lower level; None if nothing changes.

    Parameters
    ----------
    counts : ScoreCounts
    disclosure : "exact", "bins" or Bins
    widen : bool
        Whether ranges that are not bins of one rule are widened to the unions of the new bins that
        they overlap. Otherwise, each range must lie within one bin.

    Raises
    ------
    DisclosureError
        If the counts disclose less than this level.
    ValueError, TypeError
        If `disclosure` is no level, or a score is outside the scores of the bins.
    """
    to, bins = check_disclosure(disclosure), counts.origin.bins
    if counts.disclosure == "summary":
        raise DisclosureError(
            f"disclosure={shortened(disclosure)} would disclose more than these counts hold: they "
            "are a summary by group. Count the rows again."
        )
    if not isinstance(to, Bins):
        if counts.ranges is not None:
            raise DisclosureError(
                "disclosure='exact' would disclose more than these counts hold: they are "
                f"{level_in_words(counts)}. Count the rows again with disclosure='exact'."
            )
        return None
    if to == bins:
        return None
    if counts.ranges is None:
        low = high = to.numbers_of(counts.cells.scores)
    elif bins is not None and not bins.refines(to):
        raise DisclosureError(
            f"counts with {bins!r} cannot be reduced to {to!r}, whose bins are no unions of "
            "theirs. Count the rows again, or pass bins that contain theirs."
        )
    else:
        low, high = (to.numbers_of(ends) for ends in counts.ranges)
    is_across = low != high
    if not is_across.any():
        return counts.cells._replace(scores=to.scores_of(low)), to.ranges_of(low), to
    if not widen:
        first, last = counts.ranges[:, np.argmax(is_across)]  # type: ignore[index]
        raise DisclosureError(
            f"the counts cannot be reduced to {to!r}: the range from {first:.17g} to {last:.17g} "
            "is not within one of its bins. Count the rows again."
        )
    scores, ranges = united_bins(to, low, high)
    return counts.cells._replace(scores=scores), ranges, None
