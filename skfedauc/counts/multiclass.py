"""Score counts for several classes, comparing one class with another or with the rest."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _labels, _rows, _words
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import Disclosure
from skfedauc.counts.score_counts import ScoreCounts, counts_of_rows

MultiClass: TypeAlias = Literal["ovr", "ovo"]


def check_multi_class(multi_class: Any, *, may_raise: bool = False) -> Any:
    """Return the checked argument `multi_class`; functions for two classes also take "raise"."""
    options = {"ovr": "each class against the rest", "ovo": "each class against each other class"}
    if may_raise:
        options = {**options, "raise": "an error if there are several"}
    return _input.check_option("multi_class", multi_class, options)


@dataclasses.dataclass(frozen=True, repr=False)
class MulticlassCounts:
    """Mergeable score counts for three or more classes.

    Make counts with `from_predictions`, and merge them with ``+`` or `merge`. They have no source
    and no file of their own: their `parts` have. Parts that are named count once in a merge.

    Parameters
    ----------
    labels : tuple
        Class labels, in the order of the score columns.
    multi_class : {"ovr", "ovo"}
        "ovr" compares each class with the rest, and "ovo" compares each class with each other
        class.
    parts : dict of ScoreCounts
        With "ovr", the keys are class labels. Each value counts all rows by the class's score,
        with the rows in the class as positives. With "ovo", the keys are ``(positive, negative)``.
        Each value counts the rows in two classes by the score of the positive class.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    See Also
    --------
    MulticlassGroupAUC : Report from these counts.

    Examples
    --------
    >>> import numpy as np
    >>> from skfedauc import MulticlassCounts
    >>> score = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.2, 0.6]])
    >>> one = MulticlassCounts.from_predictions([0, 1, 2], score, groups=["a"] * 3)
    >>> two = MulticlassCounts.from_predictions(
    ...     [1, 1, 2], score, groups=["b"] * 3, labels=[0, 1, 2]
    ... )
    >>> one + two
    MulticlassCounts(3 classes, one-vs-rest, 6 rows)
    >>> parts = {label: part.with_source("va") for label, part in one.parts.items()}
    >>> named = MulticlassCounts(one.labels, one.multi_class, parts)
    >>> named + named
    MulticlassCounts(3 classes, one-vs-rest, 3 rows)
    """

    labels: tuple[Any, ...]
    multi_class: MultiClass
    parts: Mapping[Any, ScoreCounts]

    def __post_init__(self) -> None:
        check_multi_class(self.multi_class)
        if len(set(self.labels)) < max(len(self.labels), 3):
            raise ValueError(
                f"labels must be three or more different classes; got {_words.listed(self.labels)}."
            )
        keys = keys_of(self.labels, self.multi_class)
        if set(self.parts) != set(keys):
            raise ValueError(
                f"parts must have the keys {_words.listed(keys)}; got {_words.listed(self.parts)}."
            )
        for part in self.parts.values():
            _input.check_type(part, ScoreCounts, "parts must be ScoreCounts")

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any = None,
        multi_class: MultiClass = "ovr",
        labels: Any = None,
        sample_weight: Any = None,
        missing: _labels.Missing = "raise",
        disclosure: str | Bins | Disclosure = "exact",
    ) -> MulticlassCounts:
        """Count predictions.

        Parameters
        ----------
        y_true : array-like, shape (n_rows,)
            Labels from three or more classes.
        y_score : array-like, shape (n_rows, n_classes)
            Finite scores by class, which need not add up to 1. A data frame's columns are matched
            by name: each name is a label, also as text. Columns with default names (0, 1, ... or
            column_0, column_1, ...) and the columns of an array are in the order of `labels`.
        groups : array-like, shape (n_rows,) or (n_rows, n_columns), default=None
            As in `ScoreCounts.from_predictions`.
        multi_class : {"ovr", "ovo"}, default="ovr"
            Compare each class with the rest, or with each other class.
        labels : array-like, shape (n_classes,), default=None
            Class labels, in the order of the columns of `y_score` unless these have labels as
            names. None means the sorted labels of `y_true`; pass `labels` if the rows may lack a
            class.
        sample_weight : array-like, shape (n_rows,), default=None
            Weights, 0 or more.
        missing : {"raise", "drop", "group"}, default="raise"
            As in `ScoreCounts.from_predictions`.
        disclosure : {"exact", "bins", "summary"}, Bins or Disclosure, default="exact"
            What is coarsened or withheld in each part.

        Returns
        -------
        MulticlassCounts

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described.
        """
        of_rows = {"groups": groups, "sample_weight": sample_weight}
        rows = MulticlassRows.checked(y_true, y_score, multi_class, labels, missing, **of_rows)
        return counts_of_classes(rows, disclosure)

    @classmethod
    def merge(cls, parts: Iterable[MulticlassCounts]) -> MulticlassCounts:
        """Merge counts, such as those from many devices.

        Parameters
        ----------
        parts : iterable of MulticlassCounts
            One or more counts with the same labels and the same `multi_class`.

        Returns
        -------
        MulticlassCounts

        Raises
        ------
        ValueError, TypeError
            If there are no counts, if an item is something else, or if their labels or
            `multi_class` differ.
        """
        listed = list(parts) if isinstance(parts, Iterable) else [parts]
        wrong = [part for part in listed if not isinstance(part, MulticlassCounts)]
        if wrong or not isinstance(parts, Iterable):
            got = _words.described((wrong or listed)[0])
            raise TypeError(f"parts must be an iterable of MulticlassCounts; got {got}.")
        if not listed:
            raise ValueError("parts is empty; pass one or more MulticlassCounts.")
        first = listed[0]
        for name in ("multi_class", "labels"):
            values = list(dict.fromkeys(getattr(part, name) for part in listed))
            if len(values) > 1:
                raise ValueError(
                    f"all parts must have the same {name}; got {_words.shortened(values[0])} "
                    f"and {_words.shortened(values[1])}. Count the rows again with the same {name}."
                )
        merged = {key: ScoreCounts.merge([of.parts[key] for of in listed]) for key in first.parts}
        return cls(first.labels, first.multi_class, merged)

    def __add__(self, other: MulticlassCounts) -> MulticlassCounts:
        if not isinstance(other, MulticlassCounts):
            return NotImplemented
        return MulticlassCounts.merge([self, other])

    def __radd__(self, other: Any) -> MulticlassCounts:
        # `sum` starts with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __repr__(self) -> str:
        # With "ovo", the rows of a class are in the parts of all other classes, for both orders.
        n_rows = sum(int(part.n_positives.sum()) for part in self.parts.values())
        n_rows //= 1 if self.multi_class == "ovr" else len(self.labels) - 1
        way = "one-vs-rest" if self.multi_class == "ovr" else "one-vs-one"
        return (
            f"MulticlassCounts({len(self.labels)} classes, {way}, {_words.counted(n_rows, 'row')})"
        )


def counts_of_classes(rows: MulticlassRows, disclosure: Any = "exact") -> MulticlassCounts:
    keys = keys_of(rows.by_class, rows.multi_class)
    parts = {key: counts_of_rows(rows.of(key)).reduced(disclosure) for key in keys}
    return MulticlassCounts(tuple(rows.by_class), rows.multi_class, parts)


class MulticlassRows(NamedTuple):
    """Validated rows from three or more classes.

    `by_class` has, by label, all rows with the class's score, the rows in the class as positives.
    """

    by_class: Mapping[Any, _rows.Rows]
    multi_class: MultiClass

    @classmethod
    def checked(
        cls, y_true: Any, y_score: Any, multi_class: Any, labels: Any, missing: Any, **of_rows: Any
    ) -> MulticlassRows:
        """Validate the arguments of `MulticlassCounts.from_predictions`, and clusters."""
        multi_class, missing = check_multi_class(multi_class), _labels.check_missing(missing)
        _rows.check_row_order({"y_true": y_true, "y_score": y_score, **of_rows})
        y = _input.column_of(y_true, "y_true")
        known = _checked_labels(y, labels)
        columns = _columns_of(y_score, known)
        scores = _checked_scores(y_score, known, has_labels=labels is not None)
        by_class = {
            label: _rows.check_rows(
                np.asarray(y == label, np.bool_),
                scores[:, column],
                name=f"y_score[:, {column}]",
                missing=missing,
                warn_labels=False,
                **of_rows,
            )
            for label, column in zip(known, columns, strict=True)
        }
        return cls(by_class, multi_class)

    @property
    def first(self) -> _rows.Rows:
        """Return all rows, with the first class's scores."""
        return next(iter(self.by_class.values()))

    def without_groups(self, labels: Sequence[Any]) -> MulticlassRows:
        """Return the rows of the other groups."""
        codes, known = self.first.codes, self.first.labels
        if codes is None or known is None or not labels:
            return self
        kept = np.array([label not in labels for label in known.tolist()])[codes]
        return self._replace(by_class={one: of.at(kept) for one, of in self.by_class.items()})

    def numbers(self, key: Any) -> NDArray[np.intp]:
        """Return a comparison's row positions among all rows."""
        if self.multi_class == "ovr":
            return np.arange(self.first.positive.size)
        one, other = key
        return np.flatnonzero(self.by_class[one].positive | self.by_class[other].positive)

    def of(self, key: Any) -> _rows.Rows:
        """Return a comparison's rows, with both class names for messages and audits.

        The key is the label of a class, or with "ovo" the labels of the positive and the negative.
        """
        if self.multi_class == "ovr":
            rows, positive = self.by_class[key], _words.label_text(key)
            negative = f"not {positive}"
        else:
            rows = self.by_class[key[0]].at(self.numbers(key))
            positive, negative = map(_words.label_text, key)
        of_labels = ((negative, ~rows.positive), (positive, rows.positive))
        seen = [label for label, of_label in of_labels if of_label.any()]
        return rows._replace(classes=_labels.Classes.of(seen, positive))


