"""Validation of the labels of a binary classifier."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from skfedauc import _input, _words


class Target(NamedTuple):
    """Classes and labels of the rows.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        Sorted labels.
    codes : ndarray of int, shape (n_rows,)
        Index (0 or 1) in `classes` of the label of each row.
    """

    classes: NDArray[Any]
    codes: NDArray[np.int64]


def target_of(y: Any, owner: Any) -> Target:
    """Return the two classes, and the labels of the rows as codes 0 and 1.

    Raises
    ------
    ValueError
        If y is missing, has missing labels, or does not have two classes. Messages name the class
        of `owner`.
    """
    if y is None:
        raise ValueError(
            f"{type(owner).__name__} requires y to be passed, but the target y is None."
        )
    y = column_or_1d(_input.from_array_api(y), warn=True)
    classes, codes = _input.class_labels(y)
    if classes.size > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: y "
            f"has {classes.size} classes, {', '.join(map(repr, classes[:4].tolist()))}"
            f"{', ...' if classes.size > 4 else ''}. Pass y == label for one class versus rest."
        )
    if classes.size < 2:
        raise ValueError(
            f"y has only one class, {_words.shortened(classes.tolist()[0])}; "
            f"{type(owner).__name__} needs rows of two classes."
        )
    return Target(classes, codes.astype(np.int64))
