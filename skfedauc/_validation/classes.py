"""Labels of the two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._validation.arrays import count_missing, described, warn


def check_labels(y: NDArray[Any], pos_label: Any = None) -> NDArray[np.bool_]:
    """Whether each label is the positive one.

    As in scikit-learn, `pos_label` may be left out where the labels are among {0, 1},
    {-1, 1} or booleans; it is then 1.
    """
    if hasattr(pos_label, "__len__") and not isinstance(pos_label, str | bytes):
        raise TypeError(
            f"pos_label must be one label, such as 1 or 'yes'; got {described(pos_label)}."
        )
    if y.dtype.kind == "b" and pos_label in (None, True):
        return y
    if pos_label is None and y.dtype.kind in "iu" and y.size:
        # One pass decides the common case.
        low, high = int(y.min()), int(y.max())
        if low >= 0 and high <= 1:
            return y.astype(np.bool_)
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError(
            f"y_true has {int(np.isnan(y).sum())} missing labels of {y.size}; drop these "
            "rows first."
        )
    classes = classes_of(y)
    if len(classes) > 2:
        shown = ", ".join(repr(c) for c in classes[:4])
        raise ValueError(
            f"y_true must have two classes; got {len(classes)}: {shown}"
            f"{', ...' if len(classes) > 4 else ''}. AUC compares one class with another: "
            "pass y_true == label to compare one label with the rest."
        )
    if pos_label is None:
        usual = all(isinstance(c, int | float) for c in classes) and (
            set(classes) <= {0, 1} or set(classes) <= {-1, 1}
        )
        if not usual:
            raise ValueError(
                f"y_true has the labels {classes}: pass pos_label=, the one that counts as "
                "positive. It may be left out for {0, 1}, {-1, 1} and booleans only."
            )
        pos_label = 1
    elif pos_label not in classes and (
        len(classes) == 2 or any(isinstance(c, str) != isinstance(pos_label, str) for c in classes)
    ):
        raise ValueError(
            f"pos_label={pos_label!r} is not among the labels of y_true, {classes}; pass "
            "one of them."
        )
    return np.asarray(y == pos_label, np.bool_)


def classes_of(y: NDArray[Any]) -> list[Any]:
    """Distinct labels as Python objects, sorted where they can be."""
    if y.dtype.kind in "iufb":
        return list(np.unique(y).tolist())
    if y.dtype.kind not in "OUTS":
        raise TypeError(
            f"y_true must hold labels of two classes (numbers, booleans or strings); got "
            f"an array of {y.dtype}."
        )
    missing = count_missing(y)
    if missing:
        raise ValueError(f"y_true has {missing} missing labels of {y.size}; drop these rows first.")
    classes = list(dict.fromkeys(y.tolist()))
    try:
        return sorted(classes)
    except TypeError as error:
        kinds = sorted({type(c).__name__ for c in classes})
        raise TypeError(
            f"y_true mixes labels of different kinds ({', '.join(kinds)}); convert them to "
            "one kind, for instance with .astype(str)."
        ) from error


def warn_if_hard_labels(y: NDArray[Any], scores: NDArray[np.float64]) -> None:
    """Warn where scores are nothing but the two class labels."""
    # The first rows decide almost always.
    if scores.size < 2 or y.dtype.kind not in "biuf" or len(set(scores[:16].tolist())) > 2:
        return
    low, high = float(scores.min()), float(scores.max())
    if low == high or (low, high) != (float(y.min()), float(y.max())):
        return
    if bool(((scores == low) | (scores == high)).all()):
        warn(
            f"y_score holds only {low:g} and {high:g}: these look like predicted labels, "
            "and the AUC of labels ignores how sure the model is. Pass "
            "predict_proba(X)[:, 1] or decision_function(X).",
            UserWarning,
        )
