"""`MulticlassCounts`: score counts of several classes, one class against another or the rest."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.counts.disclosure import Disclosure
from skfedauc.counts.score_counts import ScoreCounts

MultiClass: TypeAlias = Literal["ovr", "ovo"]


def check_multi_class(multi_class: Any) -> MultiClass:
    """Validate the argument `multi_class`."""
    if multi_class in ("ovr", "ovo"):
        return multi_class  # type: ignore[no-any-return]
    raise ValueError(
        "multi_class must be 'ovr' (each class against the rest) or 'ovo' (each class against each "
        f"other class); got {_words.shortened(multi_class)}."
    )


@dataclasses.dataclass(frozen=True, repr=False)
class MulticlassCounts:
    """Mergeable score counts of rows of three or more classes.

    Make counts with `from_predictions`, and merge them with ``+`` or `merge`.

    Parameters
    ----------
    labels : tuple
        Class labels, in the order of the columns of the scores.
    multi_class : {"ovr", "ovo"}
        "ovr" compares each class with the rest, and "ovo" compares each class with each other
        class.
    parts : dict of ScoreCounts
        With "ovr", the counts of the rows of all classes by label: the rows of the class are
        positives, and their score is the score of the class. With "ovo", the counts of the rows of
        two classes by ``(positive, negative)``: the score is the score of the positive class.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    See Also
    --------
    MulticlassGroupAUC : Report of these counts.
    ScoreCounts : Counts of two classes.

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
        wrong = [part for part in self.parts.values() if not isinstance(part, ScoreCounts)]
        if wrong:
            raise TypeError(f"parts must be ScoreCounts; got {_words.described(wrong[0])}.")

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
        missing: _input.Missing = "raise",
        disclosure: Disclosure = "exact",
    ) -> MulticlassCounts:
        """Count the rows of a set of predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of three or more classes.
        y_score : array-like of shape (n_rows, n_classes)
            Finite scores of each class, such as probabilities or decision values. The scores of a
            row need not add up to 1.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
            Group label of each row; see `ScoreCounts.from_predictions`.
        multi_class : {"ovr", "ovo"}, default="ovr"
            Compare each class with the rest, or with each other class.
        labels : array-like of shape (n_classes,), default=None
            Class label of each column of `y_score`. None means the sorted labels of `y_true`; pass
            `labels` if the rows may lack a class, as on a device of few rows.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        disclosure : "exact", "bins", "summary" or Bins, default="exact"
            What the counts disclose of the scores; see `ScoreCounts.reduced`.

        Returns
        -------
        MulticlassCounts
        """
        multi_class, missing = check_multi_class(multi_class), _input.check_missing(missing)
        _input.check_row_order(
            {"y_true": y_true, "y_score": y_score, "groups": groups, "sample_weight": sample_weight}
        )
        y = _input.column_of(y_true, "y_true")
        known = _checked_labels(y, labels)
        scores = _checked_scores(y_score, known, is_given=labels is not None)
        by_class = {
            label: _input.check_rows(
                np.asarray(y == label, np.bool_),
                scores[:, column],
                groups,
                sample_weight,
                name=f"y_score[:, {column}]",
                missing=missing,
                warn_labels=False,
            )
            for column, label in enumerate(known)
        }
        names = _input.names_of(by_class[known[0]].labels, groups)
        parts = {}
        for key in keys_of(known, multi_class):
            rows = _of_class(by_class, key) if multi_class == "ovr" else _of_two(by_class, *key)
            parts[key] = ScoreCounts.of_rows(rows, None, names).reduced(disclosure)
        return cls(tuple(known), multi_class, parts)

    @classmethod
    def merge(cls, parts: Iterable[MulticlassCounts]) -> MulticlassCounts:
        """Merge counts, such as the counts of many devices.

        Parameters
        ----------
        parts : iterable of MulticlassCounts
            One or more counts of the same labels and the same `multi_class`.

        Returns
        -------
        MulticlassCounts

        Raises
        ------
        ValueError
            If there are no counts, or if their labels or `multi_class` differ.
        TypeError
            If a part is not a MulticlassCounts.
        """
        listed = list(parts)
        if not listed:
            raise ValueError("parts is empty; pass one or more MulticlassCounts.")
        for part in listed:
            if not isinstance(part, MulticlassCounts):
                raise TypeError(f"parts must be MulticlassCounts; got {_words.described(part)}.")
            for name in ("multi_class", "labels"):
                expected, found = getattr(listed[0], name), getattr(part, name)
                if expected != found:
                    raise ValueError(
                        f"all parts must have the same {name}; got {_words.shortened(expected)} "
                        f"and {_words.shortened(found)}. Count the rows again with the same {name}."
                    )
        merged = {
            key: ScoreCounts.merge([part.parts[key] for part in listed]) for key in listed[0].parts
        }
        return cls(listed[0].labels, listed[0].multi_class, merged)

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


