"""Validation of arguments: single values, and arrays of numbers.

Error messages name the argument, the value received and the remedy. Scikit-learn's `check_scalar`
accepts True and NaN, and its import slows devices that count rows.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import math
import warnings
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._words import all_shortened, described, enumerated, shortened, shortened_text

# Larger numbers overflow where C code takes them.
_LARGEST = (1 << 63) - 1
_MOST_JOBS = (1 << 31) - 1


def check_option(name: str, value: Any, options: Iterable[str | None], hint: str = "") -> Any:
    known = list(options)
    # Arrays compare by element, so that `in` alone would raise an error of its own.
    if (value is None or isinstance(value, str)) and value in known:
        return value
    text = f"one of {all_shortened(known)}"
    if len(known) < 5:
        text = enumerated(list(map(repr, known)), "or")
    raise ValueError(f"{name} must be {text}; got {shortened(value)}.{hint}")


@contextlib.contextmanager
def named(name: str) -> Iterator[None]:
    """Begin the messages of other libraries with the name of the argument that they refuse."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name}: {shortened_text(str(error), 500)}") from error


def check_keywords(given: Iterable[str], known: Iterable[str], caller: str) -> None:
    """Raise Python's error for a keyword that a function with typed options does not have."""
    for name in given:
        if name not in known:
            raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}")


def check_installed(package: str, needing: str, extra: str) -> None:
    """Raise an error with the remedy if an optional dependency is missing."""
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise ImportError(
            f"{needing} requires {package}, which is not installed with skfedauc by default. "
            f'Install it by: pip install "skfedauc[{extra}]"'
        ) from error


def is_number(value: Any) -> bool:
    """Return whether `value` is a real number that a float can hold, and not a boolean."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def is_whole(number: Any) -> bool:
    return math.isfinite(number) and number == math.floor(number)


def check_number(
    value: Any,
    name: str,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    below: float = math.inf,
    at_most: float = math.inf,
    hint: str = "",
) -> float:
    """Return a finite number within the given ends as a float, or raise a ValueError."""
    number = float(value) if is_number(value) else math.nan
    if not (above < number < below and at_least <= number <= at_most):
        ends = {"above": above, "at least": at_least, "below": below, "at most": at_most}
        words = [f"{word} {end:g}" for word, end in ends.items() if math.isfinite(end)]
        what = f"a number {enumerated(words)}" if words else "a finite number"
        raise ValueError(f"{name} must be {what}; got {shortened(value)}.{hint}")
    return number


def check_share(value: Any, name: str) -> float:
    if is_number(value) and 0 < value < 1:
        return float(value)
    is_percent = is_number(value) and 1 < value < 100
    hint = f"Pass {value / 100:g} for {value:g} %." if is_percent else "The ends are excluded."
    raise ValueError(f"{name} must be a number between 0 and 1; got {shortened(value)}. {hint}")


def check_whole_number(value: Any, name: str, at_least: int = 1, at_most: int = _LARGEST) -> int:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or not at_least <= value <= at_most:
        ends = f"at most {at_most:,}" if is_whole and value > at_most else f"at least {at_least}"
        raise ValueError(f"{name} must be a whole number of {ends}; got {shortened(value)}.")
    return int(value)


def check_flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {described(value)}.")
    return bool(value)


def check_n_jobs(n_jobs: Any) -> int | None:
    is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_whole or n_jobs == 0 or abs(n_jobs) > _MOST_JOBS):
        given = shortened(n_jobs)
        raise ValueError(f"n_jobs must be None or a whole number other than 0; got {given}.")
    return None if n_jobs is None else int(n_jobs)


def check_random_state(random_state: Any) -> Any:
    """Return a random number generator for None, an integer or a generator, as scikit-learn."""
    from sklearn.utils import check_random_state

    try:
        return check_random_state(random_state)
    except (ValueError, TypeError):
        raise ValueError(
            "random_state must be None, an integer from 0 to 2**32 - 1 or a numpy RandomState; "
            f"got {shortened(random_state)}."
        ) from None


# Most rows of a class in a `ScoreCounts`: products and sums of counts then fit in 64 bits
MOST_ROWS = 1 << 40


def check_length(name: str, size: int, other: str, other_size: int) -> None:
    if size != other_size:
        raise ValueError(
            f"{name} has {size} rows and {other} has {other_size}: pass one value of "
            f"{name} for each row of {other}."
        )


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning that points to the calling line outside this package."""
    level, _ = caller()
    warnings.warn(message, category, stacklevel=level)