def keys_of(labels: Iterable[Any], multi_class: MultiClass) -> list[Any]:
    """Return the labels, or all pairs with a positive and a negative label."""
    return list(labels) if multi_class == "ovr" else list(itertools.permutations(labels, 2))


def _checked_labels(y: NDArray[Any], labels: Any) -> list[Any]:
    """Return the class labels in the order of the score columns."""
    seen = _labels.classes_of(y)
    known = seen if labels is None else _input.column_of(labels, "labels").tolist()
    if len(set(known)) < max(len(known), 3):
        name, mend = "labels", ""
        if labels is None:
            name = "y_true"
            mend = " If the rows lack a class, pass the labels of all classes as labels=."
        if len(set(known)) == 2:
            mend = f" For two classes use GroupAUC.{mend}"
        raise ValueError(
            f"{name} must hold three or more different classes; got {_words.listed(known)}.{mend}"
        )
    unknown = [label for label in seen if label not in known]
    if unknown:
        raise ValueError(
            f"y_true has the labels {_words.listed(unknown)}, which are not among labels, "
            f"{_words.listed(known)}."
        )
    return known


def _columns_of(y_score: Any, labels: list[Any]) -> list[int]:
    """Return each label's column number: by name, or by position without names.

    Labels as text also match, because some data frames have only text as names.
    """
    by_position = list(range(len(labels)))
    names = list(getattr(y_score, "column_names", getattr(y_score, "columns", ())))
    texts = list(map(str, names))
    # Names that pandas, pyarrow and Polars give to the columns of an array
    is_default = texts in ([str(n) for n in by_position], [f"column_{n}" for n in by_position])
    for known, wanted in ((names, labels), (texts, list(map(str, labels)))):
        if len(set(known)) == len(known) and set(known) == set(wanted):
            found = [known.index(label) for label in wanted]
            if is_default and found != by_position:
                raise ValueError(
                    f"the names of the columns of y_score, {_words.listed(names)}, are labels in "
                    f"another order than the classes, {_words.listed(labels)}, but can also be "
                    "default names. Pass an array with the columns in the order of the classes, "
                    "or the columns in this order, with the classes as names."
                )
            return found
    if is_default or len(names) != len(labels):
        return by_position
    raise ValueError(
        f"the columns of y_score are {_words.listed(names)}, but the classes are "
        f"{_words.listed(labels)}. Rename the columns to the classes, or pass an array with the "
        "columns in the order of the classes."
    )


def _checked_scores(y_score: Any, labels: list[Any], *, has_labels: bool) -> NDArray[Any]:
    try:
        scores = np.asarray(y_score)
    except ValueError as error:
        raise ValueError(f"y_score must have rows of one length: {error}") from error
    if scores.ndim != 2 or scores.shape[1] != len(labels):
        mend = "" if has_labels else " If the rows lack a class, pass labels=."
        raise ValueError(
            f"y_score must have one column for each of the {len(labels)} classes, "
            f"{_words.listed(labels)}; got an array of shape {scores.shape}.{mend}"
        )
    return scores
