"""Which groups a report lists, in which order, and what happens to undefined AUCs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from skfedauc import _group_codes, _input, _labels, _rows, _words
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import view_of
from skfedauc.measures import Measure, check_measure
from skfedauc.pairs import GroupPairs


def labels_of_rows(
    groups: Any, clusters: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, Any]:
    """Return the groups and the clusters of the rows of X, which all arguments must align with."""
    _labels.check_groups_given(groups)
    labels = _rows.groups_of_rows(groups, X)
    if clusters is not None:
        clusters = _rows.groups_of_rows(clusters, X, "clusters")
    inputs = {"X": X, "y": y, "groups": labels, "sample_weight": sample_weight}
    _rows.check_row_order({**inputs, "clusters": clusters})
    return labels, clusters


def by_number(counts: ScoreCounts, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of the groups, as reports list them, in the order of the counts."""
    return table.take(np.argsort(order_of(counts)))


def order_of(counts: ScoreCounts) -> NDArray[np.intp]:
    """Return group numbers in the order of the categories; in their own without an order."""
    orders = view_of(counts).orders
    groups = (counts.groups or ()) if any(orders) else range(len(counts))
    return order_of_labels(groups, orders)


def order_of_labels(groups: Sequence[Any], orders: tuple[tuple[Any, ...], ...]) -> NDArray[np.intp]:
    """Return the numbers of the groups, given the ordered categories of each column."""
    numbers = np.arange(len(groups))
    if not any(orders) or not groups:
        return numbers
    columns = list(zip(*groups, strict=True)) if isinstance(groups[0], tuple) else [groups]
    if len(columns) != len(orders):
        return numbers
    keys = [_places(column, order) for column, order in zip(columns, orders, strict=True)]
    return np.lexsort(keys[::-1])


def _places(column: Sequence[Any], order: Sequence[Any]) -> NDArray[np.intp]:
    """Return each label's place: among the categories, then among the other labels."""
    place = {label: number for number, label in enumerate(order)}
    others = [label for label in dict.fromkeys(column) if label not in place]
    codes = _group_codes.encode_groups(_input.object_array(others)).codes
    place |= {label: len(order) + int(code) for label, code in zip(others, codes, strict=True)}
    return np.array([place[label] for label in column], np.intp)


# Largest number of groups that a message names
_MOST_NAMED = 5


class LeftOut(NamedTuple):
    """Label and row counts by class of each group that a report omits, with fewer than `least`."""

    least: int
    groups: tuple[tuple[Any, ...], ...] = ()
    rows: str = "positives or negatives"

    def in_words(self) -> str:
        """Return a sentence that names the groups and their sizes; empty without such groups."""
        if not self.groups:
            return ""
        named = [
            f"{_words.shortened_label(label)} ({_words.enumerated([f'{n:,}' for n in sizes])})"
            for label, *sizes in self.groups[:_MOST_NAMED]
        ]
        others = self.groups[_MOST_NAMED:]
        if others:
            n_rows = sum(sum(sizes) for _, *sizes in others)
            named.append(f"{_words.counted(len(others), 'more group')} with {n_rows:,} rows")
        return f"Left out, with fewer than {self.least:,} {self.rows}: {_words.enumerated(named)}."


def split_by_size(
    labels: Iterable[Any], sizes: Sequence[NDArray[Any]], least: int, *rows: str
) -> tuple[NDArray[np.bool_], LeftOut]:
    """Return which groups have `least` rows of each class, and the others; `sizes` are by class."""
    is_large = np.min(sizes, axis=0) >= least
    of_groups = zip(labels, *(of.tolist() for of in sizes), strict=True)
    small = (of for of, large in zip(of_groups, is_large.tolist(), strict=True) if not large)
    return is_large, LeftOut(least, tuple(small), *rows)


def large_groups(pairs: GroupPairs, least: int) -> tuple[GroupPairs, LeftOut]:
    """Return the pairs of the groups with at least `least` rows of each class, and the others."""
    if pairs.is_within_folds or pairs.rows_repeat:
        raise ValueError("min_per_class must be 1 for a report over folds.")
    counts = pairs.counts
    sizes = counts.n_positives, counts.n_negatives
    is_large, left_out = split_by_size(counts.groups or ("all",), sizes, least)
    # The remaining groups tell whether a group has enough rows.
    return pairs.selected(np.flatnonzero(is_large), at_least=least or None), left_out


Undefined: TypeAlias = Literal["skip", "ignore", "raise"] | float