def caller(through: Collection[str] = ()) -> tuple[int, str]:
    """Return the calling line's stack level outside this package and `through`, and its module."""
    package = __name__.partition(".")[0]
    frame = inspect.currentframe()
    level, module = 0, ""  # The level of the function that calls this one is 1.
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        is_own = module.partition(".")[0] == package or module in ("functools", *through)
        if not is_own or frame.f_back is None:
            break
        level, frame = level + 1, frame.f_back
    return level, module


def from_array_api(values: Any) -> Any:
    """Convert another library's array to numpy, like scikit-learn without array dispatch."""
    # Tensors of PyTorch follow the standard without its attribute.
    is_of_torch = type(values).__module__.partition(".")[0] == "torch"
    is_array = hasattr(values, "__array__" if is_of_torch else "__array_namespace__")
    if is_array and not isinstance(values, np.ndarray):
        return np.asarray(values)
    return values


def unwrapped(values: Any) -> Any:
    """Return the table or column within a narwhals frame or series, from any namespace.

    Other objects stay as they are: frames of engines have an attribute of any name.
    """
    if type(values).__module__.partition(".")[0] != "narwhals":
        return values
    import narwhals as nw

    return nw.to_native(values, pass_through=True)


def column_of(values: Any, name: str) -> NDArray[Any]:
    """Return any supported column as a one-dimensional numpy array."""
    values = from_array_api(values)
    # The conversion of pyarrow's dictionaries to numpy replaces missing values.
    if hasattr(values, "dictionary_encode") and hasattr(values.type, "index_type"):
        values = values.cast(values.type.value_type)
    or_columns = ", or a DataFrame of columns" if name == "groups" else ""
    is_unordered = isinstance(values, Mapping | set | frozenset)
    if isinstance(values, str | bytes) or is_unordered or not hasattr(values, "__len__"):
        raise TypeError(
            f"{name} must be a one-dimensional array or a column, with one value per row"
            f"{or_columns}; got {described(values)}."
        )
    if isinstance(values, np.ndarray):
        array = values
    else:
        try:
            array = np.asarray(values)
            if array.dtype.kind in "US" and not all(isinstance(v, str) for v in values):
                array = object_array(values)
        except MemoryError:
            raise
        except Exception as error:  # Other libraries raise various types of errors.
            raise ValueError(
                f"{name} must be a one-dimensional array; got {described(values)}, "
                f"which cannot be converted to an array ({error})."
            ) from error
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; drop the masked rows and pass .data.")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        hint = ""
        if name.startswith(("y_score", "scores[")) and array.ndim == 2:
            hint = f" Pass the column of the positive class, {name}[:, 1]."
            if array.shape[1] != 2:
                hint = (
                    f" For class i and the rest pass y_true == classes[i] and {name}[:, i]. "
                    "MulticlassGroupAUC, and multi_class= of functions, compare all classes."
                )
        raise ValueError(
            f"{name} must be one-dimensional; got an array of shape {array.shape}.{hint}"
        )
    return array


def not_single_values(column: NDArray[Any], name: str) -> TypeError:
    """Return the error for a column with lists or other objects that are no labels."""
    odd = next((value for value in column if not isinstance(value, Hashable)), column[0])
    return nested(kind_in_words(odd), name)


def nested(what: str, name: str) -> TypeError:
    return TypeError(
        f"{name} must hold one label per row; got {what}: pass a column of single values, or a "
        "DataFrame with one column for each field."
    )


def mixed_kinds(kinds: Iterable[Any], name: str) -> TypeError:
    found = ", ".join(sorted(set(map(str, kinds))))
    return TypeError(
        f"{name} mixes labels of different kinds ({found}); convert them to one kind, for instance "
        "with .astype(str)."
    )


