"""Rows that users pass: columns of tables, the order of rows, and arguments by row."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _group_codes, _input, _labels
from skfedauc._labels import Classes, Labels, Missing
from skfedauc._words import all_shortened, listed, shortened, shortened_text

_WHOLE_FLOAT = re.compile(r"-?\d+\.0")


def header_of(
    read: Callable[[str], list[str]], needed: Collection[str], default: str = ","
) -> tuple[str, list[str]]:
    """Return a file's separator and column names; `read` returns the cells for a separator.

    It is the first that gives the needed names, else the first that splits the header.
    """
    names = {separator: read(separator) for separator in (default, ",", ";", "\t")}
    whole = [separator for separator, of in names.items() if set(needed) <= set(of)]
    split = [separator for separator, of in names.items() if len(of) > 1]
    separator = [*whole, *split, default][0]
    return separator, names[separator]


def without_zero_decimals(texts: Sequence[str]) -> Sequence[str]:
    """Return a column's distinct labels, without ".0" if all labels end in ".0".

    Many programs write an integer column with ".0" if a value is missing.
    """
    if texts and all(_WHOLE_FLOAT.fullmatch(text) for text in texts):
        return [text.removesuffix(".0") for text in texts]
    return texts


# Inputs match by position, as in scikit-learn, after a check that pandas indexes agree. Only groups
# in a Series match the rows of X by index label.


def check_row_order(inputs: Mapping[str, Any], *, is_cut: bool = False) -> None:
    """Refuse pandas inputs, by argument name, whose indexes have different orders.

    Indexes agree if they have the same labels in the same order. A plain ``RangeIndex(n)`` does not
    identify rows: it agrees with any index except the numbers 0 to n - 1 in another order. With
    `is_cut`, scikit-learn may have selected rows by position, so that a plain index is not
    recognized; only equal labels in different orders are refused.
    """
    indexes = {name: values.index for name, values in inputs.items() if has_index(values)}
    # Compare all indexes with the first index that is not a plain ``RangeIndex``.
    for name, index in indexes.items():
        reference = next((n for n in indexes if not _is_plain(indexes[n])), name)
        other = indexes[reference]
        # `check_length` refuses different lengths.
        if len(index) != len(other) or index.equals(other):
            continue
        is_same = index.nlevels == other.nlevels
        is_same = is_same and bool(index.isin(other).all() and other.isin(index).all())
        if not is_same and (is_cut or _is_plain(index) or _is_plain(other)):
            continue
        first, second = sorted((name, reference), key=list(indexes).index)
        how, mend = "different index labels", f"{second}.to_numpy() if their rows are in one order"
        if is_same:
            how = "the same index labels in different orders"
            mend = f"{second}.loc[{first}.index]; or, if labels repeat, sort both, and pass "
            mend += f"{second}.to_numpy()"
        # A missing label does not equal itself, but two missing labels have equal reprs.
        pairs = list(zip(indexes[first].tolist(), indexes[second].tolist(), strict=True))
        row = next((i for i, (one, two) in enumerate(pairs) if repr(one) != repr(two)), 0)
        raise ValueError(
            f"{second} and {first} have {how}: row {row} is {shortened(pairs[row][0])} in "
            f"{first} and {shortened(pairs[row][1])} in {second}. Rows are taken by "
            f"position: pass {mend}."
        )


def has_index(values: Any) -> bool:
    return hasattr(values, "iloc") and hasattr(values, "index")


def _is_plain(index: Any) -> bool:
    """Return whether an index numbers the rows from 0, as pandas does by default."""
    is_range = hasattr(index, "start") and hasattr(index, "step")
    return is_range and index.start == 0 and index.step == 1


def is_column_names(groups: Any) -> bool:
    return isinstance(groups, str) or (
        isinstance(groups, list) and bool(groups) and all(isinstance(g, str) for g in groups)
    )


def is_series(groups: Any) -> bool:
    return hasattr(groups, "iloc") and not hasattr(groups, "columns")


def groups_of_rows(groups: Any, X: Any, name: str = "groups", *, are_from_x: bool = False) -> Any:
    """Return labels for X's rows from column names, a Series or an array.

    With `are_from_x`, every list holds column names, and a Series always matches the index of X.
    `name` is the argument name, for messages.
    """
    groups, X = _input.unwrapped(groups), _input.unwrapped(X)
    if is_column_names(groups):
        names = [groups] if isinstance(groups, str) else groups
        # A list with one string per row may contain labels instead of names.
        if are_from_x or isinstance(groups, str) or len(names) != np.shape(X)[0]:
            return columns_of(X, names, name)
        if set(names) <= set(getattr(X, "column_names", getattr(X, "columns", ()))):
            raise ValueError(
                f"{name}={shortened(groups)} could be the names of columns of X or the labels of "
                "its rows; pass labels as an array."
            )
        return groups
    is_indexed = has_index(groups) and has_index(X)
    if are_from_x or (is_indexed and not _is_by_position(groups, X)):
        return aligned(groups, X, name)
    return groups


def _is_by_position(groups: Any, X: Any) -> bool:
    """Return whether to match rows by position, because index labels are equal or do not match."""
    if groups.index is X.index or groups.index.equals(X.index):
        return True
    if len(groups) != len(X) or not (_is_plain(groups.index) or _is_plain(X.index)):
        return False
    # Match rows by label if groups has all index labels of X.
    return X.index.nlevels != groups.index.nlevels or not bool(X.index.isin(groups.index).all())


def check_column_names(names: list[str], known: Sequence[str], name: str, table: str) -> None:
    """Refuse column names that a table lacks, or has more than once."""
    absent = [column for column in names if column not in known]
    if absent:
        by_lower = {str(column).lower(): column for column in known}
        near = [
            by_lower[key]
            for column in absent
            for key in difflib.get_close_matches(column.lower(), by_lower, n=1, cutoff=0.66)
        ]
        raise ValueError(
            f"{name} names the column{'s' if len(absent) > 1 else ''} "
            f"{listed(absent)}, not found in {table}. The columns are {listed(known)}."
            f"{f' Did you mean {listed(dict.fromkeys(near))}?' if near else ''}"
        )
    for column in names:
        if list(known).count(column) > 1:
            raise ValueError(
                f"{name} names the column {shortened(column)}, and {table} has "
                f"{list(known).count(column)} columns of this name; rename them."
            )


def distinct_columns(X: Any, names: Mapping[str, list[str]], table: str) -> Any:
    """Return a table that narwhals reads: if names repeat, only the columns that arguments name."""
    from narwhals.dependencies import is_pandas_dataframe, is_pyarrow_table

    X = _input.unwrapped(X)
    # Frames of engines have an attribute of any name, which would be a column.
    is_arrow = is_pyarrow_table(X)
    known = list(X.column_names if is_arrow else X.columns if is_pandas_dataframe(X) else ())
    if len(set(known)) == len(known):
        return X
    for name, wanted in names.items():
        check_column_names(wanted, known, name, table)
    chosen = list(dict.fromkeys(column for wanted in names.values() for column in wanted))
    return X.select(chosen) if is_arrow else X[chosen]


def columns_of(X: Any, names: list[str], name: str = "groups", table: str = "X") -> Any:
    import narwhals.stable.v2 as nw

    X = distinct_columns(X, {name: names}, table)
    if not nw.dependencies.is_into_dataframe(X):
        of_batch = (
            "Pass DataFrames, leave out the names for tuples of arrays, or count a lazy table by "
            "ScoreCounts.from_table."
        )
        raise TypeError(
            f"{name} names the column{'s' if len(names) > 1 else ''} {listed(names)} of {table}, "
            f"but {table} arrived as {type(X).__name__} without named columns. "
            f"{_unnamed_mend(name) if table == 'X' else of_batch}"
        )
    frame = nw.from_native(X, eager_only=True)
    check_column_names(names, frame.columns, name, table)
    check_single_values(frame.select(names).schema, names, name)
    for column in names:
        values = frame[column] if frame[column].dtype == nw.Object else ()
        first = next((value for value in values if value is not None), None)
        if not isinstance(first, Hashable):
            raise _not_single_values(column, type(first).__name__, name)
    return nw.to_native(frame.select(names))


def check_single_values(schema: Mapping[str, Any], names: list[str], name: str) -> None:
    for column in names:
        if schema[column].is_nested():
            raise _not_single_values(column, schema[column], name)


def _not_single_values(column: str, kind: Any, name: str) -> TypeError:
    return TypeError(
        f"{name} names the column {shortened(column)}, whose values are of type "
        f"{shortened_text(str(kind))}: name a column of single values, such as one column for "
        "each field."
    )


def _unnamed_mend(name: str) -> str:
    """Return the remedy if X has lost its column names or its index."""
    if name != "groups":
        return f"Pass the values of {name} in the order of the rows, as an array."
    return (
        "Pass a DataFrame with a column of groups, and the name of this column, groups='site'. "
        "Some tools turn X into a numpy array before they score; "
        "with these, let scikit-learn route the groups: "
        "sklearn.set_config(enable_metadata_routing=True), groups=None here, and "
        "groups=labels in fit (or params={'groups': labels}). HistGradientBoosting and "
        "ScoringMonitor route nothing: score the fitted estimator instead."
    )


def aligned(groups: Any, X: Any, name: str = "groups") -> Any:
    """Return the rows in a pandas Series that match X's index labels, in X's order."""
    if not hasattr(X, "index") or not hasattr(X, "columns"):
        raise TypeError(
            f"{name} is a pandas Series, to be aligned with the index of X, but X arrived as "
            f"{_input.kind_in_words(X)} without an index. {_unnamed_mend(name)}"
        )
    if groups.index.equals(X.index):
        return groups
    check_unique_index(groups, name, name)
    check_unique_index(X, "X", name)
    places = groups.index.get_indexer(X.index)
    absent = X.index[places < 0]
    if absent.size:
        raise ValueError(
            f"{name} has no label for {absent.size} of {places.size} index labels of X, such "
            f"as [{all_shortened(absent[:3].tolist())}]; its index must hold these labels."
        )
    # Row numbers that are shuffled in groups and increasing in X: probably, only the index of X was
    # reset, and matching by label would assign labels to the wrong rows.
    if (
        len(X) > 1
        and X.index.is_monotonic_increasing
        and (np.diff(places) < 0).any()
        and np.array_equal(np.sort(groups.index.to_numpy()), np.arange(len(groups)))
    ):
        raise ValueError(
            f"the index of {name} holds the row numbers 0 to "
            f"{len(groups) - 1:,} in another order, and the index of X is increasing, as after "
            f"reset_index. To match rows by index label, pass {name}={name}.sort_index(); if "
            f"the rows of {name} are already in the order of X, reset the index of {name}, too: "
            f"{name}.reset_index(drop=True)."
        )
    return groups.iloc[places]


def check_source_of_groups(groups: Any, none: str) -> None:
    """Refuse what is no name of columns of X, no Series with its index and not None (`none`)."""
    if groups is None or is_column_names(groups):
        return
    if not is_series(groups):
        raise TypeError(
            "groups must be the name of a column of X, a list of names, a pandas Series with the "
            f"index of X, or None ({none}); got {_input.kind_in_words(groups)}. Positions of "
            "columns and arrays are not supported, because they cannot be matched with the rows of "
            "a fold. To group by several Series, add them to X as columns and pass the list of "
            "column names."
        )
    check_unique_index(groups, "groups")


def check_unique_index(indexed: Any, name: str, argument: str = "groups") -> None:
    """Refuse an index with repeated labels; `argument` is the argument to align with X."""
    if not indexed.index.is_unique:
        repeated = indexed.index[indexed.index.duplicated()]
        raise ValueError(
            f"the index of {name} has {repeated.size} repeated labels, such as "
            f"[{all_shortened(repeated[:3].tolist())}], so {argument} cannot be aligned with X; "
            "use reset_index(drop=True) on both."
        )


class Rows(NamedTuple):
    """Validated rows, without those with weight 0.

    The score type is float32 if passed as float32. `labels` are sorted. `weights` is None if every
    row has weight 1. `n_missing` counts rows left out without a group label, except rows with
    weight 0; `classes` includes their labels. `kept` is True for each kept row of the input, or
    None if all remain. `names` and `orders` have the name and the ordered categories of each group
    column.
    """

    positive: NDArray[np.bool_]
    scores: NDArray[np.float64] | NDArray[np.float32]
    codes: NDArray[np.intp] | None
    labels: Labels | None
    weights: NDArray[np.float64] | None
    n_missing: int = 0
    classes: Classes = Classes()
    kept: NDArray[np.bool_] | None = None
    clusters: NDArray[np.intp] | None = None
    orders: tuple[tuple[Any, ...], ...] = ()
    names: tuple[str, ...] = ()

    def at(self, chosen: NDArray[Any]) -> Rows:
        """Return some rows, by numbers or a mask, and only the groups and clusters of these."""
        codes, labels, clusters = self.codes, self.labels, self.clusters
        if codes is not None and labels is not None:
            codes, labels = _group_codes.drop_unused(codes[chosen], labels)
        if clusters is not None:
            clusters, _ = _group_codes.number_integers(clusters[chosen])
        return self._replace(
            positive=self.positive[chosen],
            scores=self.scores[chosen],
            codes=codes,
            labels=labels,
            weights=None if self.weights is None else self.weights[chosen],
            clusters=clusters,
        )


def check_rows(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    *,
    name: str = "y_score",
    missing: Missing = "raise",
    warn_labels: bool = True,
    n_rows: NDArray[np.int64] | None = None,
    clusters: Any = None,
) -> Rows:
    """Validate the rows that users pass, as described in `ScoreCounts.from_predictions`.

    Messages call the scores `name`. Without `warn_labels`, scores that are class labels and a
    misspelled `pos_label` cause no warning. Messages and `n_missing` count the rows of `n_rows`.
    """
    inputs = {"y_true": y_true, name: y_score, "groups": groups, "sample_weight": sample_weight}
    check_row_order({**inputs, "clusters": clusters})
    scores = _input.check_scores(y_score, name, keep_single=True, n_rows=n_rows)
    y = _input.column_of(y_true, "y_true")
    positive, classes = _labels.check_labels(y, pos_label, n_rows)
    _input.check_length(name, scores.size, "y_true", positive.size)
    if warn_labels:
        _labels.warn_if_hard_labels(y if y.dtype.kind in "biuf" else positive, scores)
        _labels.warn_if_misspelled(classes)
    weights = None if sample_weight is None else _input.check_weights(sample_weight)
    codes, labels, cluster_of = None, None, None
    orders: tuple[tuple[Any, ...], ...] = ()
    if groups is not None:
        encoded = _group_codes.encode_groups(groups, missing=missing, n_rows=n_rows)
        codes, labels, orders, _ = encoded
    if clusters is not None:
        cluster_of = _group_codes.encode_groups(clusters, "clusters").codes
    given = {"sample_weight": weights, "groups": codes, "clusters": cluster_of}
    for argument, values in given.items():
        if values is not None:
            _input.check_length(argument, values.size, "y_true", positive.size)
    kept = None if weights is None or weights.all() else weights > 0
    n_missing = 0
    if codes is not None and codes.min(initial=0) < 0:
        lacks_label = codes < 0
        lacking = lacks_label if kept is None else lacks_label & kept
        n_missing = _input.number_of_rows(lacking, n_rows)
        kept = ~lacks_label if kept is None else ~lacks_label & kept
    of_all = positive, scores, codes, labels, weights, n_missing, classes, kept, cluster_of
    rows = Rows(*of_all, orders)
    rows = rows if kept is None else rows.at(kept)
    if rows.weights is not None and (rows.weights == 1.0).all():
        rows = rows._replace(weights=None)
    return rows._replace(names=_labels.names_of(rows.labels, groups))