class NotDefined(Exception):
    """A statistic has no value: `reason` is its requirement, as the start of a sentence."""

    def __init__(self, reason: str, *, more_rows_help: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.more_rows_help = more_rows_help


@dataclasses.dataclass(eq=False, repr=False)
class UndefinedPolicy:
    """Policy for groups that lack a class and for undefined statistics; see `GroupAUC`.

    Each report has its own policy, because the policy records its warnings. `remedy` ends messages.
    With `warns_once`, there is one warning for all statistics, as in a scorer's fold, and none for
    groups and statistics that earlier warnings `reported`.
    """

    undefined: Undefined
    _: dataclasses.KW_ONLY
    remedy: str = ""
    warns_once: bool = False
    is_quiet: bool = False
    reported: set[Any] | None = None
    # Topics of earlier warnings; "groups" once groups without a class are reported
    _done: set[str] = dataclasses.field(init=False, default_factory=set)

    @property
    def replacement(self) -> float | None:
        """AUC of groups that lack a class; None if statistics omit these groups."""
        return self.undefined if isinstance(self.undefined, float) else None

    def quiet(self) -> UndefinedPolicy:
        """Return a copy of this policy that neither warns nor raises."""
        undefined: Undefined = "ignore" if self.replacement is None else self.replacement
        # Return a policy and set no warnings filter, because filters affect all threads.
        return UndefinedPolicy(undefined, is_quiet=True)

    def report_groups(self, pairs: GroupPairs, of: str = "AUC") -> None:
        """Warn once, or raise an error, if groups lack a class; `of` names the undefined value."""
        if "groups" in self._done:
            return
        if pairs.n_undefined and self.undefined in ("skip", "raise"):
            rows = pairs.counts.n_positives + pairs.counts.n_negatives
            share = rows[~pairs.defined].sum() / rows.sum()
            known = pairs.counts.groups
            undefined = [known[g] for g in np.flatnonzero(~pairs.defined)] if known else []
            message = (
                f"{pairs.n_undefined} of {_words.counted(pairs.n_groups, 'group')}, with "
                f"{share:.2%} of the rows, have no positives or no negatives"
                f"{_named(undefined)}, so their {of} is undefined{of_one_label(pairs.counts)}"
            )
            if self.undefined == "raise":
                raise ValueError(
                    f"{message}. Pass undefined='skip' to leave these groups out, or a number "
                    f"to use as their {of}.{self.remedy}"
                )
            self._done.discard("undefined")  # Issue the warning again, with its cause.
            self.warn(
                f"{message}: they are left out of averages and gaps. Pass "
                "undefined='ignore' to suppress this warning, or a number to use as their "
                f"{of}.{self.remedy}",
                keys=undefined or [""],
            )
        self._done.add("groups")

    def nan(self, error: NotDefined, pairs: GroupPairs) -> float:
        """Return NaN for a statistic without a value; warn or raise as `undefined` requires."""
        remedy = self.remedy if error.more_rows_help else ""
        reason = error.reason + of_one_label(pairs.counts)
        if self.undefined == "raise":
            raise ValueError(f"{reason}, and undefined is 'raise'.{remedy}")
        if self.undefined != "ignore" and not self.is_quiet:
            self.warn(f"{reason}, so the result is NaN.{remedy}", keys=[reason])
        return float("nan")

    def warn(self, message: str, keys: Iterable[Any], about: str = "undefined") -> None:
        """Issue a warning; if `warns_once`, one about a topic, and none if all `keys` are known."""
        new = {(about, key) for key in keys}
        reported = set() if self.reported is None else self.reported
        if self.warns_once and (about in self._done or new <= reported):
            return
        reported |= new
        self._done.add(about)
        _input.warn(message, UndefinedMetricWarning)


def _named(labels: Sequence[Any]) -> str:
    """Return the first labels in parentheses, with a leading space."""
    more = ", ..." if len(labels) > _MOST_NAMED else ""
    return f" ({_words.all_shortened(labels[:_MOST_NAMED])}{more})" if labels else ""


def of_one_label(counts: ScoreCounts) -> str:
    """Return a phrase for messages if the only label of the rows is not pos_label; else ""."""
    classes = view_of(counts).classes
    if len(classes.seen) != 1 or not classes.lacks_positive or counts.n_positives.any():
        return ""
    return (
        f" (all rows have the label {_words.shortened(classes.seen[0])}, and pos_label is "
        f"{_words.shortened(classes.pos_label)})"
    )


def check_undefined(undefined: Any, measure: Measure | None = None) -> Undefined:
    """Validate the argument `undefined` for a measure, the AUC by default; numbers are float."""
    measure = check_measure(measure)
    low, high = measure.scale
    if isinstance(undefined, str) and undefined in ("skip", "ignore", "raise"):
        return cast(Undefined, undefined)
    is_number = isinstance(undefined, int | float) and not isinstance(undefined, bool)
    if is_number and low <= undefined <= high:
        return float(undefined)
    raise ValueError(
        f"undefined must be 'skip', 'ignore', 'raise', or a number from {low} to {high}, the "
        f"range of {measure.title}, to use for groups that lack a class; got "
        f"{_words.shortened(undefined)}."
    )
