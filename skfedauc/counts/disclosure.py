"""What a site withholds or coarsens, and the door where results ask for it."""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from skfedauc import _input
from skfedauc._words import counted, described
from skfedauc.counts.bins import Bins

Level: TypeAlias = Literal["exact", "bins", "summary"]
# Smallest `min_count` of a rule: with 2, totals and the ranges of two rows determine single rows
_LEAST_MIN_COUNT = 3
_CHOICES = {"level": ("exact", "bins", "summary"), "tell_withheld": ("number", "rows", "labels")}


class DisclosureError(ValueError):
    """A result that the counts' disclosure does not permit.

    See Also
    --------
    Disclosure : What counts disclose.

    Examples
    --------
    >>> from skfedauc import DisclosureError, ScoreCounts
    >>> counts = ScoreCounts.from_predictions([0, 1], [0.25, 0.75], disclosure="bins")
    >>> try:
    ...     counts.map_scores(abs)
    ... except DisclosureError as error:
    ...     print(error)
    map_scores needs disclosure='exact'; these counts hold bins of scores. Do it before the counts \
are reduced.
    """


class Withheld(NamedTuple):
    """Groups left out because they have few rows in a class.

    Attributes
    ----------
    n_groups : int
        Group count; a group that two sites withheld counts twice.
    n_negatives, n_positives : int or None
        Rows in each class in all these groups; None if withheld.
    labels : tuple or None
        Their labels; None if withheld.
    is_n_missing_low : bool
        Whether a small number of rows without a group label was withheld, so that
        `ScoreCounts.n_missing` is too low.
    most_negatives, most_positives : int or None
        Upper limits for the two row counts; None if unknown.
    """

    n_groups: int = 0
    n_negatives: int | None = 0
    n_positives: int | None = 0
    labels: tuple[Any, ...] | None = ()
    is_n_missing_low: bool = False
    most_negatives: int | None = 0
    most_positives: int | None = 0

    @property
    def n_rows(self) -> int | None:
        """Rows in both classes; None if withheld."""
        return _sum([self.n_negatives, self.n_positives])

    @classmethod
    def merged(cls, parts: Sequence[Withheld]) -> Withheld:
        """Add up; what one part does not tell is unknown in the sum."""
        n_groups, negatives, positives, labels, is_low, *most = zip(*parts, strict=True)
        told = None if None in labels else tuple(itertools.chain(*labels))
        rows = _sum(negatives), _sum(positives)
        return cls(sum(n_groups), *rows, told, any(is_low), *map(_sum, most))

    def without(self, part: Withheld) -> Withheld | None:
        """Return what remains after a part is taken out; None if it is not in the whole."""
        numbers: dict[str, Any] = {}
        for name in ("n_groups", "n_negatives", "n_positives", "most_negatives", "most_positives"):
            whole, own = getattr(self, name), getattr(part, name)
            numbers[name] = None if None in (whole, own) else whole - own
        if any(number is not None and number < 0 for number in numbers.values()):
            return None
        if not numbers["n_groups"]:
            return Withheld(is_n_missing_low=self.is_n_missing_low)
        rest = list(self.labels or ())
        for label in part.labels or ():
            if label in rest:
                rest.remove(label)
        labels = None if None in (self.labels, part.labels) else tuple(rest)
        return self._replace(labels=labels, **numbers)

    def in_words(self) -> str:
        """Return a phrase for the repr, beginning with a comma; empty if nothing is withheld."""
        phrase = ""
        if self.n_groups:
            rows = "" if self.n_rows is None else f" of {counted(self.n_rows, 'row')}"
            phrase = f", {counted(self.n_groups, 'group')}{rows} withheld"
        if self.is_n_missing_low:
            phrase += ", number of rows without a group label withheld"
        return phrase


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