def kind_in_words(values: Any) -> str:
    """Return an object's package and class, and the item types if it is a list."""
    kind = type(values)
    package = "" if kind.__module__ == "builtins" else f"{kind.__module__.split('.')[0]} "
    if not isinstance(values, list | tuple) or not values:
        return f"{package}{kind.__name__}"
    return f"{kind.__name__} of {', '.join(sorted({type(item).__name__ for item in values}))}"


# Types of numbers that float64 holds exactly
_FLOATS = {float, bool, np.float64, np.float32, np.float16, np.bool_}
# A rank among the rows of one site means nothing beside the ranks of another.
_RANKS = "Ranks are right only if they are taken over all rows of all sites together."


def check_scores(
    values: Any,
    name: str = "y_score",
    *,
    keep_single: bool = False,
    n_rows: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return scores as finite float64, and refuse different scores that round to the same float.

    With `keep_single`, scores in float32 keep this type. In this package, `n_rows` holds the row
    count of each value of counted input, for messages.
    """
    array = column_of(values, name)
    scores = _as_floats(array, name, keep_single=keep_single)
    _refuse_infinite(scores, name, n_rows)
    is_list = isinstance(values, list | tuple) and array.dtype == np.float64
    if is_list and bool((np.abs(scores) >= 1 << 53).any()):
        # numpy converts lists with floats or large integers to floats.
        array = object_array(v[0] if isinstance(v, list | tuple) else v for v in values)
    if array.dtype.kind == "O":
        refuse_ties(array.tolist(), scores, name)
    _refuse_rounded(array, scores, name)
    return scores


def number_of_rows(chosen: NDArray[np.bool_], n_rows: NDArray[np.int64] | None) -> int:
    """Return how many rows are chosen, or `n_rows` summed over them."""
    return int(chosen.sum() if n_rows is None else n_rows[chosen].sum())


def total_of_rows(size: int, n_rows: NDArray[np.int64] | None) -> int:
    return size if n_rows is None else int(n_rows.sum())


def refuse_ties(numbers: Sequence[Any], scores: NDArray[np.float64], name: str) -> None:
    """Refuse different numbers, such as decimals, that are equal as float64."""
    if set(map(type, numbers)) <= _FLOATS:
        return
    # Long doubles do not compare equal to fractions and decimals.
    exact = {
        Fraction(*number.as_integer_ratio()) if isinstance(number, np.longdouble) else number
        for number in numbers
    }
    n_tied = len(exact) - np.unique(scores).size
    if n_tied > 0:
        raise ValueError(
            f"{name} has {len(exact)} different numbers, of which {n_tied} are equal to another "
            f"one as float64 and would tie; round them in the same way at all sites. {_RANKS}"
        )


def _refuse_rounded(array: NDArray[Any], scores: NDArray[np.float64], name: str) -> None:
    """Refuse numbers that float64 would round, and that may tie with numbers of another call.

    Numbers that are equal to their float, or are the shortest decimal that rounds to it, do not.
    """
    is_rounded = np.zeros(array.size, np.bool_)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        is_rounded = scores != array
    elif array.dtype.kind in "Oiu" and array.dtype.itemsize == 8:
        kinds = set(map(type, array.tolist())) if array.dtype.kind == "O" else {int}
        # Rounding changes only integers beyond 2**53.
        is_far = np.abs(scores) >= 1 << 53 if kinds <= {int, *_FLOATS} else scores == scores
        for place in np.flatnonzero(is_far) if not kinds <= _FLOATS else ():
            is_rounded[place] = _is_rounded(array[place], float(scores[place]))
    if is_rounded.any():
        raise ValueError(
            f"{name} has {is_rounded.sum()} of {array.size} numbers, such as "
            f"{described(array[int(is_rounded.argmax())])}, that would be rounded to float64 and "
            "might tie with others; subtract one constant that all batches and sites share, or "
            f"round all in the same way. {_RANKS}"
        )


def _is_rounded(number: Any, score: float) -> bool:
    if isinstance(number, int | np.integer):
        return int(number) != int(score)
    if not hasattr(number, "as_integer_ratio"):
        return False
    return Fraction(*number.as_integer_ratio()) not in (Fraction(score), Fraction(repr(score)))


def _refuse_infinite(
    scores: NDArray[np.float64], name: str, n_rows: NDArray[np.int64] | None = None
) -> None:
    """Refuse infinite numbers and NaN, to which the conversion to numpy turns NULL."""
    # A finite sum implies finite scores. The sum of finite scores may overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        looks_finite = bool(np.isfinite(scores.sum()))
    if not looks_finite and not np.isfinite(scores).all():
        n_nan = number_of_rows(np.isnan(scores), n_rows)
        n_infinite = number_of_rows(np.isinf(scores), n_rows)
        raise ValueError(
            f"{name} must be finite; got {n_nan} NaN or NULL and {n_infinite} infinite values of "
            f"{total_of_rows(scores.size, n_rows)}. Drop or impute these rows first."
        )


def check_weights(values: Any, name: str = "sample_weight") -> NDArray[np.float64]:
    """Return weights as finite float64, 0 or more, and refuse extreme scales and ratios."""
    weights = check_sums(values, name)
    if weights.size == 0 or (weights.min() >= 1e-50 and weights.max() <= 1e50):
        return weights
    largest, smallest = float(weights.max()), float(weights.min(where=weights > 0, initial=np.inf))
    if largest > 1e100 or smallest < 1e-100 or largest > 1e100 * smallest:
        raise ValueError(
            f"{name} must be 0, or from 1e-100 to 1e100, and not differ by more than a factor of "
            f"1e100, since products of weights are added up; got {smallest:.3g} to {largest:.3g}. "
            "Divide all weights by their mean, or leave out the rows of the smallest weights."
        )
    return weights


def check_sums(values: Any, name: str) -> NDArray[np.float64]:
    """Return summed weights or squared weights as finite float64, 0 or more."""
    sums = _as_floats(column_of(values, name), name)
    _refuse_infinite(sums, name)
    n_negative = int((sums < 0).sum())
    if n_negative:
        raise ValueError(f"{name} must be 0 or more; got {n_negative} negative values.")
    return sums


def check_counts(values: Any, name: str) -> NDArray[np.int64]:
    """Return counts as whole numbers from 0 to 2**40."""
    counts = check_sums(values, name)
    if counts.size and counts.max() > MOST_ROWS:
        raise ValueError(
            f"{name} must be at most 2**40, the most rows of a class that a ScoreCounts can count "
            f"exactly; got {float(counts.max()):.3g}."
        )
    whole = counts.astype(np.int64)
    if not np.array_equal(whole, counts):
        raise ValueError(
            f"{name} must hold whole numbers of rows; got "
            f"{counts[whole != counts][:3].tolist()}. Count weighted rows by "
            "from_predictions(..., sample_weight=...)."
        )
    return whole


def _as_floats(array: NDArray[Any], name: str, *, keep_single: bool = False) -> NDArray[np.float64]:
    if keep_single and array.dtype == np.float32:
        return np.ascontiguousarray(array)
    if array.dtype.kind not in "fiub":
        if array.dtype.kind in "OTU" and array.size:
            try:
                converted = array.astype(np.float64)
            except OverflowError as error:
                raise ValueError(f"{name} holds integers beyond the largest float.") from error
            except (ValueError, TypeError):
                converted = None
            # Strings of digits probably belong to a wrong column.
            if converted is not None and not any(isinstance(v, str) for v in array):
                return converted
        if array.size or array.dtype.kind != "O":
            raise TypeError(
                f"{name} must hold numbers; got an array of {array.dtype} such as "
                f"[{all_shortened(array[:3].tolist())}]."
            )
    with np.errstate(over="ignore"):  # The conversion of long doubles may overflow.
        return np.ascontiguousarray(array, np.float64)


def count_missing(values: NDArray[Any], n_rows: NDArray[np.int64] | None = None) -> int:
    """Count None, NaN, NaT and pandas.NA in a one-dimensional array."""
    if values.dtype.kind in "biuUS":
        return 0
    if values.dtype.kind in "fmM":  # NaN and NaT are not equal to themselves.
        return number_of_rows(values != values, n_rows)
    import pandas as pd

    return number_of_rows(pd.isna(values), n_rows)


def object_array(items: Iterable[Any]) -> NDArray[Any]:
    """Return a one-dimensional object array, in which tuples are single objects."""
    return np.fromiter(items, object)
