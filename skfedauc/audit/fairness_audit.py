"""`FairnessAudit`: gaps between groups in ranking and in decisions, with tests."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier

from skfedauc import _input, _sklearn, _words
from skfedauc._output_file import check_target, write_whole
from skfedauc.audit import decisions as deciding
from skfedauc.audit.claims import Family, weighted_holm
from skfedauc.audit.findings import findings, named
from skfedauc.counts import ScoreCounts, left_out
from skfedauc.inference.cross_gap import CrossGaps, cross_gaps
from skfedauc.report import GroupAUC
from skfedauc.report.group_auc import MATRIX_GROUPS

if TYPE_CHECKING:
    import os

    from fairlearn.metrics import MetricFrame

    from skfedauc.inference.pairwise import DifferenceTest

# ABROCA is left out if it needs more than this number of visits of cells.
_MOST_PASSED = 10_000_000
LEVEL = 0.95
Favorable = Literal["positive", "negative"]
_SELECTION, *_ODDS = deciding.RATES


class FairnessAudit:
    """Fairness audit: gaps between groups in ranking and in decisions, with tests.

    The ranking is described by `GroupAUC`: group AUCs with intervals and tests, and the ranking of
    the groups' rows against each other. The decisions are described by fairlearn's rates of
    positive predictions. Scores and decisions are counted by group and class; these counts can be
    merged.

    Parameters
    ----------
    report : GroupAUC
        Report on the groups to audit. Groups that lack a class are small, whatever the value of
        `undefined` in the report.
    decisions : ScoreCounts, default=None
        Counts of decisions on the same rows: the scores are 1 where the positive class is
        predicted and 0 elsewhere. None makes decisions at the `threshold`.
    threshold : float, "auto" or None, default="auto"
        Rows with a score of at least the threshold are predicted positive. "auto" uses the
        `decisions` if they are given; otherwise it uses 0.5 if all scores are from 0 to 1, and no
        threshold if not. None uses no threshold: the audit covers the ranking only.
    min_per_class : int, default=10
        Least number of rows for a comparison. A selection rate needs this number of rows, a true
        positive rate this number of positives, a false positive rate this number of negatives,
        and an AUC this number of both classes. Groups with fewer are small: they are shown, but
        not compared.
    reference : "rest" or a group's label, default="rest"
        The AUC of each group is compared with the AUCs of the other groups ("rest") or with the
        AUC of one group; see `GroupAUC.compare_groups`. If a group is called "rest", pass its
        label in a list.
    favorable : {"positive", "negative"} or None, default=None
        The class that is the favorable outcome for a person: "positive" for the approval of a
        loan, "negative" for a default or a relapse. With None, findings say that the model scores
        a group higher or lower, not that it favors or disfavors the group.

    Attributes
    ----------
    report : GroupAUC
        Report on all groups.
    compared : GroupAUC
        Report on the groups with `min_per_class` rows of each class.
    decisions : ScoreCounts or None
        Counts of decisions by group and class; None if only the ranking is audited.
    threshold : float or None
        Threshold of the decisions; None if the decisions were given, or if there are none.
    min_per_class : int
    reference : object
    favorable : str or None

    Raises
    ------
    TypeError
        If `report` is not a GroupAUC, or `decisions` is not a ScoreCounts.
    ValueError
        If the report has no groups or is about several folds; if `decisions` do not match the rows
        of the report; if both decisions and a threshold are given; if the reference is not a group
        or is a small group; or if another argument is not as described.

    See Also
    --------
    GroupAUC : The ranking alone.
    MitigatedClassifier : A binary classifier with a fairlearn mitigator.

    Examples
    --------
    >>> from skfedauc import FairnessAudit
    >>> from skfedauc.datasets import make_group_scores
    >>> people = make_group_scores("different", 400, 600, shifts=(0, 1), random_state=0)
    >>> audit = FairnessAudit.from_predictions(
    ...     people.y_true, people.y_score, groups=people.groups, threshold=0.5
    ... )
    >>> audit.by_group[["auc", "xauc_disparity", "selection_rate"]].round(2)
               auc  xauc_disparity  selection_rate
    group
    device 1  0.75           -0.41            0.45
    device 2  0.74            0.41            0.78
    >>> bool(audit.gaps.loc["difference", "pvalue"] > 0.05)
    True
    """

    def __init__(
        self,
        report: GroupAUC,
        *,
        decisions: ScoreCounts | None = None,
        threshold: float | Literal["auto"] | None = "auto",
        min_per_class: int = 10,
        reference: Any = "rest",
        favorable: Favorable | None = None,
    ) -> None:
        if not isinstance(report, GroupAUC):
            raise TypeError(
                f"FairnessAudit reads a GroupAUC; got {type(report).__name__}. Use "
                "FairnessAudit.from_predictions(y_true, y_score, groups=...) for rows, and "
                "FairnessAudit(GroupAUC(counts, undefined='ignore')) for a ScoreCounts."
            )
        if report.counts.groups is None:
            raise ValueError("an audit needs groups; the report has none.")
        if report.n_groups == 0:
            raise ValueError("an audit needs rows; the report has none.")
        if type(report) is not GroupAUC:
            raise ValueError(
                "an audit compares all rows with each other, and this report does not: it compares "
                "rows within folds, or counts rows several times. Pass the report of one fold "
                "(folds[0]), or predictions."
            )
        self.report = report
        self.min_per_class = _input.check_whole_number(min_per_class, "min_per_class", 0)
        self.favorable = _check_favorable(favorable)
        self.reference = reference
        self._reference = self._check_reference(reference)
        self.threshold = _check_threshold(threshold)
        if decisions is not None:
            if threshold != "auto":
                raise ValueError("pass either decisions or a threshold, not both.")
            decisions = deciding.check_decisions(decisions, report.counts)
        elif threshold == "auto" and _are_probabilities(report.counts):
            self.threshold = 0.5
        if self.threshold is not None:
            decisions = deciding.at_threshold(report.counts, self.threshold)
        self.decisions = decisions
        # Findings do not explain missing decisions if the user asked for the ranking alone.
        self._ranking_was_chosen = threshold is None

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any,
        y_pred: Any = None,
        threshold: float | Literal["auto"] | None = "auto",
        sample_weight: Any = None,
        pos_label: Any = None,
        min_per_class: int = 10,
        reference: Any = "rest",
        favorable: Favorable | None = None,
        missing: _input.Missing = "raise",
        n_jobs: int | None = None,
    ) -> FairnessAudit:
        """Audit predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_score : array-like of shape (n_rows,)
            Finite scores; higher scores mean the positive class.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns)
            Sensitive features; with several columns each combination is a group.
        y_pred : array-like of shape (n_rows,), default=None
            Predicted labels. Pass them if decisions do not follow from one threshold for all
            rows, such as the decisions of a randomized classifier or of thresholds by group. AUCs
            are computed from `y_score`.
        threshold : float, "auto" or None, default="auto"
            Rows with a score of at least the threshold are predicted positive. None audits the
            ranking alone; see the class. Leave it out if you pass `y_pred`.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        min_per_class : int, default=10
            Least number of rows, positives or negatives for a comparison; groups with fewer are
            shown, but not compared; see the class.
        reference : "rest" or a group's label, default="rest"
            Reference that the AUC of each group is compared with; see the class.
        favorable : {"positive", "negative"} or None, default=None
            The class that is the favorable outcome; see the class.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        n_jobs : int, default=None
            Threads to use; None means 1 unless in a `joblib.parallel_config` context, -1 all
            processors.

        Returns
        -------
        FairnessAudit

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described. The message says what to pass instead.

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
            missing=missing,
            n_jobs=n_jobs,
        )
        decisions = None
        if y_pred is not None:
            _input.check_row_order(
                {
                    "y_true": y_true,
                    "y_score": y_score,
                    "y_pred": y_pred,
                    "groups": groups,
                    "sample_weight": sample_weight,
                }
            )
            rows = _input.check_rows(
                y_true,
                deciding.predicted_positive(y_pred, y_true, pos_label),
                groups,
                sample_weight,
                pos_label,
                name="y_pred",
                missing=missing,
                warn_labels=False,
            )
            decisions = ScoreCounts.of_rows(rows, n_jobs)
        return cls(
            report,
            decisions=decisions,
            threshold=threshold,
            min_per_class=min_per_class,
            reference=reference,
            favorable=favorable,
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: Any,
        threshold: float | Literal["auto"] | None = "auto",
        sample_weight: Any = None,
        pos_label: Any = None,
        response_method: str | tuple[str, ...] = ("predict_proba", "decision_function"),
        min_per_class: int = 10,
        reference: Any = "rest",
        favorable: Favorable | None = None,
        missing: _input.Missing = "raise",
        n_jobs: int | None = None,
    ) -> FairnessAudit:
        """Audit a fitted estimator: the AUCs of its scores and the rates of its decisions.

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
        threshold : float, "auto" or None, default="auto"
            "auto" uses the decisions of ``estimator.predict``, which is called once; this covers
            tuned thresholds and randomized classifiers. With a number, rows with a score of at
            least the number are predicted positive, whatever the estimator predicts. None audits
            the ranking alone. If the estimator is not a classifier, "auto" is as in the class.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; ``estimator.classes_[1]`` if left out.
        response_method : str or tuple of str, default=("predict_proba", "decision_function")
            Methods of the estimator that return scores; the first available one is used.
        min_per_class : int, default=10
            Least number of rows, positives or negatives for a comparison; groups with fewer are
            shown, but not compared; see the class.
        reference : "rest" or a group's label, default="rest"
            Reference that the AUC of each group is compared with; see the class.
        favorable : {"positive", "negative"} or None, default=None
            The class that is the favorable outcome; see the class.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        n_jobs : int, default=None
            Threads for counting the scores; None means 1 unless in a
            `joblib.parallel_config` context, -1 all processors.

        Returns
        -------
        FairnessAudit

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described. The message says what to pass instead.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.linear_model import LogisticRegression
        >>> from skfedauc import FairnessAudit
        >>> X = pd.DataFrame({"age": [30, 60, 40, 70], "site": [1, 1, 2, 2]})
        >>> model = LogisticRegression().fit(X, [0, 1, 0, 1])
        >>> audit = FairnessAudit.from_estimator(model, X, [0, 1, 0, 1], groups="site")
        >>> audit.by_group["selection_rate"].to_dict()
        {1: 0.5, 2: 0.5}
        """

        def counted(method: str | tuple[str, ...]) -> GroupAUC:
            return GroupAUC.from_estimator(
                estimator,
                X,
                y,
                groups=groups,
                sample_weight=sample_weight,
                pos_label=pos_label,
                response_method=method,
                undefined="ignore",
                missing=missing,
                n_jobs=n_jobs,
            )

        report, decisions = counted(response_method), None
        _, is_other = _sklearn.positive_class(estimator, pos_label)
        if isinstance(threshold, str) and threshold == "auto" and is_classifier(estimator):
            # The report on the other class has -1 for the default class and 0 for itself.
            predicted = counted("predict").counts
            decisions = deciding.at_threshold(predicted, 0.0 if is_other else 0.5)
        number = _check_threshold(threshold)
        method = _sklearn.response_method_name(estimator, response_method)
        if number is not None and is_other and method in ("predict_proba", "predict"):
            # The report has minus the probabilities, or minus the decisions, of the default class.
            decisions = deciding.at_threshold(report.counts, number - 1.0)
        audit = cls(
            report,
            decisions=decisions,
            threshold=threshold if decisions is None else "auto",
            min_per_class=min_per_class,
            reference=reference,
            favorable=favorable,
        )
        audit.threshold = number if number is not None else audit.threshold
        return audit

    def of(self, columns: str | Sequence[str]) -> FairnessAudit:
        """Return the audit by one or some of several sensitive columns.

        Parameters
        ----------
        columns : str or list of str
            Names of columns that the groups come from; see `columns`.

        Returns
        -------
        FairnessAudit
            Audit of the same decisions, in which groups with the same labels in these columns are
            merged. P values of the audits by one column and of the audit by all columns are
            adjusted together.

        Raises
        ------
        ValueError
            If there is no such column, or a column is named twice. The message lists the columns.

        Examples
        --------
        >>> import pandas as pd
        >>> from skfedauc import FairnessAudit
        >>> people = pd.DataFrame({"sex": list("fmfm"), "band": [1, 1, 2, 2]})
        >>> scores = [0.1, 0.9, 0.8, 0.3]
        >>> audit = FairnessAudit.from_predictions([0, 1, 1, 0], scores, groups=people)
        >>> audit.of("sex").report.counts.groups
        ('f', 'm')
        """
        chosen = [columns] if isinstance(columns, str) else list(columns)
        if not chosen or not set(chosen) <= set(self.columns) or len(set(chosen)) < len(chosen):
            raise ValueError(
                f"columns must be one or some of [{_words.all_shortened(self.columns)}]; got "
                f"{_words.shortened(columns)}."
            )
        if chosen == list(self.columns):
            return self
        if len(chosen) == 1:
            return next(a for a in self._family.audits if list(a.columns) == chosen)
        return self._regrouped(chosen)

    def _regrouped(self, chosen: list[str]) -> FairnessAudit:
        places = [self.columns.index(name) for name in chosen]

        def parts(label: tuple[Any, ...]) -> Any:
            return label[places[0]] if len(places) == 1 else tuple(label[i] for i in places)

        report = GroupAUC(self.report.counts.regroup(parts), undefined="ignore", group_names=chosen)
        reference = "rest" if self._reference is None else [parts(self._reference)]
        audit = FairnessAudit(
            report,
            decisions=None if self.decisions is None else self.decisions.regroup(parts),
            threshold=None if self.decisions is None else "auto",
            min_per_class=self.min_per_class,
            reference=reference,
            favorable=self.favorable,
        )
        audit.threshold, audit._ranking_was_chosen = self.threshold, self._ranking_was_chosen
        return audit

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the sensitive columns; "column 1" and so on if they have no names."""
        names = self._index.names
        return tuple(
            f"column {i}" if name is None else str(name) for i, name in enumerate(names, start=1)
        )

    # The tables ----------------------------------------------------------------------------

    @functools.cached_property
    def by_group(self) -> pd.DataFrame:
        """Table of the groups: counts, AUCs, ranking between groups, and rates of decisions.

        A DataFrame with one row per group and these columns:

        ``n_positives``, ``n_negatives`` and ``is_small``: whether the group has too few positives
        or negatives for its AUC to be compared; see `left_out` for the rates.

        ``auc``, with the limits ``ci_low`` and ``ci_high`` of its 95 % interval; the
        ``reference_auc`` that the AUC is compared with (see `GroupAUC.compare_groups`); and the
        ``pvalue`` of the null hypothesis that the two are equal.

        ``bpsn_auc``, ``bnsp_auc``, ``xauc_disparity``, ``positive_aeg`` and ``negative_aeg`` (see
        `GroupAUC.bias_by_group`), and the ``xauc_pvalue`` of the null hypothesis that the disparity
        is 0. A small group is compared with all other groups; the groups that are not small are
        compared with each other.

        ``selection_rate``, ``true_positive_rate`` and ``false_positive_rate`` of the decisions.

        ``pvalue_adjusted`` and ``xauc_pvalue_adjusted`` are adjusted for all claims of the audit
        (see `n_claims`). Undefined values and p values without a test are NaN.
        """
        is_compared = ~self._is_small
        intervals = self.report.confidence_intervals(LEVEL)
        table = pd.DataFrame(
            {
                "n_positives": self.report.counts.n_positives,
                "n_negatives": self.report.counts.n_negatives,
                "is_small": self._is_small,
                "auc": intervals["auc"].to_numpy(),
                "ci_low": intervals["ci_low"].to_numpy(),
                "ci_high": intervals["ci_high"].to_numpy(),
            },
            index=self._index,
        )
        with_reference = self._with_reference
        of_claims = self._family.adjusted(self)
        of_groups = of_claims["difference" if self.compared.n_groups == 2 else "group_auc"]
        own_pvalue = with_reference["pvalue"].to_numpy()
        if self.compared.n_groups == 2:
            # Both rows have the p value of the one comparison.
            own_pvalue = np.repeat(self._pvalues["difference"], 2)
            if self._reference is not None:
                own_pvalue[with_reference["pvalue"].isna()] = np.nan
        bias = self.report.bias_by_group.drop(columns="auc")
        bias.loc[is_compared] = self.compared.bias_by_group.drop(columns="auc").to_numpy()
        for name, values in (
            ("reference_auc", with_reference["reference_auc"].to_numpy()),
            ("pvalue", own_pvalue),
            ("pvalue_adjusted", np.where(np.isnan(own_pvalue), np.nan, of_groups)),
            *((column, bias[column].to_numpy()) for column in bias.columns[:3]),
            ("xauc_pvalue", self._cross_gaps.pvalue),
            ("xauc_pvalue_adjusted", of_claims["cross_ranking"]),
            *((column, bias[column].to_numpy()) for column in bias.columns[3:]),
            *((rate, self._rates[rate].to_numpy()) for rate in deciding.RATES),
        ):
            if len(values) == len(table):
                table[name] = values
            else:
                table[name] = np.nan
                table.loc[is_compared, name] = np.broadcast_to(values, int(is_compared.sum()))
        return table

    @functools.cached_property
    def gaps(self) -> pd.DataFrame:
        """Table of the gaps between the groups that are not small.

        A DataFrame with one row per gap. Columns: `value`; the limits `ci_low` and `ci_high` of its
        95 % interval; `expected`, the mean of the gap if all groups were equal; the `pvalue` of the
        null hypothesis of no gap; `pvalue_adjusted`, adjusted for all claims of the audit (see
        `n_claims`); the groups that are `lowest` and `highest`; and the `rate` that defines an
        equalized odds gap. Undefined values are NaN. Rows:

        ``difference``, ``ratio``: gaps of the group AUCs, with the test of the largest difference
        (see `GroupAUC.test_difference`). Interval and p value come from the same comparison of all
        pairs.

        ``tau``: the standard deviation of the true AUCs, without a test. `findings` report the test
        that all true AUCs are equal; its statistic differs from the statistic of the interval.

        ``xauc_disparity``: the disparity between a group and all others that is largest in standard
        errors. Dividing by the standard error keeps tiny groups from hiding large ones. `highest`
        is the group if the model scores it higher than the others, `lowest` if lower. Limits
        (Bonferroni) and p value (Holm) are adjusted for the number of groups.

        ``cross_difference``: the largest xAUC disparity of two groups, up to 500 groups; without a
        test.

        ``abroca``: the largest area between the ROC curve of a group (`lowest` or `highest`, by its
        AUC) and the ROC curve of all others. It is left out if it takes long. `GroupAUC.abroca`
        tests it.

        ``demographic_parity_difference``, ``demographic_parity_ratio``,
        ``true_positive_rate_difference``, ``false_positive_rate_difference``,
        ``equalized_odds_difference``, ``equalized_odds_ratio``: gaps of the decisions as fairlearn
        defines them, with the chi-squared test that all groups have the same rate. The equalized
        odds gap is the larger of the gaps of true and of false positive rates. `rate` names the
        rate with this gap; groups and p value belong to it, and the p value is adjusted for the
        two rates (Holm). Only groups with enough rows for the rate are compared; see `left_out`.
        With weights, the tests count effective sample sizes (Kish).
        """
        rows = {**self._auc_gaps(), **self._ranking_gaps(), **self._decision_gaps()}
        numbers = ["value", "ci_low", "ci_high", "expected", "pvalue", "pvalue_adjusted"]
        columns = [*numbers, "lowest", "highest", "rate"]
        # Objects, because integers beside missing values would become floats
        cells = [[row.get(column, np.nan) for column in columns] for row in rows.values()]
        table = pd.DataFrame(cells, index=list(rows), columns=columns, dtype=object)
        return table.astype(dict.fromkeys(numbers, np.float64)).rename_axis("gap")

    @functools.cached_property
    def left_out(self) -> dict[str, tuple[Any, ...]]:
        """Groups with too few rows to be compared, for the AUC and for each rate.

        The keys are "auc", "selection_rate", "true_positive_rate" and "false_positive_rate".
        """
        groups = self.report.counts.groups or ()
        too_few = {"auc": self._is_small} | {
            rate: ~has_enough for rate, has_enough in self._has_enough.items()
        }
        return {
            name: tuple(groups[g] for g in np.flatnonzero(small)) for name, small in too_few.items()
        }

    @property
    def n_claims(self) -> int:
        """Number of tested claims, for which p values are adjusted.

        An audit by several columns includes the claims of the audits by each column alone. P values
        are adjusted by Holm's method [1]_ with weights: all groupings have equal weight, within a
        grouping all questions (the largest difference of AUCs, the equality of all AUCs, the AUC of
        each group, the xAUC disparities, and the three rates), and within a question all groups. At
        most 5 % of audits of groups without any gap make a claim.

        References
        ----------
        .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure.
           Scandinavian Journal of Statistics 6(2).
        """
        return self._family.n_claims

    @functools.cached_property
    def quality(self) -> pd.DataFrame:
        """AUC of the model overall, within groups, and in the worst group.

        A DataFrame with the rows ``pooled``, the AUC of all rows together; ``within``, the average
        of the group AUCs weighted by numbers of pairs; and ``worst``, the smallest AUC of the
        groups that are not small. Columns: `auc`; the limits `ci_low` and `ci_high` of its 95 %
        interval for fixed groups; and `group`, the label of the worst group.
        """
        columns = ["value", "ci_low", "ci_high"]
        table = self._everyone.confidence_intervals(LEVEL, of="statistics", over="rows")
        found, compared = table.loc[["pooled", "within"], columns], self.compared
        if compared is not self._everyone:
            table = compared.confidence_intervals(LEVEL, of="statistics", over="rows")
        found.loc["worst"] = table.loc["worst", columns]
        found = found.astype(np.float64).set_axis(["auc", "ci_low", "ci_high"], axis=1)
        found = found.set_axis(["pooled", "within", "worst"], axis=0)
        lowest: Any = np.nan
        if compared.n_groups:
            lowest = (compared.counts.groups or ())[int(np.nanargmin(compared._auc))]
        return found.assign(group=pd.Series({"worst": lowest}, dtype=object))

    @functools.cached_property
    def reversed_groups(self) -> tuple[Any, ...]:
        """Groups whose AUC is significantly below 0.5, the lowest first.

        The upper limits of the simultaneous 95 % intervals (Bonferroni) of these groups are below
        0.5. Small groups are left out.
        """
        compared = self.compared
        n_groups = max(compared.n_groups, 1)
        limits = compared.confidence_intervals(1.0 - (1.0 - LEVEL) / n_groups)
        is_reversed = np.flatnonzero(limits["ci_high"].to_numpy() < 0.5)
        order = is_reversed[np.argsort(compared._auc[is_reversed], kind="stable")]
        return tuple((compared.counts.groups or ())[g] for g in order)

    @functools.cached_property
    def metric_frame(self) -> MetricFrame:
        """Fairlearn's `MetricFrame` of the decision rates of all groups.

        It is computed from counts. `overall`, `by_group`, `difference()` and `ratio()` equal those
        of a frame computed from rows, with one exception: the true positive rate of a group without
        positives and the false positive rate of a group without negatives are undefined, while
        fairlearn's functions return 0. Raises a ValueError if only the ranking is audited.
        """
        if self.decisions is None:
            raise ValueError(
                "there are no decisions to make a MetricFrame of; pass threshold= or y_pred=."
            )
        features = self._index.to_frame(index=False).set_axis(list(self.columns), axis=1)
        return deciding.metric_frame(self.decisions, features)

    @functools.cached_property
    def compared(self) -> GroupAUC:
        """Report on the groups with `min_per_class` rows of each class."""
        if not self._is_small.any():
            return self._everyone
        return self._everyone.without_small_groups(self._least)

    @functools.cached_property
    def findings(self) -> tuple[str, ...]:
        """Findings of the audit as sentences."""
        return findings(self)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the audit to a self-contained HTML page.

        Parameters
        ----------
        path : str or os.PathLike
            File to write. An existing file is replaced once the page is complete.

        Raises
        ------
        ImportError
            If jinja2 or matplotlib is missing; ``pip install "skfedauc[html]"`` installs both.
        OSError
            If the file cannot be written; an existing file is then left unchanged.

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
        from skfedauc.audit.page import page

        check_target(path)
        write_whole(path, page(self))

    # Parts of the tables ---------------------------------------------------------------------

    @functools.cached_property
    def _everyone(self) -> GroupAUC:
        """Report on all groups, without warnings and without substitutes for undefined AUCs."""
        if self.report.undefined == "ignore":
            return self.report
        names = self.report._group_names
        return GroupAUC(self.report.counts, undefined="ignore", group_names=names)

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
    def _family(self) -> Family:
        """Audits by each column alone and by all columns, whose claims are adjusted together."""
        alone = [self._regrouped([name]) for name in self.columns] if len(self.columns) > 1 else []
        return Family.joined([*alone, self])

    @functools.cached_property
    def _rates(self) -> pd.DataFrame:
        if self.decisions is None:
            return pd.DataFrame(np.nan, index=self._index, columns=list(deciding.RATES))
        return pd.DataFrame(deciding.rates(self.decisions), index=self._index)

    @functools.cached_property
    def _has_enough(self) -> dict[str, NDArray[np.bool_]]:
        """By rate, whether each group has enough rows in the rate's denominator."""
        n_rows = deciding.n_rows_of_rates(self.report.counts)
        return {rate: n >= self._least for rate, n in n_rows.items()}

    @functools.cached_property
    def _with_reference(self) -> pd.DataFrame:
        """Comparisons of the groups that are not small with the reference, in their order."""
        compared = self.compared
        if self._reference is None:
            return compared.compare_groups("rest", confidence_level=LEVEL)
        table = compared.compare_groups([self._reference], confidence_level=LEVEL)
        # The reference group is not compared with itself.
        number = (compared.counts.groups or ()).index(self._reference)
        rows = np.insert(np.arange(len(table)), number, -1)
        padded = table.reset_index(drop=True).reindex(rows)
        padded["reference_auc"] = compared._auc[number]
        return padded

    @functools.cached_property
    def _pvalues(self) -> dict[str, NDArray[np.float64]]:
        """P values of the claims that findings can make, by question."""
        compared, none = self.compared, np.full(1, np.nan)
        pvalues = {"difference": none, "equal_aucs": none, "group_auc": none}
        pvalues["cross_ranking"] = self._cross_gaps.pvalue
        if compared.n_groups == 2:
            pvalues["difference"] = np.array([self._largest_difference.pvalue])
            pvalues["cross_ranking"] = pvalues["cross_ranking"][:1]
        elif compared.n_groups > 2:
            pvalues["difference"] = np.array([self._largest_difference.pvalue])
            pvalues["equal_aucs"] = np.array([compared.test_equal_groups().pvalue])
            pvalues["group_auc"] = self._with_reference["pvalue"].to_numpy()
        for rate in deciding.RATES:
            pvalues[rate] = np.array([self._rate_gaps[rate].get("pvalue", np.nan)])
        return pvalues

    @functools.cached_property
    def _cross_gaps(self) -> CrossGaps:
        """XAUC disparities between the groups that are not small."""
        disparity = self.compared.bias_by_group["xauc_disparity"].to_numpy()
        # Bitwise the same numbers as in the table
        return cross_gaps(self.compared.counts)._replace(disparity=disparity)

    def _extremes(
        self, of_group: NDArray[np.float64], is_compared: NDArray[np.bool_]
    ) -> dict[str, Any]:
        """Lowest and highest of the compared groups; empty if all are equal."""
        values = np.where(is_compared, of_group, np.nan)
        if np.isnan(values).all() or np.nanmin(values) == np.nanmax(values):
            return {}
        groups = self.report.counts.groups or ()
        return {
            "lowest": groups[int(np.nanargmin(values))],
            "highest": groups[int(np.nanargmax(values))],
        }

    @functools.cached_property
    def _largest_difference(self) -> DifferenceTest:
        """Test of the largest difference of AUCs, from the comparison of all pairs of groups."""
        return self.compared.test_difference(confidence_level=LEVEL)

    def _auc_gaps(self) -> dict[str, dict[str, Any]]:
        compared = self.compared
        if compared.n_groups < 2:
            return {"difference": {}, "ratio": {}, "tau": {}}
        test, adjusted = self._largest_difference, self._family.adjusted(self)
        spread = compared.heterogeneity(LEVEL).loc["reml"]
        tested = {"pvalue": test.pvalue, "pvalue_adjusted": adjusted["difference"][0]}
        extremes = self._extremes(self.report._auc, ~self._is_small)
        return {
            "difference": {
                "value": compared.difference,
                "expected": compared.null_difference,
                "ci_low": test.ci_low,
                "ci_high": test.ci_high,
                **tested,
                **extremes,
            },
            "ratio": {"value": compared.ratio, **tested, **extremes},
            "tau": {
                "value": spread["tau"],
                "ci_low": spread["ci_low"],
                "ci_high": spread["ci_high"],
            },
        }

    def _ranking_gaps(self) -> dict[str, dict[str, Any]]:
        compared = self.compared
        if compared.n_groups < 2:
            return {"xauc_disparity": {}, "cross_difference": {}, "abroca": {}}
        groups, found = compared.counts.groups or (), self._cross_gaps
        # Without any standard error, take the largest disparity.
        errors = 1.0 if np.isnan(found.error).all() else found.error
        clearness = np.abs(found.disparity) / errors
        # The disparities of two groups differ in sign only: take the group that is scored higher.
        clearness *= np.where(found.disparity > 0, 1 + 1e-9, 1.0)
        clearest = int(np.nanargmax(clearness))
        low, high = found.limits(LEVEL)
        of_claims = self._family.adjusted(self)["cross_ranking"]
        rows: dict[str, dict[str, Any]] = {
            "xauc_disparity": {
                "value": found.disparity[clearest],
                "ci_low": low[clearest],
                "ci_high": high[clearest],
                "pvalue": found.pvalue_adjusted[clearest],
                # Two groups make one claim.
                "pvalue_adjusted": of_claims[min(clearest, of_claims.size - 1)],
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
        if len(groups) * compared.counts.cells.scores.size <= _MOST_PASSED:
            table = compared.abroca()
            largest = int(np.nanargmax(table["abroca"]))
            is_better = table["auc"].iloc[largest] >= table["reference_auc"].iloc[largest]
            rows["abroca"] = {"value": table["abroca"].iloc[largest]}
            if rows["abroca"]["value"] > 0:
                rows["abroca"]["highest" if is_better else "lowest"] = groups[largest]
        return rows

    @functools.cached_property
    def _rate_gaps(self) -> dict[str, dict[str, Any]]:
        """Gap of each rate between the groups with enough rows; empty with fewer than two."""
        gaps: dict[str, dict[str, Any]] = {rate: {} for rate in deciding.RATES}
        if self.decisions is None:
            return gaps
        n_rows = deciding.effective_rows(self.decisions)
        for rate, has_enough in self._has_enough.items():
            if has_enough.sum() < 2:
                continue
            values = self._rates[rate].to_numpy()
            shares, n_of_rate = values[has_enough], n_rows[rate][has_enough]
            low, high = float(shares.min()), float(shares.max())
            gaps[rate] = {
                "value": high - low,
                "ratio": low / high if high > 0 else np.nan,
                "expected": deciding.null_difference(shares, n_of_rate),
                "pvalue": deciding.test_equal_shares(shares, n_of_rate),
                **self._extremes(values, has_enough),
            }
        return gaps

    def _decision_gaps(self) -> dict[str, dict[str, Any]]:
        adjusted = self._family.adjusted(self)
        found = {
            rate: gap | {"pvalue_adjusted": adjusted[rate][0], "rate": rate}
            for rate, gap in self._rate_gaps.items()
            if gap
        }
        rows: dict[str, dict[str, Any]] = {}
        for name, rates in (("demographic_parity", [_SELECTION]), ("equalized_odds", _ODDS)):
            of_rates = [found[rate] for rate in rates if rate in found]
            if rates == _ODDS:
                for rate in rates:
                    own = found.get(rate, {})
                    rows[f"{rate}_difference"] = {k: v for k, v in own.items() if k != "rate"}
                # Adjust for the choice of one of two rates; the family adjusts for all claims.
                raw = np.array([gap["pvalue"] for gap in of_rates])
                of_two = weighted_holm(raw, np.ones(raw.size)).tolist()
                of_rates = [
                    gap | {"pvalue": min(pvalue, gap["pvalue_adjusted"])}  # unless rounding differs
                    for gap, pvalue in zip(of_rates, of_two, strict=True)
                ]
            else:
                of_rates = [{k: v for k, v in g.items() if k != "rate"} for g in of_rates]
            widest = max(of_rates, key=lambda gap: gap["value"], default={})
            # The ratio is undefined if no row is selected.
            defined = [gap for gap in of_rates if gap["ratio"] == gap["ratio"]] or of_rates
            smallest = min(defined, key=lambda gap: gap["ratio"], default={})
            rows[f"{name}_difference"] = widest
            rows[f"{name}_ratio"] = smallest | (
                {"value": smallest["ratio"], "expected": np.nan} if smallest else {}
            )
        return rows

    def _check_reference(self, reference: Any) -> Any:
        """Return the label of the reference group; None for the rest."""
        if isinstance(reference, str) and reference == "rest":
            return None
        label = reference[0] if isinstance(reference, list) and len(reference) == 1 else reference
        groups, label = self.report.counts.groups or (), _input.as_label(label)
        if label not in groups:
            raise ValueError(
                "reference must be 'rest' or a group's label; got "
                f"{_words.shortened(reference)}, and the groups "
                f"are {', '.join(map(named, groups[:5]))}{', ...' * (len(groups) > 5)}."
            )
        place = groups.index(label)
        if self._is_small[place]:
            counts = self.report.counts
            raise ValueError(
                f"the reference group {named(label)} is too small to be compared with: it has "
                f"{_words.counted(int(counts.n_positives[place]), 'positive')} and "
                f"{_words.counted(int(counts.n_negatives[place]), 'negative')}, and "
                f"min_per_class is {self.min_per_class}. Pass another one, or a smaller "
                "min_per_class."
            )
        return groups[place]

    def __repr__(self) -> str:
        return "\n".join([self._headline(), *(f"- {finding}" for finding in self.findings)])

    def _headline(self) -> str:
        return (
            f"FairnessAudit of {_words.counted(self.report.n_groups, 'group')} by "
            f"{', '.join(self.columns)}, {self._decided}{left_out(self.report.n_missing)}"
        )

    @property
    def _decided(self) -> str:
        """Description of the decisions."""
        if self.decisions is None:
            return "ranking only"
        if self.threshold is None:
            return "decisions of the model"
        return f"decisions at the threshold {self.threshold:g}"


def _are_probabilities(counts: ScoreCounts) -> bool:
    """Whether all scores are from 0 to 1."""
    scores = counts.cells.scores
    return not scores.size or bool(scores.min() >= 0 and scores.max() <= 1)


def _check_favorable(favorable: Any) -> Favorable | None:
    if favorable is None or (isinstance(favorable, str) and favorable in ("positive", "negative")):
        return favorable  # type: ignore[return-value]
    raise ValueError(
        f"favorable must be 'positive', 'negative' or None; got {_words.shortened(favorable)}."
    )


def _check_threshold(threshold: Any) -> float | None:
    """Return the threshold as a float, or None if it is not a number."""
    if threshold is None or (isinstance(threshold, str) and threshold == "auto"):
        return None
    if not _input.is_number(threshold) or not np.isfinite(threshold):
        raise ValueError(
            f"threshold must be 'auto', None or a finite number; got {_words.shortened(threshold)}."
        )
    return float(threshold)
