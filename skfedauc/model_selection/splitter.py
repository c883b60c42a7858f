"""Splitters that stratify by group and class."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import indexable

from skfedauc import _group_codes, _input, _labels, _rows, _sklearn, _words


class _Code(str):
    """Text that is its own repr."""

    __repr__ = str.__str__


def _shown(groups: Any) -> str:
    """Return the repr of the groups; a Series can have many lines."""
    is_series = _rows.is_series(groups)
    return _Code(f"<Series of {len(groups)} labels>" if is_series else repr(groups))


class WithinGroupStratifiedKFold(_sklearn.GroupsConsumerMixin, BaseCrossValidator):
    """K-fold splitter that stratifies by group and class.

    Each fold gets an equal share of the positives and the negatives in every group, so a group
    with at least `n_splits` rows in each class has an AUC in all folds. Between two folds, the
    numbers of rows differ by at most one: by group and class, by class, and in total.

    Rows in one group are in both the training and the test sets. To test on unseen groups, use
    scikit-learn's `LeaveOneGroupOut` or `GroupKFold`.

    Parameters
    ----------
    n_splits : int, default=5
        Fold count, at least 2.
    groups : str, list of str or pandas.Series, default=None
        Name or names of group columns of X, or a pandas Series. A Series matches the rows of X by
        index label. None means the `groups` argument of `split`, as in scikit-learn's searches.
    shuffle : bool, default=False
        Whether to shuffle the rows in each group and class before splitting. If False, each fold
        has consecutive rows in each group and class.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling.
    missing : {"raise", "drop", "group"}, default="raise"
        Treatment of rows without a group label, as in scorers. "drop" splits them as one additional
        group; models are trained on these rows.

    See Also
    --------
    RepeatedWithinGroupStratifiedKFold : Repeat the folds with different shuffles.
    cross_validate_group_auc : Report of the test rows in all folds.
    sklearn.model_selection.StratifiedGroupKFold : Keep each group in one fold.

    Examples
    --------
    >>> import numpy as np
    >>> from skfedauc import WithinGroupStratifiedKFold
    >>> y = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    >>> site = np.array(["a", "a", "a", "a", "b", "b", "b", "b"])
    >>> folds = WithinGroupStratifiedKFold(2)
    >>> for train, test in folds.split(np.zeros((8, 1)), y, groups=site):
    ...     print(test)
    [0 2 4 6]
    [1 3 5 7]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        groups: str | list[str] | pd.Series[Any] | None = None,
        shuffle: bool = False,
        random_state: Any = None,
        missing: _labels.Missing = "raise",
    ) -> None:
        _rows.check_source_of_groups(groups, "the groups that are passed to split")
        shuffle = _input.check_flag(shuffle, "shuffle")
        if random_state is not None and not shuffle:
            raise ValueError(
                f"random_state={_words.shortened(random_state)} has no effect since shuffle "
                "is False; pass shuffle=True, or leave random_state out."
            )
        self.n_splits = _input.check_whole_number(n_splits, "n_splits", 2)
        self.groups = groups
        self.shuffle = shuffle
        self.random_state = random_state
        self.missing = _labels.check_missing(missing)

    def _get_metadata_request(self) -> Any:
        request = super()._get_metadata_request()
        if self.groups is None:
            return request
        if hasattr(self, "_metadata_request") and request.split.requests.get("groups"):
            raise TypeError(
                f"this splitter has its own groups (groups={_shown(self.groups)}), so it cannot "
                "request other groups; create the splitter without groups= to route groups."
            )
        request.split.add_request(param="groups", alias=False)
        return request

    def __repr__(self) -> str:
        shown = copy.copy(self)
        shown.groups = _shown(self.groups)
        return str(super(WithinGroupStratifiedKFold, shown).__repr__())

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds, over all repetitions.

        Parameters
        ----------
        X, y, groups : object, default=None
            The method ignores these arguments.

        Returns
        -------
        int
            The argument `n_splits`, times `n_repeats` if the folds are repeated.
        """
        return self.n_splits * int(getattr(self, "n_repeats", 1))

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Generate the row numbers of the training and test set of each fold.

        Parameters
        ----------
        X : array-like, shape (n_rows, n_features)
            Data with the group columns of the splitter, or with the index of its Series.
        y : array-like, shape (n_rows,), default=None
            Class labels; required, although scikit-learn's splitters permit None.
        groups : array-like, shape (n_rows,) or (n_rows, n_columns), default=None
            Group labels, in the order of the rows. Only a splitter without `groups` takes them;
            another ignores them with a warning.

        Yields
        ------
        train, test : ndarray
            Row numbers.

        Raises
        ------
        ValueError, TypeError
            If there are no groups, y does not hold class labels, or a class has fewer rows than
            `n_splits`.

        Warns
        -----
        UserWarning
            If groups of several classes have fewer than `n_splits` rows in one class.
        """
        for fold in self._folds(X, y, groups):
            for number in range(self.n_splits):
                in_test = fold == number
                yield np.flatnonzero(~in_test), np.flatnonzero(in_test)

    def _folds(self, X: Any, y: Any, groups: Any) -> Iterator[NDArray[np.intp]]:
        """Yield each row's fold, for each repetition."""
        classes, n_classes = self._classes(y)
        codes, labels = self._group_codes(X, groups)
        _input.check_length("groups", codes.size, "y", classes.size)
        indexable(X, y)
        # Rows without a label form an additional group.
        n_groups = len(labels) + int(codes.size > 0 and codes.max() == len(labels))
        # Sort rows by class, and then by group. The code assigns the folds to the rows in turn, and
        # continues from group to group. This order also balances each class over the folds.
        cell = classes * n_groups + codes
        n_rows = np.bincount(cell, minlength=n_classes * n_groups).reshape(n_classes, -1)
        self._warn_of_small_groups(n_rows[:, : len(labels)], labels)
        dealt = np.arange(cell.size) % self.n_splits
        fold = np.empty(cell.size, np.intp)
        if not self.shuffle:
            order = np.argsort(cell, kind="stable")
            # Make the rows of each fold consecutive without changing the number of rows by group
            # and class.
            fold[order] = np.sort(cell[order] * self.n_splits + dealt) % self.n_splits
            yield fold
            return
        random = _input.check_random_state(self.random_state)
        for _ in range(getattr(self, "n_repeats", 1)):
            shuffled = random.permutation(cell.size)
            places = random.permutation(n_classes * n_groups)
            order = shuffled[np.argsort(places[cell[shuffled]], kind="stable")]
            order = order[np.argsort(classes[order], kind="stable")]
            fold[order] = random.permutation(self.n_splits)[dealt]
            yield fold

    def _warn_of_small_groups(self, n_rows: NDArray[np.intp], labels: Sequence[Any]) -> None:
        """Warn about groups that lack a class in some fold; `n_rows` is by class and group."""
        # A group of one class has no AUC in any fold.
        is_few = ((n_rows > 0) & (n_rows < self.n_splits)).any(axis=0)
        is_few &= (n_rows > 0).sum(axis=0) > 1
        few = [label for label, small in zip(labels, is_few, strict=True) if small]
        if not few:
            return
        named = ", ".join(map(_words.shortened, few[:3]))
        _input.warn(
            f"{len(few):,} of {_words.counted(len(labels), 'group')} "
            f"{'has' if len(few) == 1 else 'have'} fewer rows of a class than there are folds "
            f"({self.n_splits}), so some folds lack this class and the AUC of the group is "
            f"undefined in these folds: {named}{', ...' if len(few) > 3 else ''}. Use fewer folds, "
            "or merge small groups.",
        )

    def _classes(self, y: Any) -> tuple[NDArray[np.intp], int]:
        if y is None:
            raise ValueError("WithinGroupStratifiedKFold needs y to stratify by class; got None.")
        labels, classes = _labels.class_labels(y)
        counts = np.bincount(classes)
        if counts.min() < self.n_splits:
            label = labels.tolist()[counts.argmin()]
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {counts.min()} rows of y in class "
                f"{_words.shortened(label)}, so some folds would lack the class; use fewer folds."
            )
        return classes, labels.size

    def _group_codes(self, X: Any, groups: Any) -> tuple[NDArray[np.intp], Sequence[Any]]:
        """Return each row's group number and the labels; missing labels have the last number."""
        if self.groups is not None:
            if groups is not None:
                _input.warn(
                    "the groups passed to split are ignored: this splitter has its own groups "
                    f"(groups={_shown(self.groups)}).",
                )
            groups = _rows.groups_of_rows(self.groups, X, are_from_x=True)
        elif groups is None:
            raise ValueError(
                "WithinGroupStratifiedKFold got no groups. Name the column(s) of X with the "
                "groups, WithinGroupStratifiedKFold(groups='site'); or pass groups=labels to "
                "split, to fit of a search, or to cross_validate."
            )
        else:
            # Do not check y, because permutation_test_score shuffles y together with its index.
            _rows.check_row_order({"X": X, "groups": groups}, is_cut=True)
        codes, labels = _group_codes.encode_groups(groups, missing=self.missing)[:2]
        return np.where(codes < 0, labels.size, codes), labels.tolist()


