"""`FairnessAudit`: how a model ranks and decides in each group, and which gaps are real."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier

from skfedauc import _sklearn
from skfedauc import _validation as validation
from skfedauc.fairness import decisions
from skfedauc.fairness.findings import findings
from skfedauc.inference.cross_gap import CrossGaps, cross_gaps
from skfedauc.report import GroupAUC
from skfedauc.report.group_auc import MATRIX_GROUPS

if TYPE_CHECKING:
    import os

    from fairlearn.metrics import MetricFrame

# The area between ROC curves is left out where more cells than this would be passed over.
_MOST_PASSED = 10_000_000
LEVEL = 0.95
# Share of rows on which predict may differ from the threshold, for ties and rounding.
_MOST_DIFFERENT = 0.01


class FairnessAudit:
    """How a model ranks and decides in each group, and which gaps are more than noise.

    The ranking side is that of `GroupAUC`: group AUCs with intervals and tests, and how the
    groups' rows rank against each other. The decision side is that of fairlearn: rates of
    predictions at a threshold. All is read from one state, which may be merged.

    Parameters
    ----------
    report : GroupAUC
        The groups are those of the report. Groups that lack a class are small, whatever its
        `undefined`.
    threshold : float or "auto", default="auto"
        Rows that score at least as high are selected. "auto" takes 0.5, if all scores are
        from 0 to 1.
    min_per_class : int, default=10
        Groups with fewer positives or fewer negatives are small: they are shown, but not
        compared, since their gaps are noise.

    Attributes
    ----------
    report : GroupAUC
        Of all groups.
    compared : GroupAUC
        Of the groups that are not small, with all others left out.
    threshold : float
    min_per_class : int

    Raises
    ------
    TypeError
        If `report` is no GroupAUC.
    ValueError
        If the report is about rows without groups, or of several folds; if "auto" finds scores
        that are no probabilities; or if `threshold` or `min_per_class` is not as described.

    See Also
    --------
    GroupAUC : The ranking side alone.
    MitigatedClassifier : A classifier under a mitigation of fairlearn.

    Examples
    --------
    >>> from skfedauc import FairnessAudit
    >>> from skfedauc.simulation import make_devices
    >>> people = make_devices("different", 400, 600, shifts=(0, 1), random_state=0)
    >>> audit = FairnessAudit.from_predictions(
    ...     people.y_true, people.y_score, groups=people.groups, threshold=0.5
    ... )
    >>> audit.by_group[["auc", "xauc_disparity", "selection_rate"]].round(2)
               auc  xauc_disparity  selection_rate
    group
    device 1  0.75           -0.41            0.45
    device 2  0.74            0.41            0.78
    >>> round(float(audit.gaps.loc["difference", "pvalue"]), 2)
    0.7
    """

    def __init__(
        self, report: GroupAUC, *, threshold: float | str = "auto", min_per_class: int = 10
    ) -> None:
        if not isinstance(report, GroupAUC):
            raise TypeError(
                f"FairnessAudit reads a GroupAUC; got {type(report).__name__}. Use "
                "FairnessAudit.from_predictions(y_true, y_score, groups=...) for rows, and "
                "FairnessAudit(GroupAUC(partial, undefined='ignore')) for a partial."
            )
        if report.partial.groups is None:
            raise ValueError("an audit needs groups; the report is about rows without any.")
        if report.n_groups == 0:
            raise ValueError("an audit needs rows; the report has none.")
        if type(report) is not GroupAUC:
            raise ValueError(
                "an audit compares all rows with each other, and this report does not: it is of "
                "folds, within which rows are compared, or of rows that are counted several "
                "times. Pass the report of one fold (folds[0]), or predictions."
            )
        self.report = report
        self.threshold = _check_threshold(threshold, report)
        self.min_per_class = validation.check_whole_number(min_per_class, "min_per_class", 0)
        # What the scores of the report are below those that the threshold is about
        self._below = 0.0

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any,
        threshold: float | str = "auto",
        sample_weight: Any = None,
        pos_label: Any = None,
        min_per_class: int = 10,
        n_jobs: int | None = None,
    ) -> FairnessAudit:
        """Audit predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_score : array-like of shape (n_rows,)
            Finite scores; the higher, the more positive.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns)
            Sensitive features; with several columns each combination is a group.
        threshold : float or "auto", default="auto"
            Rows that score at least as high are selected; see the class.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        min_per_class : int, default=10
            Groups with fewer positives or negatives are shown, but not compared.
        n_jobs : int, default=None
            Threads to use; None means 1 unless in a `joblib.parallel_config` context, -1 all
            processors.

        Returns
        -------
        FairnessAudit

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; the message tells what to pass instead.

        Examples
        --------
        >>> from skfedauc import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], min_per_class=1
        ... )
        >>> audit.by_group["selection_rate"].to_dict()
        {'a': 0.5, 'b': 0.5}
        """
        report = GroupAUC.from_predictions(
            y_true,
            y_score,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
            undefined="ignore",
            n_jobs=n_jobs,
        )
        return cls(report, threshold=threshold, min_per_class=min_per_class)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: Any,
        threshold: float | str = "auto",
        sample_weight: Any = None,
        pos_label: Any = None,
        response_method: str | tuple[str, ...] = ("predict_proba", "decision_function"),
        min_per_class: int = 10,
        n_jobs: int | None = None,
    ) -> FairnessAudit:
        """Audit a fitted estimator.

        Parameters
        ----------
        estimator : estimator object
            A fitted binary classifier, or a pipeline or search that ends in one.
        X : array-like of shape (n_rows, n_features)
            Input of the estimator.
        y : array-like of shape (n_rows,)
            True labels.
        groups : str, list of str, or array-like of shape (n_rows,) or (n_rows, n_columns)
            Name or names of columns of X, or the labels themselves. A pandas Series is
            aligned with the index of X by label, if X has one.
        threshold : float or "auto", default="auto"
            Scores of `pos_label` at least as high are selected. "auto" takes 0.5 for
            ``predict_proba`` and 0 for ``decision_function``, as scikit-learn's classifiers
            do, or up to ties, with a warning if this one does not. Pass
            ``estimator.best_threshold_`` of a tuned one.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; ``estimator.classes_[1]`` if left out.
        response_method : str or tuple of str, default=("predict_proba", "decision_function")
            Methods of the estimator that give scores, the first that it has being used.
        min_per_class : int, default=10
            Groups with fewer positives or negatives are shown, but not compared.
        n_jobs : int, default=None
            Threads to count with, once there are scores; None means 1 unless in a
            `joblib.parallel_config` context, -1 all processors.

        Returns
        -------
        FairnessAudit

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; the message tells what to pass instead.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.linear_model import LogisticRegression
        >>> from skfedauc import FairnessAudit
        >>> X = pd.DataFrame({"age": [30, 60, 40, 70], "site": [1, 1, 2, 2]})
        >>> model = LogisticRegression().fit(X, [0, 1, 0, 1])
        >>> audit = FairnessAudit.from_estimator(model, X, [0, 1, 0, 1], groups="site")
        >>> audit.threshold
        0.5
        """
        report = GroupAUC.from_estimator(
            estimator,
            X,
            y,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
            response_method=response_method,
            undefined="ignore",
            n_jobs=n_jobs,
        )
        method = _sklearn.response_method_name(estimator, response_method)
        known = {"predict_proba": 0.5, "decision_function": 0.0}
        if threshold == "auto" and method in known:
            threshold = known[method]
            _check_decisions(estimator, X, method, known[method])
        audit = cls(report, threshold=threshold, min_per_class=min_per_class)
        _, is_other = _sklearn.positive_class(estimator, pos_label)
        if is_other and method == "predict_proba":
            # The report has the other class' probabilities with the sign changed.
            audit._below = 1.0
        return audit

    def of(self, columns: str | Sequence[str]) -> FairnessAudit:
        """The audit by one or some of several sensitive columns.

        Parameters
        ----------
        columns : str or list of str
            Names of columns that the groups come from; see `columns`.

        Returns
        -------
        FairnessAudit
            With the same threshold; groups that agree in these columns are one.

        Raises
        ------
        ValueError
            If there is no such column, or one is named twice; the message lists them.

        Examples
        --------
        >>> import pandas as pd
        >>> from skfedauc import FairnessAudit
        >>> people = pd.DataFrame({"sex": list("fmfm"), "band": [1, 1, 2, 2]})
        >>> scores = [0.1, 0.9, 0.8, 0.3]
        >>> audit = FairnessAudit.from_predictions([0, 1, 1, 0], scores, groups=people)
        >>> audit.of("sex").report.partial.groups
        ('f', 'm')
        """
        chosen = [columns] if isinstance(columns, str) else list(columns)
        if not chosen or not set(chosen) <= set(self.columns) or len(set(chosen)) < len(chosen):
            raise ValueError(
                f"columns must be one or some of {list(self.columns)}; got {columns!r}."
            )
        if chosen == list(self.columns):
            return self
        places = [self.columns.index(name) for name in chosen]

        def parts(label: tuple[Any, ...]) -> Any:
            return label[places[0]] if len(places) == 1 else tuple(label[i] for i in places)

        report = GroupAUC(
            self.report.partial.regroup(parts), undefined="ignore", group_names=chosen
        )
        audit = FairnessAudit(report, threshold=self.threshold, min_per_class=self.min_per_class)
        audit._below = self._below
        return audit

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the sensitive columns; "column 1" and so on where they have none."""
        names = self._index.names
        return tuple(
            f"column {i}" if name is None else str(name) for i, name in enumerate(names, start=1)
        )

    # The tables ----------------------------------------------------------------------------

    @functools.cached_property
    def by_group(self) -> pd.DataFrame:
        """One row per group: counts, ranking and decisions.

        A DataFrame with the columns `n_positives`, `n_negatives` and `is_small`; `auc` with the
        limits `ci_low` and `ci_high` of its 95 % interval, and `pvalue_adjusted` of the test that
        it equals the average of the other groups' AUCs, adjusted for the number of groups (see
        `GroupAUC.compare_groups`; NaN for small groups); `bpsn_auc`, `bnsp_auc`,
        `xauc_disparity`, `positive_aeg` and `negative_aeg` (see `GroupAUC.bias_by_group`), and
        `xauc_pvalue_adjusted` of the test that the disparity is 0, adjusted for the number of
        groups (Holm; NaN for small groups): small groups are compared with all others, the
        other groups with each other; `selection_rate`, `true_positive_rate` and
        `false_positive_rate` at the threshold.
        """
        is_compared = ~self._is_small
        intervals = self.report.confidence_intervals(LEVEL)
        table = pd.DataFrame(
            {
                "n_positives": self.report.partial.n_positives,
                "n_negatives": self.report.partial.n_negatives,
                "is_small": self._is_small,
                "auc": intervals["auc"].to_numpy(),
                "ci_low": intervals["ci_low"].to_numpy(),
                "ci_high": intervals["ci_high"].to_numpy(),
                "pvalue_adjusted": np.nan,
            },
            index=self._index,
        )
        with_rest = self.compared.compare_groups("rest", level=LEVEL)
        table.loc[is_compared, "pvalue_adjusted"] = with_rest["pvalue_adjusted"].to_numpy()
        bias = self.report.bias_by_group.drop(columns="auc")
        bias.loc[is_compared] = self.compared.bias_by_group.drop(columns="auc").to_numpy()
        bias.insert(3, "xauc_pvalue_adjusted", np.nan)
        bias.loc[is_compared, "xauc_pvalue_adjusted"] = self._cross_gaps.pvalue_adjusted
        for part in (bias, self._rates):
            table[part.columns] = part.to_numpy()
        return table

    @functools.cached_property
    def gaps(self) -> pd.DataFrame:
        """One row per gap between the groups that are not small.

        Columns: `value`; the limits `ci_low` and `ci_high` of its 95 % interval; `expected`, what
        chance alone would make of it on average if there were none; the `pvalue` of the test that
        there is none; and the groups that are `lowest` and `highest`. NaN where there is no such
        thing. Rows:

        ``difference``, ``ratio``, ``tau``: of the group AUCs, with the test that all are equal.

        ``xauc_disparity``: of the group with all others, where it is clearest: largest in standard
        errors, so that a tiny group does not hide a large one. `highest` is the group if the model
        favours it, `lowest` if it disfavours it. Limits and p value are adjusted for the number of
        groups (Bonferroni).

        ``cross_difference``: the largest xAUC disparity of two groups, up to 500 groups; without a
        test.

        ``abroca``: the largest area between the ROC curve of a group (`lowest` or `highest`, by its
        AUC) and that of all others, where that does not take long; `GroupAUC.abroca` tests it.

        ``demographic_parity_difference``, ``demographic_parity_ratio``,
        ``equalized_odds_difference``, ``equalized_odds_ratio``: fairlearn's, at the threshold, with
        the chi-squared test that all groups have the same rate; of the two rates of equalized odds,
        with the smaller p value twice. Groups are those of the rate that makes the gap. Of rows
        with weights, the effective number (Kish) is counted.
        """
        rows = {**self._auc_gaps(), **self._ranking_gaps(), **self._decision_gaps()}
        columns = ["value", "ci_low", "ci_high", "expected", "pvalue", "lowest", "highest"]
        # As objects, or else integers beside what is missing would become floats.
        cells = [[row.get(column, np.nan) for column in columns] for row in rows.values()]
        table = pd.DataFrame(cells, index=list(rows), columns=columns, dtype=object)
        return table.astype(dict.fromkeys(columns[:-2], np.float64)).rename_axis("gap")

    @functools.cached_property
    def metric_frame(self) -> MetricFrame:
        """Fairlearn's `MetricFrame` of the rates at the threshold, of all groups.

        Rows were counted before: its `overall`, `by_group`, `difference()` and `ratio()` are those
        of the rows, but groups without positives have no true positive rate, and those without
        negatives no false positive rate, where fairlearn's functions of these names say 0.
        """
        features = self._index.to_frame(index=False).set_axis(list(self.columns), axis=1)
        return decisions.metric_frame(self.report.partial, features, self.threshold - self._below)

    @functools.cached_property
    def compared(self) -> GroupAUC:
        """Report on the groups that are not small, the others left out."""
        report = GroupAUC(
            self.report.partial, undefined="ignore", group_names=self.report._group_names
        )
        return report.without_small_groups(self._least)

    @functools.cached_property
    def findings(self) -> tuple[str, ...]:
        """What the audit found, in sentences."""
        return findings(self)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the audit as one page, which needs no network.

        Parameters
        ----------
        path : str or os.PathLike
            File to write; one that exists is overwritten.

        Raises
        ------
        ImportError
            If jinja2 or matplotlib is absent; ``pip install "skfedauc[html]"`` brings both.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from skfedauc import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     audit.to_html(Path(folder) / "audit.html")
        """
        from skfedauc.fairness.page import page

        Path(path).write_text(page(self), encoding="utf-8", newline="\n")

    # What they are made of -------------------------------------------------------------------

    @property
    def _index(self) -> pd.Index:
        return self.report.by_group.index

    @functools.cached_property
    def _is_small(self) -> NDArray[np.bool_]:
        return ~self.report._has_per_class(self._least)

    @property
    def _least(self) -> int:
        return max(self.min_per_class, 1)

    @functools.cached_property
    def _rates(self) -> pd.DataFrame:
        rates = decisions.rates(self.report.partial, self.threshold - self._below)
        return pd.DataFrame(rates, index=self._index)

    @functools.cached_property
    def _cross_gaps(self) -> CrossGaps:
        """Of the groups that are not small, with each other."""
        disparity = self.compared.bias_by_group["xauc_disparity"].to_numpy()
        # The same numbers, to the last bit, as in the table
        return cross_gaps(self.compared.partial)._replace(disparity=disparity)

    def _extremes(self, of_group: NDArray[np.float64]) -> dict[str, Any]:
        """The groups that are lowest and highest, of those that are not small; none if equal."""
        values = np.where(self._is_small, np.nan, of_group)
        if np.isnan(values).all() or np.nanmin(values) == np.nanmax(values):
            return {}
        groups = self.report.partial.groups or ()
        return {
            "lowest": groups[int(np.nanargmin(values))],
            "highest": groups[int(np.nanargmax(values))],
        }

    def _auc_gaps(self) -> dict[str, dict[str, Any]]:
        compared = self.compared
        if compared.n_groups < 2:
            return {"difference": {}, "ratio": {}, "tau": {}}
        test = compared.test_equal_groups()
        interval = compared.confidence_intervals(LEVEL, of="statistics").loc["difference"]
        spread = compared.heterogeneity(LEVEL).loc["moments"]
        extremes = {"pvalue": test.pvalue, **self._extremes(self.report._auc)}
        return {
            "difference": {
                "value": compared.difference,
                "ci_low": interval["ci_low"],
                "ci_high": interval["ci_high"],
                "expected": compared.expected_difference,
                **extremes,
            },
            "ratio": {"value": compared.ratio, **extremes},
            "tau": {
                "value": spread["tau"],
                "ci_low": spread["ci_low"],
                "ci_high": spread["ci_high"],
                "pvalue": test.pvalue,
            },
        }

    def _ranking_gaps(self) -> dict[str, dict[str, Any]]:
        compared = self.compared
        if compared.n_groups < 2:
            return {"xauc_disparity": {}, "cross_difference": {}, "abroca": {}}
        groups, found = compared.partial.groups or (), self._cross_gaps
        # Where nothing can be tested the largest will do.
        errors = 1.0 if np.isnan(found.error).all() else found.error
        clearness = np.abs(found.disparity) / errors
        # Of two groups, whose disparities are the same but for the sign, the favoured one
        clearness *= np.where(found.disparity > 0, 1 + 1e-9, 1.0)
        clearest = int(np.nanargmax(clearness))
        low, high = found.limits(LEVEL)
        rows: dict[str, dict[str, Any]] = {
            "xauc_disparity": {
                "value": found.disparity[clearest],
                "ci_low": low[clearest],
                "ci_high": high[clearest],
                "pvalue": found.pvalue_adjusted[clearest],
            }
        }
        if found.disparity[clearest]:
            side = "highest" if found.disparity[clearest] > 0 else "lowest"
            rows["xauc_disparity"][side] = groups[clearest]
        if len(groups) <= MATRIX_GROUPS:
            matrix = compared._cross_auc
            high_group, low_group = np.unravel_index(np.argmax(matrix - matrix.T), matrix.shape)
            rows["cross_difference"] = {"value": compared.cross_difference}
            if compared.cross_difference > 0:
                extremes = {"lowest": groups[int(low_group)], "highest": groups[int(high_group)]}
                rows["cross_difference"] |= extremes
        if len(groups) * compared.partial._cells.scores.size <= _MOST_PASSED:
            table = compared.abroca()
            largest = int(np.nanargmax(table["abroca"]))
            is_better = table["auc"].iloc[largest] >= table["reference_auc"].iloc[largest]
            rows["abroca"] = {"value": table["abroca"].iloc[largest]}
            if rows["abroca"]["value"] > 0:
                rows["abroca"]["highest" if is_better else "lowest"] = groups[largest]
        return rows

    def _decision_gaps(self) -> dict[str, dict[str, Any]]:
        rates = self._rates[~self._is_small]
        if len(rates) < 2:
            names = ("demographic_parity", "equalized_odds")
            return {f"{name}_{kind}": {} for name in names for kind in ("difference", "ratio")}
        lowest, highest = rates.min(), rates.max()
        difference, ratio = highest - lowest, lowest / highest
        extremes = {name: self._extremes(self._rates[name].to_numpy()) for name in decisions.RATES}
        n_rows = decisions.effective_rows(self.compared.partial)
        pvalues = {
            name: decisions.test_equal_shares(rates[name].to_numpy(), n_rows[name])
            for name in decisions.RATES
        }
        selection, *odds = decisions.RATES
        expected = decisions.expected_difference(rates[selection].to_numpy(), n_rows[selection])
        of_selection = {"pvalue": pvalues[selection], **extremes[selection]}
        of_odds = {"pvalue": min(2.0 * min(pvalues[name] for name in odds), 1.0)}
        widest, smallest = str(difference[odds].idxmax()), str(ratio[odds].fillna(1.0).idxmin())
        return {
            "demographic_parity_difference": {
                "value": difference[selection],
                "expected": expected,
                **of_selection,
            },
            "demographic_parity_ratio": {"value": ratio[selection], **of_selection},
            "equalized_odds_difference": {
                "value": difference[widest],
                **of_odds,
                **extremes[widest],
            },
            "equalized_odds_ratio": {"value": ratio[odds].min(), **of_odds, **extremes[smallest]},
        }

    def __repr__(self) -> str:
        return "\n".join([self._headline(), *(f"- {finding}" for finding in self.findings)])

    def _headline(self) -> str:
        return (
            f"FairnessAudit of {validation.counted(self.report.n_groups, 'group')} by "
            f"{', '.join(self.columns)}, "
            f"decisions at the threshold {self.threshold:g}"
        )


def _check_decisions(estimator: Any, X: Any, method: str, threshold: float) -> None:
    """Tell of an estimator that does not decide by this threshold."""
    if not is_classifier(estimator):
        return
    selected = np.asarray(_sklearn.response_values(estimator, X, method)) >= threshold
    share = float(np.mean(selected != _sklearn.response_values(estimator, X, "predict")))
    if share > _MOST_DIFFERENT:
        validation.warn(
            f"predict differs from {method} >= {threshold:g} in {share:.1%} of the rows: the "
            "estimator decides by lot or at a threshold of its own, and the rates of this audit "
            "are not those of its decisions. Pass its threshold, or response_method='predict' to "
            "audit the decisions themselves.",
            UserWarning,
        )


def _check_threshold(threshold: Any, report: GroupAUC) -> float:
    if isinstance(threshold, str) and threshold == "auto":
        scores = report.partial._cells.scores
        if scores.size and (scores.min() < 0 or scores.max() > 1):
            raise ValueError(
                f"threshold='auto' is 0.5 for probabilities; the scores are from {scores.min():g} "
                f"to {scores.max():g}. Pass the score from which on rows are selected."
            )
        return 0.5
    if not validation.is_number(threshold) or not np.isfinite(threshold):
        raise ValueError(f"threshold must be 'auto' or a finite number; got {threshold!r}.")
    return float(threshold)
