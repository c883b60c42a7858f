"""`FairnessAudit`: gaps between groups in ranking and in decisions, with tests."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from skfedauc import _input, _sklearn, _words
from skfedauc._output_file import check_target, write_whole
from skfedauc.audit import arguments, counting, tables
from skfedauc.audit import decisions as deciding
from skfedauc.audit import tolerances as tolerating
from skfedauc.audit.card import card_of
from skfedauc.audit.claims import Claims
from skfedauc.audit.document import as_json, document_of, plain_rows, text_or_file
from skfedauc.audit.facts import NAMES, date_of_now, facts_of
from skfedauc.audit.findings import findings
from skfedauc.audit.gaps import GroupComparison, claims_of
from skfedauc.audit.intersections import intersections
from skfedauc.audit.names import named_in
from skfedauc.audit.rates import RateMethod
from skfedauc.audit.summary import headline, summary
from skfedauc.audit.tables import AuditTables, Favorable
from skfedauc.counts import ScoreCounts
from skfedauc.report import GroupAUC, estimates_of, listed
from skfedauc.report.threshold_sweep import ThresholdSweep, threshold_sweep

if TYPE_CHECKING:
    import os

    from fairlearn.metrics import MetricFrame


class FairnessAudit:
    """Fairness audit: gaps between groups in ranking and in decisions, with tests.

    The audit of the ranking uses `GroupAUC`: group AUCs with intervals and tests, and comparisons
    of rows of different groups. The audit of the decisions uses fairlearn's rates of positive
    predictions. Both audits read mergeable counts of scores and of decisions by group and class.

    With `clusters`, rows of the same cluster can be dependent, such as several rows of one patient.
    Values do not change. Intervals and tests account for the clusters: AUCs by
    :meth:`GroupAUC.confidence_intervals`, and rates by Clopper and Pearson's interval with the
    effective sample size of Korn and Graubard [1]_. Results that need independent rows, or groups
    without shared clusters, are NaN, and a finding names these results.

    Parameters
    ----------
    report : GroupAUC
        Report on the groups to audit, with or without clusters. Groups that lack a class count as
        small groups (see `min_per_class`) for any value of `undefined` in the report.
    decisions : ScoreCounts, default=None
        Counts of decisions on the rows of the report, by group and cluster if the report has
        clusters. The score of a row is 1 for a positive prediction and 0 for a negative prediction.
        With None, decisions follow from the `threshold`.
    threshold : float, "auto" or None, default="auto"
        Rows with a score of at least the threshold have positive predictions. "auto" uses the
        `decisions`. Without `decisions`, "auto" uses the threshold 0.5 if all scores are from 0 to
        1, and no threshold otherwise. None uses no threshold, and the audit covers the ranking
        only. A threshold for binned scores has to be an edge of a bin, such as 0.5 for
        `Bins.of_probabilities`. "auto" uses no threshold if 0.5 is within a bin. "auto" also uses
        no threshold for a report of a `MulticlassGroupAUC`, because a classifier of three or more
        classes does not decide by a threshold on the score of one class. After
        ``reduced(min_count=)``, ranges of scores may contain any edge. Then count by bins without
        `min_count`, or pass None.
    min_per_class : int, default=10
        Least number of rows for a comparison. For an AUC, `min_per_class` counts rows of each
        class. For a selection rate, `min_per_class` counts rows of any class. For a true or false
        positive rate, `min_per_class` counts positives or negatives. Groups with fewer rows are
        small. The audit shows small groups without comparing their values.
    reference : "rest" or a group's label, default="rest"
        Reference for the AUC of each group: the other groups ("rest") or one group. See
        `GroupAUC.compare_groups`. If a group has the name "rest", pass this label in a list.
    favorable : {"positive", "negative"} or None, default=None
        The favorable outcome for a person. For example, use "positive" for the approval of a loan,
        and "negative" for a default or a relapse. Findings then call the clearest xAUC disparity an
        advantage or a disadvantage of its group.
    names : mapping of str to str, default=None
        Names of the audited model, label and score, with some of the keys "model", "label" and
        "score", such as ``{"model": "credit score 3", "label": "default within a year"}``. `facts`,
        the page and the JSON document show the names.
    tolerances : mapping of str to float, default=None
        Limits of gaps between 0 and 1, by the name of the row of `gaps`. A ratio has to be at least
        its limit, and another gap at most its limit. For example, ``{"difference": 0.05}`` is a
        margin on the difference of AUCs. The four-fifths rule is ``{"demographic_parity_ratio":
        0.8}`` if the positive class is the favorable outcome, because rates are shares of positive
        predictions. With ``favorable="negative"``, `demographic_parity_ratio` and
        `equalized_odds_ratio` are therefore refused. A tolerance of `xauc_disparity` limits the
        absolute disparities of all groups. The gaps `cross_difference` and `abroca` have no
        tolerances. The table `tolerances` has the answers.

    Attributes
    ----------
    report : GroupAUC
        Report on all groups.
    compared : GroupAUC
        Report on the groups with `min_per_class` rows of each class.
    decisions : ScoreCounts or None
        Counts of decisions by group and class, or None in an audit of the ranking alone.
    threshold : float or None
        Threshold of the decisions. None for decisions from other sources, or in an audit of the
        ranking alone.
    min_per_class : int
    reference : object
    favorable : str or None
    names : dict of str to str
        Declared names.
    date : str
        Date and time of the construction in UTC by ISO 8601. The environment variable
        ``SOURCE_DATE_EPOCH`` (seconds since 1970) replaces the present time, so that a repeated
        audit makes an identical page.

    Raises
    ------
    TypeError
        If `report` is not a GroupAUC, or `decisions` is not a ScoreCounts.
    ValueError
        If the report has no groups, or if it covers several folds. If `decisions`
        do not match the rows of the report, or accompany a threshold. If the reference is not a
        group or is a small group, or another argument is invalid. A `DisclosureError` if the
        threshold is within a bin or range of binned scores.

    See Also
    --------
    GroupAUC : The ranking alone.
    MitigatedClassifier : A binary classifier with a fairlearn mitigator.
    AuditComparison : Compare two audits of the same rows.

    References
    ----------
    .. [1] Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small
       expected number of positive counts estimated from survey data. Survey Methodology 24(2).

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
        names: Mapping[str, str] | None = None,
        tolerances: Mapping[str, float] | None = None,
    ) -> None:
        arguments.check_report(report)
        min_per_class = _input.check_whole_number(min_per_class, "min_per_class", 0)
        self.favorable = arguments.check_favorable(favorable)
        self.names = arguments.check_names(names)
        self.date = date_of_now()
        # Audits by other columns derive their counts from these counts, with the same identifier.
        self._identifier = report.counts.identifier
        self._limits = tolerating.check_tolerances(tolerances, self.favorable)
        self.reference = reference
        label = arguments.check_reference(reference, report.counts, min_per_class)
        self.threshold = arguments.check_threshold(threshold)
        clusters = estimates_of(report).pairs.clusters
        # Decisions have the groups of these counts.
        counted = report.counts if clusters is None else clusters.units
        if decisions is not None:
            if threshold != "auto":
                raise ValueError("pass either decisions or a threshold, not both.")
            decisions = deciding.check_decisions(decisions, counted, clusters is not None)
        elif threshold == "auto" and not estimates_of(report).pairs.is_multiclass:
            self.threshold = deciding.default_threshold(counted)
        if self.threshold is not None:
            decisions = deciding.at_threshold(counted, self.threshold)
        if decisions is None:
            tolerating.check_has_decisions(self._limits)
        # Threshold on the scale of the scores of the report
        self._score_threshold = self.threshold
        self._set_comparison(GroupComparison(report, decisions, min_per_class, label))
        # Findings do not explain missing decisions if the user requested the ranking alone, or if
        # the scores rank one of several classes.
        self._is_ranking_chosen = threshold is None or estimates_of(report).pairs.is_multiclass
        self._is_adjusted_with_others = False

    def _set_comparison(self, comparison: GroupComparison) -> None:
        self.comparison = comparison
        self.report, self.decisions = comparison.report, comparison.decisions
        self.min_per_class = comparison.min_per_class

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
        clusters: Any = None,
        pos_label: Any = None,
        min_per_class: int = 10,
        reference: Any = "rest",
        favorable: Favorable | None = None,
        names: Mapping[str, str] | None = None,
        tolerances: Mapping[str, float] | None = None,
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
            Sensitive features. Each combination of several columns is a group.
        y_pred : array-like of shape (n_rows,), default=None
            Predicted labels. Pass `y_pred` if decisions do not follow from one threshold for all
            rows. Examples are a randomized classifier, and thresholds of groups, as of fairlearn's
            ``ThresholdOptimizer``. AUCs use `y_score`.
        threshold : float, "auto" or None, default="auto"
            Rows with a score of at least the threshold have positive predictions. None audits the
            ranking alone; see the class. Omit `threshold` if you pass `y_pred`.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        clusters : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
            Cluster of each row, such as a patient with several rows; see the class. None means that
            all rows are independent.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        min_per_class : int, default=10
            Least number of rows, positives or negatives for a comparison. The audit shows smaller
            groups without a comparison; see the class.
        reference : "rest" or a group's label, default="rest"
            Reference for the AUC of each group; see the class.
        favorable : {"positive", "negative"} or None, default=None
            The favorable outcome; see the class.
        names : mapping of str to str, default=None
            Names of the model, the label and the score; see the class.
        tolerances : mapping of str to float, default=None
            Limits of gaps; see the class.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        n_jobs : int, default=None
            Number of threads. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors.

        Returns
        -------
        FairnessAudit

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described. The message gives the remedy.

        Examples
        --------
        >>> from skfedauc import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], min_per_class=1
        ... )
        >>> audit.by_group["selection_rate"].to_dict()
        {'a': 0.5, 'b': 0.5}
        """
        report, decisions = counting.of_predictions(
            y_true, y_score, groups, y_pred, sample_weight, pos_label, missing, n_jobs, clusters
        )
        return cls(
            report,
            decisions=decisions,
            threshold=threshold,
            min_per_class=min_per_class,
            reference=reference,
            favorable=favorable,
            names=names,
            tolerances=tolerances,
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
        clusters: Any = None,
        pos_label: Any = None,
        response_method: str | tuple[str, ...] | None = None,
        min_per_class: int = 10,
        reference: Any = "rest",
        favorable: Favorable | None = None,
        names: Mapping[str, str] | None = None,
        tolerances: Mapping[str, float] | None = None,
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
            Name or names of columns of X, or the labels themselves. If X has an index, a pandas
            Series matches the rows of X by index label.
        threshold : float, "auto" or None, default="auto"
            "auto" uses the decisions of a single call of ``estimator.predict``, so tuned thresholds
            and randomized classifiers work. With a number, rows with a score of at least the number
            have positive predictions instead of the estimator's predictions. None audits the
            ranking alone. If the estimator is not a classifier, "auto" selects the threshold as
            described in the class.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        clusters : str, list of str, or array-like of shape (n_rows,), default=None
            Cluster of each row, such as a patient with several rows: the name or names of columns
            of X, or labels; see the class. None means that all rows are independent.
        pos_label : int, float, bool or str, default=None
            The positive label. None means ``estimator.classes_[1]``.
        response_method : str, tuple of str or None, default=None
            Methods of the estimator that return scores, in order of preference. None means
            "decision_function", else "predict_proba", as in :meth:`GroupAUC.from_estimator`. The
            audit shows probabilities in place of decision values with the same AUCs. If the AUCs
            differ, a warning names both, the AUCs are those of "decision_function", the audit
            has no calibration, and a `threshold` is a probability.
        min_per_class : int, default=10
            Least number of rows, positives or negatives for a comparison. The audit shows smaller
            groups without a comparison; see the class.
        reference : "rest" or a group's label, default="rest"
            Reference for the AUC of each group; see the class.
        favorable : {"positive", "negative"} or None, default=None
            The favorable outcome; see the class.
        names : mapping of str to str, default=None
            Names of the model, the label and the score; see the class.
        tolerances : mapping of str to float, default=None
            Limits of gaps; see the class.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        n_jobs : int, default=None
            Number of threads for counting, not for prediction. None means 1 unless in a
            `joblib.parallel_config` context; -1 means all processors.

        Returns
        -------
        FairnessAudit

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described. The message gives the remedy.

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
        _input.check_missing(missing)
        _input.check_groups_given(groups)
        labels = _input.groups_of_rows(groups, X)
        number = arguments.check_threshold(threshold)
        of_rows = {
            "y_true": y,
            "groups": labels,
            "sample_weight": sample_weight,
            "missing": missing,
        }
        model = counting.of_estimator(estimator, X, threshold, pos_label, response_method, of_rows)

        def counted(scores: _sklearn.ModelScores) -> GroupAUC:
            return GroupAUC.from_estimator(
                scores,
                X,
                y,
                groups=groups,
                sample_weight=sample_weight,
                clusters=clusters,
                undefined="ignore",
                missing=missing,
                n_jobs=n_jobs,
            )

        decisions = None
        if model.selected is not None:
            decided = counted(model.decided)
            of_clusters = estimates_of(decided).pairs.clusters
            decisions = decided.counts if of_clusters is None else of_clusters.units
        audit = cls(
            counted(model.scores),
            decisions=decisions,
            threshold=model.threshold,
            min_per_class=min_per_class,
            reference=reference,
            favorable=favorable,
            names=names,
            tolerances=tolerances,
        )
        if number is not None:
            audit.threshold = number
        return audit

    def of(self, columns: str | Sequence[str]) -> FairnessAudit:
        """Return the audit by some of the sensitive columns.

        Parameters
        ----------
        columns : str or list of str
            Names of group columns, see `columns`.

        Returns
        -------
        FairnessAudit
            Audit of the same rows, which merges groups with equal labels in these columns. The
            audits by one column and the audit by all columns have a joint adjustment of p values.
            An audit by several, but not all, columns has a separate adjustment.

        Raises
        ------
        ValueError
            If a name is not in `columns` or occurs twice, or if `adjusted_together` returned the
            audit.

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
        is_list = isinstance(columns, list | tuple)
        chosen = list(columns) if is_list else [columns]
        is_known = all(isinstance(name, str) and name in self.columns for name in chosen)
        if not chosen or not is_known or len(set(chosen)) < len(chosen):
            raise ValueError(
                f"columns must be one or several of [{_words.all_shortened(self.columns)}]; got "
                f"{_words.shortened(columns)}."
            )
        if chosen == list(self.columns):
            return self
        if self._is_adjusted_with_others:
            raise ValueError(
                "of() is not available for an audit that adjusted_together returned; call of() "
                "first, and pass its result to adjusted_together."
            )
        if len(chosen) == 1 and chosen[0] in self._by_column:
            return self._by_column[chosen[0]]
        return self._about(self.comparison.regrouped(chosen))

    @staticmethod
    def adjusted_together(audits: Sequence[FairnessAudit]) -> list[FairnessAudit]:
        """Return the audits with p values adjusted for the claims of all audits.

        Parameters
        ----------
        audits : sequence of FairnessAudit
            Audits by different groups.

        Returns
        -------
        list of FairnessAudit
            New audits of the same groups, in the same order. The adjusted p values and findings of
            each audit account for the claims of all audits, with equal weight for each audit; see
            `n_claims`. An audit by several columns counts as one audit by all columns, and has a
            page without sections by column.

        Examples
        --------
        >>> from skfedauc import FairnessAudit
        >>> predictions = [0, 1] * 20, [0.2, 0.6, 0.5, 0.4] * 10
        >>> audits = [
        ...     FairnessAudit.from_predictions(*predictions, groups=labels)
        ...     for labels in (["f", "f", "m", "m"] * 10, ["u", "v", "v", "u"] * 10)
        ... ]
        >>> [audit.n_claims for audit in audits]
        [7, 7]
        >>> [audit.n_claims for audit in FairnessAudit.adjusted_together(audits)]
        [14, 14]
        """
        return FairnessAudit._adjusted([(audit, audit.comparison) for audit in audits])

    def within(self, column: str) -> dict[Any, FairnessAudit]:
        """Return an audit by the other columns within each label of a control column.

        A control column is a column whose differences are accepted, such as the hospital in an
        audit by sex. An audit within each hospital compares the sexes among the rows of the same
        hospital, as fairlearn's ``MetricFrame(control_features=...)``.

        Parameters
        ----------
        column : str
            Name of one of several group columns, see `columns`.

        Returns
        -------
        dict of FairnessAudit
            Audits by label of the control column, in the order of the labels. The adjusted p values
            of each audit account for the claims of all these audits, with equal weight for each
            label; see `adjusted_together`.

        Raises
        ------
        ValueError
            If `column` is not one of several columns, or if `adjusted_together` returned the audit.
            If the reference group is absent or small within a label.

        Notes
        -----
        `min_per_class` applies to the groups within each label. Small groups of a label are shown
        without a comparison, and no rows are pooled or dropped. If a label has fewer than two
        groups with enough rows, its gaps are NaN, and its findings name the reason. With many
        labels, the adjustment for all of them leaves little power; combine rare labels before the
        audit.

        Rows without a group are in no audit, and are not in `n_missing`.

        Examples
        --------
        >>> import pandas as pd
        >>> from skfedauc import FairnessAudit
        >>> people = pd.DataFrame({"sex": list("fmfm"), "site": [1, 1, 2, 2]})
        >>> audit = FairnessAudit.from_predictions(
        ...     [0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3], groups=people, min_per_class=1
        ... )
        >>> {site: part.columns for site, part in audit.within("site").items()}
        {1: ('sex',), 2: ('sex',)}
        """
        if not isinstance(column, str) or column not in self.columns or len(self.columns) < 2:
            raise ValueError(
                "column must be one of several group columns; got "
                f"{_words.shortened(column)}, and the columns are "
                f"[{_words.all_shortened(self.columns)}]. Pass the control column to groups= as "
                "well."
            )
        if self._is_adjusted_with_others:
            raise ValueError(
                "within() is not available for an audit that adjusted_together returned; call "
                "within() first, and pass its audits to adjusted_together."
            )
        parts = self.comparison.within(column)
        for level, part in parts.items():
            if part.reference is None:
                continue
            try:
                arguments.check_reference([part.reference], part.report.counts, part.min_per_class)
            except ValueError as error:
                raise ValueError(f"within {named_in(column, level)}: {error}") from None
        audits = self._adjusted([(self, part) for part in parts.values()])
        return dict(zip(parts, audits, strict=True))

    @staticmethod
    def _adjusted(
        parts: Sequence[tuple[FairnessAudit, GroupComparison]],
    ) -> list[FairnessAudit]:
        """Return an audit of each comparison, with the options of an audit and joint adjustment."""
        claims = claims_of([comparison for _, comparison in parts])
        return [
            FairnessAudit._about(audit, comparison, own)
            for (audit, comparison), own in zip(parts, claims, strict=True)
        ]

    def _about(self, comparison: GroupComparison, claims: Claims | None = None) -> FairnessAudit:
        """Return an audit of a comparison, with the options of this audit."""
        audit = object.__new__(FairnessAudit)
        audit._set_comparison(comparison)
        audit.favorable, audit.threshold = self.favorable, self.threshold
        audit.names, audit.date = self.names, self.date
        audit.reference, audit._limits = self.reference, self._limits
        audit._score_threshold = self._score_threshold
        if comparison is not self.comparison:
            audit.reference = "rest" if comparison.reference is None else [comparison.reference]
        audit._is_ranking_chosen = self._is_ranking_chosen
        audit._is_adjusted_with_others = claims is not None
        if claims is not None:
            audit._claims, audit._parts = claims, []
        return audit

    def intersections(self, depth: int = 2) -> pd.DataFrame:
        """Return the AUC of every group of every combination of columns, the lowest first.

        The combinations are each column alone, each pair of columns, and so on.

        Parameters
        ----------
        depth : int, default=2
            Largest number of columns in a combination. More than the number of columns means all
            columns.

        Returns
        -------
        pandas.DataFrame
            A row for each group of each combination. `columns` is a tuple of names, and `group` is
            a label, or a tuple for several columns. `n_positives` and `n_negatives` are numbers of
            rows. `auc` has the limits `ci_low` and `ci_high` of a 95 % interval. `shrunken_auc` has
            the limits `shrunken_ci_low` and `shrunken_ci_high`; see `GroupAUC.ranking`. `rest_auc`
            is the AUC of the other groups of the same columns (see `GroupAUC.compare_groups`), and
            `difference` is `auc` minus `rest_auc`. The null hypothesis of `pvalue` is that `auc`
            and `rest_auc` are equal, and `pvalue_adjusted` accounts for all rows of the table.
            `finding` is a sentence on the group.

            Two or more groups with fewer than `min_per_class` positives or negatives are one group
            "(small groups)" of their columns, and no rows are dropped. The AUC of this group also
            compares rows of different small groups. If this group or a single small group still has
            fewer rows, its `shrunken_auc`, `difference` and p values are NaN.

            The rows are in the order of `shrunken_auc`, so ``.head(5)["finding"]`` names the five
            most worrying groups. The rows without a comparison come last.

        Raises
        ------
        ValueError, TypeError
            If `depth` is not a whole number of at least 1.

        Notes
        -----
        The order has to serve groups of very unequal size. The lowest AUCs and the lowest limits
        `ci_low` are mostly those of the smallest groups, because these have the largest sampling
        errors. The lowest limits `ci_high` are mostly those of the largest groups. A shrunken AUC
        is near the mean of the groups unless the rows of the group show otherwise. In simulations
        of groups with equal AUCs, the first five groups in the order of `shrunken_auc` had typical
        sizes.

        With fewer than four groups of the same columns, there is no shrinkage, and `shrunken_auc`
        is `auc`.

        Holm's method with weights adjusts the p values: all combinations of columns have equal
        weight, and all groups of a combination have equal weight. The comparison of two groups is
        one claim. The claims of this table are separate from the claims of `gaps` and `by_group`
        (see `n_claims`): if all groups are equal, about 5 % of audits establish a difference in
        this table.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from skfedauc import FairnessAudit
        >>> rng = np.random.default_rng(0)
        >>> people = pd.DataFrame(rng.choice(["f", "m"], (2000, 2)), columns=["sex", "parent"])
        >>> y, score = rng.integers(0, 2, 2000), rng.normal(size=2000)
        >>> is_bad = (people["sex"] == "f") & (people["parent"] == "m")
        >>> score += np.where(is_bad, 0.2, 1.5) * y
        >>> audit = FairnessAudit.from_predictions(y, score, groups=people)
        >>> table = audit.intersections()
        >>> table.loc[0, ["columns", "group"]].tolist()
        [('sex', 'parent'), ('f', 'm')]
        """
        depth = _input.check_whole_number(depth, "depth", 1)
        return intersections(self.comparison, depth)

    @functools.cached_property
    def _intersections(self) -> pd.DataFrame | None:
        """Intersections of pairs of columns for the page and the document."""
        return self.intersections() if len(self.columns) > 1 else None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the sensitive columns, by default "column 1" and so on."""
        return self.comparison.columns

    # The tables ----------------------------------------------------------------------------

    @functools.cached_property
    def by_group(self) -> pd.DataFrame:
        """Table of the groups: counts, AUCs, ranking between groups, and rates of decisions.

        A DataFrame with one row per group and these columns:

        ``n_positives``, ``n_negatives`` and ``is_small``: whether the group has too few positives
        or negatives for a comparison of AUCs. `left_out` lists the groups with too few rows for a
        comparison of rates.

        ``auc``, with the limits ``ci_low`` and ``ci_high`` of the 95 % interval. ``reference_auc``
        is the AUC of the reference (see `GroupAUC.compare_groups`). The null hypothesis of
        ``pvalue`` is that the two AUCs are equal.

        ``bpsn_auc``, ``bnsp_auc``, ``xauc_disparity``, ``positive_aeg`` and ``negative_aeg`` (see
        `GroupAUC.bias_by_group`), and the ``xauc_pvalue`` of the null hypothesis that the disparity
        is 0. The reference of a small group is all other groups. The reference of another group is
        all other groups that are not small.

        ``selection_rate``, ``true_positive_rate`` and ``false_positive_rate`` of the decisions.

        ``pvalue_adjusted`` and ``xauc_pvalue_adjusted`` account for all claims of the audit (see
        `n_claims`). Undefined values and p values without a test are NaN.
        """
        return listed(self.report.counts, self._by_group)

    @functools.cached_property
    def _by_group(self) -> pd.DataFrame:
        """The table `by_group`, with the groups in the order of the counts."""
        return tables.by_group(self.comparison, self._claims)

    @functools.cached_property
    def gaps(self) -> pd.DataFrame:
        """Table of the gaps between the groups that are not small.

        A DataFrame with one row per gap. `value` has the limits `ci_low` and `ci_high` of a 95 %
        interval. `expected` is the mean of the gap for equal groups. `pvalue` belongs to the null
        hypothesis of no gap, and `pvalue_adjusted` accounts for all claims of the audit (see
        `n_claims`). `lowest` and `highest` are labels of groups. `rate` defines an equalized odds
        gap. Undefined values are NaN. The table has these rows:

        ``difference``, ``ratio``: gaps of the group AUCs, with the test of the largest difference
        (see `GroupAUC.test_difference`). The interval of the difference and the p value come from
        one comparison of all pairs of groups. The interval of the ratio comes from the limits of
        the group AUCs (MOVER-R [2]_).

        ``tau``: the standard deviation of the true AUCs, without a test. `findings` report a test
        of equal true AUCs. The interval of tau uses another statistic.

        ``xauc_disparity``: the xAUC disparity between a group and all other groups with the largest
        ratio to the standard error. Division by the standard error prevents the choice of a tiny
        group with a large sampling error. `highest` names a group with a positive disparity,
        and `lowest` a group with a negative one. The limits (adjusted by
        Bonferroni's method) and the p value (adjusted by Holm's method) account for the number of
        groups.

        ``cross_difference``: the largest xAUC disparity of two groups, without a test, for at most
        500 groups.

        ``abroca``: the largest area between the ROC curve of a group and the ROC curve of all other
        groups together. If the AUC of the group is at least the AUC of the others, `highest` names
        the group. Otherwise, `lowest` names the group. The audit omits ABROCA if the computation
        takes long. `GroupAUC.abroca` tests ABROCA.

        ``demographic_parity_difference``, ``demographic_parity_ratio``,
        ``true_positive_rate_difference``, ``false_positive_rate_difference``,
        ``equalized_odds_difference``, ``equalized_odds_ratio``: gaps of the decisions as fairlearn
        defines them, with the chi-squared test that all groups have the same rate. The equalized
        odds gap is the larger of the gaps of true and of false positive rates. `rate` names the
        rate with this gap. `lowest`, `highest` and `pvalue` refer to this rate, and `pvalue`
        accounts for the choice between two rates (Holm). The comparisons include only groups with
        enough rows for the rate; see `left_out`. With weights, the tests and intervals use
        effective sample sizes (Kish).

        The interval of a gap of decisions contains the gap of the true rates with a probability of
        at least 95 %. The intervals of two rates give the interval of their difference (Newcombe
        [1]_) and of their ratio (MOVER-R [2]_), with the limits of Clopper and Pearson for each
        rate; `rates` has the formulas. The lower limit of the difference is the largest lower limit
        of all pairs of groups. This limit fails only if a limit of any pair fails, so the pairs
        have simultaneous limits.
        The upper limit is the largest upper limit of all pairs. This limit fails only if the limit
        of the two groups with the largest true difference fails, so the pairs have unadjusted
        limits. Likewise for ratios. For equalized odds, the lower limit of the difference accounts
        for the two rates (Bonferroni). This interval contains the larger of the two true gaps. The
        interval can therefore exclude 0 because of the other rate, although the p value of the
        named rate is high. An interval and the p value belong to different methods: an interval may
        contain 0 although the p value is below 5 %.

        References
        ----------
        .. [1] Newcombe, R. G. (1998). Interval estimation for the difference between independent
           proportions: comparison of eleven methods. Statistics in Medicine 17(8).
           https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I
        .. [2] Donner, A. and Zou, G. Y. (2012). Closed-form confidence intervals for functions of
           the normal mean and standard deviation. Statistical Methods in Medical Research 21(4).
           https://doi.org/10.1177/0962280210383082
        """
        return tables.gaps(self.comparison, self._claims.adjusted)

    @functools.cached_property
    def tolerances(self) -> pd.DataFrame:
        """Table of the declared tolerances, answered with "met", "not met" or "undecided".

        A DataFrame with one row per tolerance and the columns `value`, `limit`, `ci_low`, `ci_high`
        and `answer`. The answer is "met" if the whole interval is within the limit, "not met" if
        the whole interval is beyond the limit, and "undecided" otherwise. An undefined gap is
        undecided. The table has no rows without tolerances.

        Each limit of the interval fails with a probability of at most 5 %. Therefore, the answer
        "met" is wrong with a probability of at most 5 % if the true gap is beyond the limit, and
        the answer "not met" is wrong with a probability of at most 5 % if the true gap is within
        the limit. The probabilities hold for each tolerance alone. The limit on the side of no gap
        is the limit in `gaps`. The other limit is nearer to the value than in `gaps`, where it
        fails with a probability of at most 2.5 %. Both limits of "tau" are those in `gaps`, because
        the interval is approximate and assumes normal true AUCs. The "difference" is met if and
        only if ``compared.test_margin(limit)`` shows equivalence. The value of
        "xauc_disparity" is the largest absolute xAUC disparity of a group, which can differ from
        the clearest disparity in `gaps`.

        Examples
        --------
        >>> from skfedauc import FairnessAudit
        >>> from skfedauc.datasets import make_group_scores
        >>> people = make_group_scores("different", 400, 600, shifts=(0, 1), random_state=0)
        >>> audit = FairnessAudit.from_predictions(
        ...     people.y_true, people.y_score, groups=people.groups, threshold=0.5,
        ...     tolerances={"difference": 0.1, "demographic_parity_ratio": 0.8},
        ... )
        >>> audit.tolerances.round(2)
                                  value  limit  ci_low  ci_high   answer
        gap
        difference                 0.01    0.1    0.00     0.05      met
        demographic_parity_ratio   0.58    0.8    0.54     0.63  not met
        """
        return tolerating.table(self.comparison, self.gaps, self._limits)

    def rates(
        self,
        method: RateMethod = "exact",
        *,
        confidence_level: float = 0.95,
        n_resamples: int = 2_000,
        random_state: Any = None,
    ) -> pd.DataFrame:
        """Return rates of the decisions by group, with differences and ratios to the reference.

        Parameters
        ----------
        method : {"exact", "bootstrap"}, default="exact"
            Method of the limits. "exact" uses the limits of Clopper and Pearson [1]_ for rates, as
            `gaps` does, Newcombe's method [2]_ for differences, and MOVER-R [3]_ for ratios.
            "bootstrap" uses percentiles of resampled rows, drawn within each group; rates of 0 and
            1 have limits without width.
        confidence_level : float, default=0.95
            Confidence level of each interval.
        n_resamples : int, default=2_000
            Number of resamples of the bootstrap, at least 100.
        random_state : int, RandomState instance or None, default=None
            Seed of the bootstrap.

        Returns
        -------
        pandas.DataFrame
            One row for each rate and group. The first level of the index, `rate`, has these rates:
            "selection_rate", "true_positive_rate", "false_positive_rate", "precision",
            "false_discovery_rate", "false_omission_rate", "accuracy" and "prevalence". The columns
            are the rate `value` with the limits `ci_low` and `ci_high`; `n_rows`, the number of
            rows in the denominator; `reference_value`, the rate of the reference; the `difference`
            to the reference with the limits `difference_ci_low` and `difference_ci_high`; and the
            `ratio` with the limits `ratio_ci_low` and `ratio_ci_high`. A rate without rows in the
            denominator is NaN.

        Raises
        ------
        ValueError
            If the audit has no decisions, or an argument is invalid. If ``method="bootstrap"`` and
            the rows have weights.

        Notes
        -----
        The reference is the reference group, or the other groups together. Comparisons omit small
        groups, with fewer than `min_per_class` rows in the denominator: these groups have a rate
        with limits, no comparison, and no part in the reference. The intervals hold for each group
        alone.

        Let p, l and u be a rate and its limits, and q, l2 and u2 those of the reference. The limits
        of the difference are ``p - q - sqrt((p - l)^2 + (u2 - q)^2)`` and
        ``p - q + sqrt((u - p)^2 + (q - l2)^2)``. The lower limit of the ratio is
        ``(p q - sqrt((p q)^2 - l (2 p - l) u2 (2 q - u2))) / (u2 (2 q - u2))``. The upper limit is
        the reciprocal of the lower limit of ``q / p``.

        The denominators of the precision, the false discovery rate and the false omission rate are
        random, because they depend on the decisions. The limits of these rates are conditional on
        the observed number of rows in the denominator. For weighted rows, the limits use the
        effective sample size (Kish). The effective sample size does not account for a relation of
        weights and events.

        References
        ----------
        .. [1] Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits
           illustrated in the case of the binomial. Biometrika 26(4).
           https://doi.org/10.1093/biomet/26.4.404
        .. [2] Newcombe, R. G. (1998). Interval estimation for the difference between independent
           proportions: comparison of eleven methods. Statistics in Medicine 17(8).
           https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I
        .. [3] Donner, A. and Zou, G. Y. (2012). Closed-form confidence intervals for functions of
           the normal mean and standard deviation. Statistical Methods in Medical Research 21(4).
           https://doi.org/10.1177/0962280210383082

        Examples
        --------
        >>> from skfedauc import FairnessAudit
        >>> from skfedauc.datasets import make_group_scores
        >>> people = make_group_scores("different", 400, 600, shifts=(0, 1), random_state=0)
        >>> audit = FairnessAudit.from_predictions(
        ...     people.y_true, people.y_score, groups=people.groups, threshold=0.5
        ... )
        >>> columns = ["value", "ci_low", "ci_high", "difference", "difference_ci_high"]
        >>> audit.rates().loc["precision", columns].round(2)
                  value  ci_low  ci_high  difference  difference_ci_high
        group
        device 1   0.60    0.56     0.65        0.14                0.20
        device 2   0.47    0.43     0.50       -0.14               -0.08
        """
        return tables.rates(self.comparison).table(
            method, confidence_level, n_resamples, random_state
        )

    @functools.cached_property
    def left_out(self) -> dict[str, tuple[Any, ...]]:
        """Groups with too few rows for the comparison of AUCs and of each rate.

        The keys are "auc", "selection_rate", "true_positive_rate" and "false_positive_rate".
        """
        return tables.left_out(self.comparison)

    @property
    def n_claims(self) -> int:
        """Number of tested claims. The adjusted p values account for all of these claims.

        An audit by several columns includes the claims of the audits by each column alone. Holm's
        method [1]_ with weights adjusts the p values. All groupings have equal weight, and all
        questions of a grouping have equal weight. The questions are the largest difference of AUCs,
        the equality of all AUCs, the AUC of each group, the xAUC disparities, the three rates, and
        the calibration of each group (see `calibration`). All groups of a question have equal
        weight. About 5 % of audits of groups without any gap, and with calibrated scores, make a
        claim.

        References
        ----------
        .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure.
           Scandinavian Journal of Statistics 6(2).
        """
        return self._claims.family.n_claims

    @functools.cached_property
    def calibration(self) -> pd.DataFrame:
        """Table of the calibration of the scores, by group and of all rows together.

        A DataFrame with one row per group, and a last row "all" with all rows together. Scores have
        to be probabilities of the positive class. Limits belong to 95 % intervals. The columns are:

        ``mean_score``, ``prevalence`` and ``difference``: the mean score, the share of positives,
        and the mean score minus this share, which is above 0 if scores are too high. The limits
        ``difference_low`` and ``difference_high`` come from Wilson's interval [1]_ of the share,
        for given scores.

        ``slope``, with ``slope_low`` and ``slope_high``: the calibration slope [2]_, the maximum
        likelihood estimate of b in ``logit P(y = 1) = a + b logit(score)`` with Wald's limits. It
        is 1 under perfect calibration, and below 1 if scores are too extreme.

        ``pvalue`` of the difference: below .05 exactly if its interval excludes 0.
        ``pvalue_adjusted`` accounts for all claims of the audit (see `n_claims`). It is NaN without
        a claim: for the row "all", for groups with fewer than `min_per_class` rows, and in an audit
        of the ranking alone.

        ``note`` is the reason for an undefined slope: "one class", "one score", "separated classes"
        (by a threshold), or "scores of 0 or 1", whose logits are infinite. To get a slope, clip
        such scores, for example with ``np.clip(y_score, 0.001, 0.999)``; the slope depends on the
        limits of `clip`.

        With weights, averages are weighted, and limits use effective sample sizes (Kish).

        Access raises a ValueError for scores that are not from 0 to 1, and a `DisclosureError` for
        binned scores.

        See Also
        --------
        ReliabilityDisplay : The table as a plot.

        References
        ----------
        .. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
           inference. Journal of the American Statistical Association 22(158).
           https://doi.org/10.1080/01621459.1927.10502953
        .. [2] Cox, D. R. (1958). Two further applications of a model for binary regression.
           Biometrika 45(3/4). https://doi.org/10.1093/biomet/45.3-4.562
        """
        return tables.calibration(self.comparison, self._claims.adjusted)

    def sweep(self, thresholds: Any = None) -> ThresholdSweep:
        """Return the rates by group, and the gaps between groups, at many thresholds.

        Parameters
        ----------
        thresholds : array-like of float, default=None
            Thresholds on the scores of the report; rows with a score of at least the threshold are
            selected. None means all distinct scores, or at most 200 quantiles of more scores, and
            the threshold of the audit. With more than 10,000 groups, there are fewer quantiles.

        Returns
        -------
        ThresholdSweep
            The table `rates` has one row per threshold and group: selection rate, true and false
            positive rate, precision and accuracy. The table `gaps` has one row per threshold. Gaps
            compare groups with at least `min_per_class` rows in the denominator of the rate.

        Raises
        ------
        ValueError
            If `thresholds` are not finite numbers. A `DisclosureError` if a threshold is within a
            bin or range of binned scores.

        Examples
        --------
        >>> from skfedauc import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], min_per_class=1
        ... )
        >>> sweep = audit.sweep([0.3, 0.5])
        >>> sweep.rates[["selection_rate", "true_positive_rate"]]
                         selection_rate  true_positive_rate
        threshold group
        0.3       a                 0.5                 1.0
                  b                 1.0                 1.0
        0.5       a                 0.5                 1.0
                  b                 0.5                 0.0
        >>> sweep.gaps["equalized_odds_difference"].to_dict()
        {0.3: 1.0, 0.5: 1.0}
        """
        return threshold_sweep(
            self.report.counts,
            self.comparison.index,
            thresholds=thresholds,
            threshold=self._score_threshold,
            least_rows=self.min_per_class,
        )

    @functools.cached_property
    def quality(self) -> pd.DataFrame:
        """AUC of the model overall, within groups, and in the worst group.

        The DataFrame has three rows. ``pooled`` is the AUC of all rows together. ``within`` is the
        average of the group AUCs weighted by numbers of pairs. ``worst`` is the smallest AUC of the
        groups that are not small. The column `auc` has the limits `ci_low` and `ci_high` of a 95 %
        interval for fixed groups, and `group` is the label of the worst group.
        """
        return tables.quality(self.comparison)

    @functools.cached_property
    def reversed_groups(self) -> tuple[Any, ...]:
        """Groups whose AUC is significantly below 0.5, the lowest first.

        The upper limits of the simultaneous 95 % intervals (Bonferroni) of these groups are below
        0.5. The property omits small groups.
        """
        return tables.reversed_groups(self.comparison)

    @functools.cached_property
    def metric_frame(self) -> MetricFrame:
        """Fairlearn's `MetricFrame` of the decision rates of all groups.

        The audit computes the frame from counts. The `overall`, `by_group`, `difference()` and
        `ratio()` of the frame equal the values of a frame from rows, with one exception. In
        fairlearn, the true positive rate of a group without positives is 0, and likewise the false
        positive rate of a group without negatives. Such rates are undefined in this frame. Access
        raises a ValueError in an audit of the ranking alone.
        """
        if self.decisions is None:
            raise ValueError(
                "a MetricFrame needs decisions; this audit has none: pass threshold= or y_pred=."
            )
        features = self.comparison.index.to_frame(index=False).set_axis(list(self.columns), axis=1)
        return deciding.metric_frame(self.decisions, features)

    @functools.cached_property
    def compared(self) -> GroupAUC:
        """Report on the groups with `min_per_class` rows of each class."""
        return self.comparison.compared

    @functools.cached_property
    def findings(self) -> tuple[str, ...]:
        """Findings of the audit as sentences."""
        return findings(self.tables)

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """Declared facts and provenance of the audit, as plain values.

        The declared facts are `names` (None for a name that is not declared), `favorable`,
        `threshold` (None for other decisions or none), `tolerances` (limits by name of the gap),
        `columns`, `within` (control columns and their labels), `reference` (None for the other
        groups together) and `min_per_class`.

        The counted facts are `has_decisions`, `positive_class` and `negative_class` (None for
        unknown labels), the numbers of rows, positives, negatives, groups, small groups, rows
        without a group (`n_missing`) and withheld groups, `is_weighted`, and the level of
        `disclosure` of the scores.

        The provenance is the random `identifier` of the score counts (see
        `ScoreCounts.identifier`), the `date`, and the `versions` of skfedauc, scikit-learn, numpy
        and fairlearn. The file of ``audit.report.counts.save(path)`` has the same identifier.

        Examples
        --------
        >>> from skfedauc import FairnessAudit, ScoreCounts
        >>> rows = [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4]
        >>> audit = FairnessAudit.from_predictions(
        ...     *rows, groups=["a", "a", "b", "b"], names={"model": "credit score 3"}
        ... )
        >>> audit.facts["names"]
        {'model': 'credit score 3', 'label': None, 'score': None}
        >>> audit.facts["identifier"] == audit.report.counts.identifier
        True
        """
        declared = {
            "names": dict.fromkeys(NAMES) | self.names,
            "favorable": self.favorable,
            "threshold": self.threshold,
            "tolerances": dict(self._limits),
        }
        return facts_of(self.comparison, declared, self.date)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as nested plain values.

        Returns
        -------
        dict
            The keys are `facts`, `findings` and `n_claims`, and the tables `quality`, `gaps`,
            `tolerances`, `groups` (a list of the rows of `by_group`) and `left_out`. `rates` has a
            list of the rows of `rates` by name of the rate, and is None in an audit of the ranking
            alone. `calibration` has the rows of `calibration` in `groups` and `all`, and is None
            without a test of calibration.
            `by_column` has the audit by each column alone, and `intersections` the rows of
            `intersections`; both are empty for a single column. Undefined values and infinite
            limits are None. Labels are text, integers or booleans, and lists for several columns;
            other labels, such as dates, are text.

        Examples
        --------
        >>> from skfedauc import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], min_per_class=1
        ... )
        >>> audit.to_dict()["gaps"]["difference"]["value"]
        1.0
        """
        by_column = {
            name: document_of(audit.tables, audit.findings)
            for name, audit in self._by_column.items()
        }
        table = self._intersections
        return document_of(self.tables, self.findings) | {
            "by_column": by_column,
            "intersections": [] if table is None else plain_rows(table),
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return `to_dict` as JSON, or write it to a file.

        Parameters
        ----------
        path : str or os.PathLike, default=None
            File to write. `to_json` replaces an existing file after completing the document. None
            returns the document.

        Returns
        -------
        str or None
            The document, without NaN or infinite numbers; None with a `path`.

        Raises
        ------
        OSError
            If writing the file fails. An existing file then remains unchanged.
        """
        return text_or_file(lambda: as_json(self.to_dict()), path)

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return the audit as sections of a model card in Markdown, or write them to a file.

        The sections are Model details, Evaluation data, Metrics by group, Gaps, Findings and
        Caveats, with headings of level 2 and tables that GitHub renders. The tables have at most 50
        groups, those with the lowest AUCs, and the selection rate, the true and the false positive
        rate and the precision with 95 % intervals.

        Parameters
        ----------
        path : str or os.PathLike, default=None
            File to write. `to_markdown` replaces an existing file after completing the text. None
            returns the text.

        Returns
        -------
        str or None
            The sections; None with a `path`.

        Raises
        ------
        OSError
            If writing the file fails. An existing file then remains unchanged.

        Examples
        --------
        >>> from skfedauc import FairnessAudit
        >>> audit = FairnessAudit.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"],
        ...     names={"model": "credit score 3"}, min_per_class=1,
        ... )
        >>> print(audit.to_markdown().partition("- Positive")[0])
        ## Model details
        <BLANKLINE>
        - Model: credit score 3
        <BLANKLINE>
        """

        def card() -> str:
            document = self.to_dict()
            return card_of([*document["by_column"].values(), document])

        return text_or_file(card, path)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the audit to a self-contained HTML page.

        Parameters
        ----------
        path : str or os.PathLike
            File to write. `to_html` replaces an existing file after completing the page.

        Raises
        ------
        ImportError
            If jinja2 or matplotlib is missing; ``pip install "skfedauc[html]"`` installs both.
        OSError
            If writing the file fails. An existing file then remains unchanged.

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
        from skfedauc.audit.page import Section, page_of

        check_target(path)
        by_column = [Section(audit.tables) for audit in self._by_column.values()]
        write_whole(path, page_of([*by_column, Section(self.tables)]))

    @functools.cached_property
    def tables(self) -> AuditTables:
        """Tables, reports and facts of the audit: the input of the findings and the page."""
        comparison = self.comparison
        n_compared = comparison.compared.n_groups
        is_untested = np.isnan(comparison.calibration_pvalues).all()
        return AuditTables(
            report=self.report,
            compared=self.compared,
            columns=self.columns,
            within=comparison.within_levels,
            by_group=self._by_group,
            gaps=self.gaps,
            quality=self.quality,
            tolerances=self.tolerances,
            left_out=self.left_out,
            has_enough=comparison.has_enough,
            reversed_groups=self.reversed_groups,
            largest_difference=comparison.largest_difference if n_compared > 1 else None,
            claims=self._claims,
            min_per_class=self.min_per_class,
            reference=comparison.reference,
            favorable=self.favorable,
            has_decisions=self.decisions is not None,
            threshold=self.threshold,
            is_ranking_chosen=self._is_ranking_chosen,
            facts=self.facts,
            intersections=lambda: self._intersections,
            calibration=None if is_untested else self.calibration,
            sweep=lambda: None if self.decisions is None else self.sweep(),
            rates=lambda: None if self.decisions is None else self.rates(),
        )

    # Claims ------------------------------------------------------------------------------

    @functools.cached_property
    def _claims(self) -> Claims:
        """P values, adjusted for all claims of the audits by each column and by all columns."""
        return self._claims_of_parts[-1]

    @functools.cached_property
    def _claims_of_parts(self) -> list[Claims]:
        return claims_of([*self._parts, self.comparison])

    @functools.cached_property
    def _parts(self) -> list[GroupComparison]:
        """Comparisons by each column alone; the audit also adjusts p values for their claims."""
        if len(self.columns) == 1:
            return []
        return [self.comparison.regrouped([name]) for name in self.columns]

    @functools.cached_property
    def _by_column(self) -> dict[str, FairnessAudit]:
        """Audits by each column alone, without entries for a single column."""
        return {
            part.columns[0]: self._about(part, claims)
            for part, claims in zip(self._parts, self._claims_of_parts, strict=False)
        }

    def __repr__(self) -> str:
        return "\n".join([headline(self.tables), *(f"- {finding}" for finding in self.findings)])

    def _repr_html_(self) -> str:
        """Return the summary with findings and tables, for notebooks."""
        from skfedauc.audit.notebook import notebook_html

        parts = [*self._by_column.values(), self]
        lines = summary([audit.tables for audit in parts])
        return notebook_html(headline(self.tables), lines, self.tables)