class RepeatedWithinGroupStratifiedKFold(WithinGroupStratifiedKFold):
    """Splitter that repeats `WithinGroupStratifiedKFold` with different shuffles.

    Parameters
    ----------
    n_splits : int, default=5
        Fold count, at least 2.
    n_repeats : int, default=10
        Number of repetitions.
    groups : str, list of str or pandas.Series, default=None
        Source of the groups; see `WithinGroupStratifiedKFold`.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling.
    missing : {"raise", "drop", "group"}, default="raise"
        Treatment of rows without a group label; see `WithinGroupStratifiedKFold`.

    See Also
    --------
    WithinGroupStratifiedKFold : The folds of one repetition.

    Examples
    --------
    >>> import numpy as np
    >>> from skfedauc import RepeatedWithinGroupStratifiedKFold
    >>> y = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    >>> site = np.array(["a", "a", "a", "a", "b", "b", "b", "b"])
    >>> folds = RepeatedWithinGroupStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    >>> [y[test].tolist() for train, test in folds.split(np.zeros((8, 1)), y, groups=site)]
    [[0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1]]
    """

    def __init__(
        self,
        *,
        n_splits: int = 5,
        n_repeats: int = 10,
        groups: str | list[str] | pd.Series[Any] | None = None,
        random_state: Any = None,
        missing: _labels.Missing = "raise",
    ) -> None:
        super().__init__(
            n_splits, groups=groups, shuffle=True, random_state=random_state, missing=missing
        )
        self.n_repeats = _input.check_whole_number(n_repeats, "n_repeats")