def keys_of(labels: Iterable[Any], multi_class: MultiClass) -> list[Any]:
    """Return the labels, or all pairs of a positive and a negative label."""
    return list(labels) if multi_class == "ovr" else list(itertools.permutations(labels, 2))


def _checked_labels(y: NDArray[Any], labels: Any) -> list[Any]:
    """Return the class labels in the order of the columns of the scores."""
    n_missing = _input.count_missing(y)
    if n_missing:
        raise ValueError(f"y_true has {n_missing} missing labels of {y.size}; drop these rows.")
    seen = _input.classes_of(y)
    known = seen if labels is None else _input.column_of(labels, "labels").tolist()
    if len(set(known)) < max(len(known), 3):
        mend = " For two classes use GroupAUC." if len(known) == 2 else ""
        raise ValueError(
            f"{'y_true' if labels is None else 'labels'} must hold three or more different "
            f"classes; got {_words.listed(known)}.{mend} If the rows lack a class, pass the labels "
            "of all classes as labels=."
        )
    unknown = [label for label in seen if label not in known]
    if unknown:
        raise ValueError(
            f"y_true has the labels {_words.listed(unknown)}, which are not among labels, "
            f"{_words.listed(known)}."
        )
    return known


def _checked_scores(y_score: Any, labels: list[Any], *, is_given: bool) -> NDArray[Any]:
    """Return the scores as an array with a column for each label."""
    columns = list(getattr(y_score, "columns", ()))
    if columns != labels and len(columns) == len(labels) and set(columns) == set(labels):
        raise ValueError(
            f"the columns of y_score are {_words.listed(columns)}, in another order than the "
            f"classes, {_words.listed(labels)}. Pass y_score[labels]."
        )
    scores = np.asarray(y_score)
    if scores.ndim != 2 or scores.shape[1] != len(labels):
        mend = "" if is_given else " If the rows lack a class, pass labels=."
        raise ValueError(
            f"y_score must have one column for each of the {len(labels)} classes, "
            f"{_words.listed(labels)}; got an array of shape {scores.shape}.{mend}"
        )
    return scores


def _of_class(by_class: Mapping[Any, _input.Rows], label: Any) -> _input.Rows:
    """Return the rows of all classes, with the scores of a class."""
    text = _words.label_text(label)
    return _named(by_class[label], text, f"not {text}")


def _of_two(by_class: Mapping[Any, _input.Rows], one: Any, other: Any) -> _input.Rows:
    """Return the rows of two classes, with the scores of the first class."""
    rows = by_class[one]
    kept = rows.positive | by_class[other].positive
    codes, labels = rows.codes, rows.labels
    if codes is not None and labels is not None:
        codes, labels = _input.drop_unused(codes[kept], labels)
    of_two = rows._replace(
        positive=rows.positive[kept],
        scores=rows.scores[kept],
        codes=codes,
        labels=labels,
        weights=None if rows.weights is None else rows.weights[kept],
    )
    return _named(of_two, _words.label_text(one), _words.label_text(other))


def _named(rows: _input.Rows, positive: str, negative: str) -> _input.Rows:
    """Return the rows with the names of both classes, which messages and audits show."""
    of_labels = ((negative, ~rows.positive), (positive, rows.positive))
    seen = [label for label, of_label in of_labels if of_label.any()]
    return rows._replace(classes=_input.Classes.of(seen, positive))