@dataclasses.dataclass(frozen=True, repr=False)
class Disclosure:
    """What a site withholds or coarsens before counts leave it.

    Write the rule once, and pass it wherever counts are made:
    ``ScoreCounts.from_predictions(..., disclosure=Disclosure("bins", min_count=10))``. Counts keep
    it as `ScoreCounts.disclosure`, with what was withheld, through files and merges.

    Parameters
    ----------
    level : {"exact", "bins", "summary"}, default="exact"
        "exact" counts each distinct score, "bins" counts each bin, and "summary" keeps
        sums by group without scores.
    bins : Bins, default=None
        The bins. None with level "bins" means ``Bins.of_probabilities()``; in counts,
        None means ranges that are not bins by one rule.
    min_count : int, default=None
        Smallest number of rows in a class, other than 0, that is disclosed: 3 or more, because 2
        leaves single rows determined. Neighboring bins are joined until each count reaches it, and
        groups with fewer rows in a class are left out. In counts, the smallest number that any part
        used, or 1 if it is unknown: a mark that secure sums and `PrivateCounts` refuse. Apply it
        once, at the site, before counts are sent or merged: two results from overlapping rows can
        differ by a single row.
    tell_withheld : {"number", "rows", "labels"}, default="rows"
        What is told about groups left out: how many; also their rows in each class, or an upper
        limit if the total is below ``min_count`` times the group count; or also their labels.
    withheld : Withheld, default=None
        The groups left out; set by `ScoreCounts.reduced`. None means none.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or has no effect without ``min_count``.

    See Also
    --------
    ScoreCounts.reduced : Counts that disclose less.

    Examples
    --------
    >>> from skfedauc import Disclosure, ScoreCounts
    >>> counts = ScoreCounts.from_predictions(
    ...     [0, 1, 0, 1, 0, 1, 0],
    ...     [0.2, 0.6, 0.5, 0.4, 0.1, 0.9, 0.3],
    ...     groups=list("aaaaaab"),
    ...     disclosure=Disclosure("bins", min_count=3),
    ... )
    >>> counts.disclosure.min_count, counts.disclosure.withheld.n_groups
    (3, 1)
    """

    level: Level = "exact"
    bins: Bins | None = None
    min_count: int | None = None
    tell_withheld: Literal["number", "rows", "labels"] = "rows"
    withheld: Withheld = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.withheld is None:
            object.__setattr__(self, "withheld", Withheld())
        must_be = "withheld must be the withheld groups of counts, counts.disclosure.withheld"
        _input.check_type(self.withheld, Withheld, must_be)
        for name, choices in _CHOICES.items():
            _input.check_option(name, getattr(self, name), choices)
        if self.bins is not None and not (isinstance(self.bins, Bins) and self.level == "bins"):
            raise TypeError(f"bins must be Bins, with level='bins'; got {described(self.bins)}.")
        if self.min_count is not None:
            least = _input.check_whole_number(self.min_count, "min_count")
            object.__setattr__(self, "min_count", least)
            return
        if self.tell_withheld != "rows":
            raise ValueError(
                f"tell_withheld={self.tell_withheld!r} has no effect without min_count, the "
                "smallest number of rows that the result discloses. Pass min_count as well."
            )

    def __repr__(self) -> str:
        shown = [repr(self.level)]
        for field in dataclasses.fields(self)[1:]:
            value = getattr(self, field.name)
            if value != (Withheld() if field.name == "withheld" else field.default):
                shown.append(f"{field.name}={value!r}")
        return f"Disclosure({', '.join(shown)})"


def check_rule(rule: object) -> Disclosure:
    """Return the rule that an argument `disclosure` names: a level, `Bins` or a rule."""
    found = rule
    if isinstance(rule, str):
        hint = " Bins or a Disclosure are also possible."
        found = Disclosure(_input.check_option("disclosure", rule, _CHOICES["level"], hint))
    elif isinstance(rule, Bins):
        found = Disclosure("bins", rule)
    if not isinstance(found, Disclosure):
        raise TypeError(f"disclosure must be a level, Bins or a Disclosure; got {described(rule)}.")
    if found.level == "bins" and found.bins is None:
        found = dataclasses.replace(found, bins=Bins.of_probabilities())
    if found.min_count is not None:
        _input.check_whole_number(found.min_count, "min_count", _LEAST_MIN_COUNT)
        if found.level == "exact":
            raise DisclosureError(
                "min_count needs bins of one rule or a summary, because each exact score is a "
                "count of its own. Pass Disclosure('bins', min_count=...)."
            )
    return found


def merged_rules(parts: Sequence[Disclosure]) -> Disclosure:
    """Return what holds for a sum of parts with one level."""
    bins = {part.bins for part in parts}
    marks = [part.min_count for part in parts if part.min_count is not None]
    return Disclosure(
        parts[0].level,
        bins.pop() if len(bins) == 1 else None,
        min(marks, default=None),
        withheld=Withheld.merged([part.withheld for part in parts]),
    )


def level_in_words(rule: Disclosure) -> str:
    if rule.level == "bins":
        return "ranges of scores" if rule.bins is None else repr(rule.bins)
    return "a summary" if rule.level == "summary" else "exact"


class Need(enum.Flag):
    """What a result needs from counts; every level has sums by group."""

    SCORES = enum.auto()  # exact scores or ranges of scores
    EXACT = enum.auto()  # exact scores
    UNSUPPRESSED = enum.auto()  # no part went through min_count or min_per_class


_IN_COUNTS = {
    "exact": "hold exact scores",
    "bins": "hold bins of scores",
    "summary": "are a summary by group, which holds no scores",
}


def lacking(rule: Disclosure, need: Need) -> str | None:
    """Return what counts with this rule lack, to end a sentence; None if they lack nothing."""
    held = _IN_COUNTS[rule.level]
    if Need.SCORES in need and rule.level == "summary":
        return (
            f"needs disclosure='bins' or 'exact'; these counts {held}. Count the rows with "
            "disclosure='bins', or ask for such counts."
        )
    if Need.EXACT in need and rule.level != "exact":
        return (
            f"needs disclosure='exact'; these counts {held}. Do it before the counts are reduced."
        )
    # Files of earlier versions have no mark, but list withheld groups.
    is_suppressed = rule.min_count is not None or rule.withheld != Withheld()
    if Need.UNSUPPRESSED in need and is_suppressed:
        return (
            "needs counts without suppression; these counts went through min_count or "
            "min_per_class, and a single row decides which groups these leave out. Count the rows "
            "again without suppression: random errors or the secure sum protect small counts."
        )
    return None


def needs(rule: Disclosure, need: Need, result: str) -> None:
    """Raise a DisclosureError unless counts with this rule permit a result.

    Every result that not all counts permit asks here.
    """
    lacks = lacking(rule, need)
    if lacks is not None:
        raise DisclosureError(f"{result} {lacks}")
