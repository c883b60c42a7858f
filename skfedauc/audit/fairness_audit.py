"""`FairnessAudit`: whether groups differ in ranking and in decisions."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _input, _labels, _rows, _words
from skfedauc._output_file import date_of_now, plain_label
from skfedauc.audit import arguments, samples
from skfedauc.audit.answers import ESTIMATE, Answer, ByRow, answer, gap_table
from skfedauc.audit.comparison import AuditComparison
from skfedauc.audit.contents import Output
from skfedauc.audit.rates_and_gaps import QUESTIONS
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import identified, identifier_of, view_of
from skfedauc.inference import calibration
from skfedauc.pairs import GroupPairs
from skfedauc.report import GroupAUC
from skfedauc.report.group_auc import AnyRows, estimates_of
from skfedauc.report.groups import labels_of_rows
from skfedauc.report.threshold_sweep import ThresholdSweep, threshold_sweep

if TYPE_CHECKING:
    from fairlearn.metrics import MetricFrame

_PACKAGES = ("skfedauc", "scikit-learn", "numpy", "fairlearn")
Favorable = Literal["positive", "negative"]
Threshold = float | Literal["auto"] | None
_SIZES, _ENDS = ("n_positives", "n_negatives"), ("", "_ci_low", "_ci_high")
# Options of `check_rows`
_OF_ROWS = ("sample_weight", "clusters", "pos_label", "missing")


class RowsAndAudit(AnyRows, total=False):
    """Options of rows and of `FairnessAudit`."""

    pos_label: Any
    n_jobs: int | None
    threshold: Threshold
    primary: str
    intersections: Sequence[Sequence[str]]
    favorable: Favorable | None
    names: Mapping[str, str] | None
    tolerances: Mapping[str, float] | None


class EstimatorAndAudit(RowsAndAudit, total=False):
    """Options of an estimator's rows and of `FairnessAudit`."""

    response_method: str | tuple[str, ...] | None


class FairnessAudit(Output):
    """Fairness audit: whether groups differ in ranking and in decisions.

    Each group column is audited on its own. The primary question, whether the groups' AUCs differ,
    has an error rate of 5 %; the other questions (ranking across groups, selection, true and false
    positive rates, calibration) share another 5 % by Bonferroni's method. Each verdict is read from
    the interval beside it: groups differ exactly if the interval excludes 0.

    Parameters
    ----------
    report : GroupAUC
        Report on the groups to audit, by one or more columns, with or without clusters.
    decisions : ScoreCounts, default=None
        Decision counts on the report's rows, by group (and cluster): the score is 1 for a positive
        decision, and 0 otherwise. With None, decisions follow from the `threshold`.
    threshold : float, "auto" or None, default="auto"
        Rows with a score at or above it have positive decisions; for binned scores, an edge of a
        bin. "auto" is 0.5 for probabilities of two classes, and no threshold for other scores. None
        audits the ranking alone.
    min_per_class : int, default=10
        Least number of positives and negatives in a compared group. The others are listed with
        their sizes.
    primary : str, default="difference"
        The primary question; see `gaps`.
    intersections : sequence of tuple of str, default=()
        Columns whose combinations are audited like a column, such as ``[("sex", "region")]``.
    favorable : {"positive", "negative"} or None, default=None
        The favorable outcome for a person, such as "negative" for a default. Sentences then say
        which group the ranking favors.
    names : mapping of str to str, default=None
        Names of the "model", the "label" and the "score", such as ``{"model": "score 3"}``.
    tolerances : mapping of str to float, default=None
        Largest gap, or smallest ratio, by gap name: ``{"difference": 0.05,
        "demographic_parity_ratio": 0.8}``. Each is answered by the gap's interval.

    Attributes
    ----------
    report : GroupAUC
        Report on all groups. The audit's numbers are about the compared groups of each column,
        as in reports with the same `min_per_class`.
    decisions : ScoreCounts or None
    samples : dict of str to Sample
        Groups that are compared, and those left out, by column and by combination of columns.

    Raises
    ------
    ValueError, TypeError
        If the report has no groups or covers several folds, if `decisions` do not match its rows
        or accompany a threshold, or if another argument is invalid. A `DisclosureError` if the
        threshold is within a bin.

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
    >>> audit.answers["group"]["difference"].verdict
    'undecided'
    """

    def __init__(
        self,
        report: GroupAUC,
        *,
        decisions: ScoreCounts | None = None,
        threshold: Threshold = "auto",
        min_per_class: int = 10,
        primary: str = "difference",
        intersections: Sequence[Sequence[str]] = (),
        favorable: Favorable | None = None,
        names: Mapping[str, str] | None = None,
        tolerances: Mapping[str, float] | None = None,
    ) -> None:
        arguments.check_report(report)
        self.report, self._date = report, date_of_now()
        identified(report.counts)  # Copies have the same identifier.
        self._min_per_class = _input.check_whole_number(min_per_class, "min_per_class", 0)
        known = [name for name, question in QUESTIONS.items() if not question.is_for_tolerance]
        self._primary: str = _input.check_option("primary", primary, known)
        options = ("positive", "negative", None)
        self._favorable: Favorable | None = _input.check_option("favorable", favorable, options)
        self._names = arguments.check_names(names)
        pairs = estimates_of(report).pairs
        counted = _counted(pairs)
        self._threshold = arguments.check_threshold(threshold)
        if decisions is not None:
            if threshold != "auto":
                raise ValueError("pass either decisions or a threshold, not both.")
            decisions = samples.check_decisions(decisions, counted)
        elif threshold == "auto" and not pairs.is_multiclass:
            self._threshold = calibration.default_threshold(counted)
        has_any = decisions is not None or self._threshold is not None
        self._limits = arguments.check_tolerances(tolerances, favorable, has_decisions=has_any)
        # Threshold on the scale of the scores of the report
        self._score_threshold = self._threshold
        if self._threshold is not None:
            self._score_threshold = calibration.threshold_of(counted, self._threshold)
            decisions = samples.decisions_at(counted, self._score_threshold)
        self.decisions, self._decided = decisions, samples.decisions_of(report, decisions)
        columns = arguments.check_columns(intersections, samples.column_names(report))
        self.samples = samples.samples_of(report, self._decided, columns, self._min_per_class)
        self._n_audits, self._control = 1, dict[str, Any]()
        self._by_row: ByRow | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any,
        y_pred: Any = None,
        **options: Unpack[RowsAndAudit],
    ) -> FairnessAudit:
        """Audit predictions.

        Parameters
        ----------
        y_true, y_score, groups : array-like
            The rows' labels, scores and groups, as in `GroupAUC.from_predictions`.
        y_pred : array-like, shape (n_rows,), default=None
            Predicted labels, if decisions do not follow from one threshold for all rows.
        **options : dict
            ``sample_weight``, ``clusters``, ``pos_label``, ``missing`` and ``n_jobs``, as in
            `GroupAUC.from_predictions`, and the parameters of `FairnessAudit` except ``decisions``.

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
        >>> audit.by_group()["selection_rate"].to_dict()
        {'a': 0.5, 'b': 0.5}
        """
        _check_options(options, RowsAndAudit, "from_predictions")
        _labels.check_groups_given(groups)
        inputs = {"y_true": y_true, "y_score": y_score, "y_pred": y_pred, "groups": groups}
        _rows.check_row_order(inputs | {name: options.get(name) for name in _OF_ROWS[:2]})
        selected = None
        if y_pred is not None:
            selected = arguments.predicted_positive(y_pred, y_true, options.get("pos_label"))
        return cls._of_rows((y_true, y_score, groups), selected, options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, groups: Any, **options: Unpack[EstimatorAndAudit]
    ) -> FairnessAudit:
        """Audit a fitted classifier: its scores and its decisions, from ``predict``.

        With ``threshold="auto"``, decisions are from a single ``predict`` call, so tuned thresholds
        and randomized classifiers work. With a number, rows with a score of at least the number
        have positive decisions. None audits the ranking alone.

        Parameters
        ----------
        estimator, X, y, groups : object
            Fitted binary classifier (or regressor) and rows, as in `GroupAUC.from_estimator`.
        **options : dict
            ``response_method`` and the options of rows, as in `GroupAUC.from_estimator`, and the
            parameters of `FairnessAudit` except ``decisions``.

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
        >>> audit = FairnessAudit.from_estimator(
        ...     model, X, [0, 1, 0, 1], groups="site", min_per_class=1
        ... )
        >>> audit.by_group()["selection_rate"].to_dict()
        {1: 0.5, 2: 0.5}
        """
        _check_options(options, EstimatorAndAudit, "from_estimator")
        given: dict[str, Any] = {"sample_weight": None, "missing": "raise", **options}
        threshold, method = given.get("threshold", "auto"), given.pop("response_method", None)
        number, clusters = arguments.check_threshold(threshold), given.get("clusters")
        labels, clusters = labels_of_rows(groups, clusters, X, y, given["sample_weight"])
        of_rows = {name: given[name] for name in ("sample_weight", "missing")}
        of_rows |= {"y_true": y, "groups": labels}
        model, selected, given["threshold"] = arguments.predictions_of(
            estimator, X, threshold, given.get("pos_label"), method, of_rows
        )
        given |= {"clusters": clusters, "pos_label": model.positive}
        audit = cls._of_rows((y, model.scores, labels), selected, given, warn_labels=False)
        if number is not None:
            audit._threshold = number  # noqa: SLF001
        return audit

    @classmethod
    def _of_rows(
        cls,
        columns: tuple[Any, Any, Any],
        selected: NDArray[np.bool_] | None,
        options: Mapping[str, Any],
        *,
        warn_labels: bool = True,
    ) -> FairnessAudit:
        of_audit = dict(options)
        n_jobs = of_audit.pop("n_jobs", None)
        of_rows = {name: of_audit.pop(name) for name in _OF_ROWS if name in of_audit}
        rows = _rows.check_rows(*columns, **of_rows, warn_labels=warn_labels)
        pairs = GroupPairs.of_rows(rows, n_jobs)
        if selected is not None:
            selected = selected if rows.kept is None else selected[rows.kept]
            decided = rows._replace(scores=selected.astype(np.float64))
            of_audit["decisions"] = _counted(GroupPairs.of_rows(decided, n_jobs))
        audit = cls(GroupAUC(pairs, undefined="ignore"), **of_audit)
        if selected is None and audit._score_threshold is not None:
            selected = np.asarray(rows.scores, np.float64) >= audit._score_threshold
        audit._by_row = ByRow(rows, selected)
        return audit

    @functools.cached_property
    def answers(self) -> dict[str, dict[str, Answer]]:
        """Answers by column and by gap name.

        An `Answer` has the gap `estimate` with its limits `ci_low` and `ci_high`, the `pvalue`, the
        `verdict`, the groups `highest` and `lowest`, and the `table` of the groups.
        """
        # The ratio of AUCs has the verdict of their difference.
        own = (self._primary, "ratio") if self._primary == "difference" else (self._primary,)
        secondary = [
            question
            for name, question in QUESTIONS.items()
            if name != self._primary and not question.is_for_tolerance
        ]
        found = {}
        for column, sample in self.samples.items():
            n_secondary = max(sum(not question.missing(sample) for question in secondary), 1)
            found[column] = {
                name: replace(
                    answer(question, sample, self._n_audits * (1 if name in own else n_secondary)),
                    favorable=self._favorable,
                    limit=self._limits.get(name),
                )
                for name, question in QUESTIONS.items()
                if not question.is_for_tolerance or name in self._limits
            }
        return found

    @functools.cached_property
    def gaps(self) -> pd.DataFrame:
        """Gap table, with index levels `column` and `gap`.

        The columns are `estimate`, its limits `ci_low` and `ci_high`, `confidence_level`, `pvalue`,
        `verdict`, and the groups `highest` and `lowest`.
        """
        return gap_table(self.answers, [*ESTIMATE, "highest", "lowest"])

    @functools.cached_property
    def tolerances(self) -> pd.DataFrame:
        """Tolerance table, with index levels `column` and `gap`.

        The columns are `limit`, the gap's `estimate` with `ci_low` and `ci_high`, and `answer`:
        "met" if the interval is within the limit, "not met" if it is beyond it, or "undecided".
        """
        asked = {of: {gap: by[gap] for gap in self._limits} for of, by in self.answers.items()}
        found = gap_table(asked, ["limit", *ESTIMATE[:3], "tolerated"])
        return found.rename(columns={"tolerated": "answer"})

    def by_group(self, column: str | None = None) -> pd.DataFrame:
        """Return the compared groups' values with 95 % limits.

        Parameters
        ----------
        column : str, default=None
            A key of `samples`; None is the first one.

        Returns
        -------
        pandas.DataFrame
            A row for each group with `n_positives`, `n_negatives`, and for each answered question
            its value, such as `auc` and `selection_rate`, with limits ``*_ci_low`` and
            ``*_ci_high``. `calibration` is the mean score minus the share of positives, and
            `calibration_slope` is 1 for calibrated scores [1]_.

        References
        ----------
        .. [1] Cox, D. R. (1958). Two further applications of a model for binary regression.
           Biometrika 45(3/4). https://doi.org/10.1093/biomet/45.3-4.562
        """
        name = next(iter(self.samples)) if column is None else column
        _input.check_option("column", name, tuple(self.samples))
        sample = self.samples[name]
        columns: dict[str, Any] = {of: getattr(sample.report.counts, of) for of in _SIZES}
        for found in self.answers[name].values():
            if found.table is not None and not found.question.is_for_tolerance:
                for end in _ENDS:
                    columns[found.question.value + end] = found.table[end[1:] or "value"].to_numpy()
        if "calibration" in columns:
            for end, of in zip(_ENDS, sample.slopes()[:3], strict=True):
                columns[f"calibration_slope{end}"] = of
        return estimates_of(sample.report).table(columns)

    def compare(
        self, other: FairnessAudit, names: tuple[str, str] = ("before", "after")
    ) -> AuditComparison:
        """Compare with another model's audit on the same rows.

        Parameters
        ----------
        other : FairnessAudit
            The second model's audit, made by `from_predictions` or `from_estimator` from the same
            rows in the same order.
        names : tuple of two str, default=("before", "after")
            Names of the first and the second model.

        Returns
        -------
        AuditComparison
            Changes from this model to the other model, with an audit's outputs.

        Raises
        ------
        ValueError
            If an audit comes from counts, or if rows, columns or `min_per_class` differ.

        Examples
        --------
        >>> from skfedauc import FairnessAudit
        >>> from skfedauc.datasets import make_group_scores
        >>> people = make_group_scores("different", 400, 600, shifts=(0, 1), random_state=0)
        >>> shifted = people.y_score - 0.5 * (people.groups == "device 2")
        >>> audit, groups = FairnessAudit.from_predictions, people.groups
        >>> first = audit(people.y_true, people.y_score, groups=groups)
        >>> second = audit(people.y_true, shifted, groups=groups)
        >>> first.compare(second).answers["group"]["xauc_disparity"].verdict
        'smaller'
        """
        return AuditComparison(self, other, names)

    def within(self, column: str) -> dict[Any, FairnessAudit]:
        """Return an audit by the other columns within each label in a control column.

        A control column is a column whose differences are accepted, such as the hospital in an
        audit by sex. These audits share the error rates of one audit (Bonferroni).

        Parameters
        ----------
        column : str
            One of several group columns.

        Returns
        -------
        dict of FairnessAudit
            Audits by label in the control column.

        Raises
        ------
        ValueError
            If `column` is not one of several columns.

        Examples
        --------
        >>> import pandas as pd
        >>> from skfedauc import FairnessAudit
        >>> people = pd.DataFrame({"sex": list("fmfm") * 9, "site": [1, 1, 2, 2] * 9})
        >>> audit = FairnessAudit.from_predictions(
        ...     [0, 1, 1] * 12, [0.1, 0.9, 0.8, 0.3] * 9, groups=people, min_per_class=1
        ... )
        >>> {site: list(part.samples) for site, part in audit.within("site").items()}
        {1: ['sex'], 2: ['sex']}
        """
        names = samples.column_names(self.report)
        if not isinstance(column, str) or column not in names or len(names) < 2:
            raise ValueError(
                "column must be one of several group columns; got "
                f"{_words.shortened(column)}, and the columns are "
                f"[{_words.all_shortened(names)}]. Pass the control column to groups= as well."
            )
        parts = samples.levels_of(self.report, self._decided, column)
        known = [sample.names for sample in self.samples.values()]
        chosen = [tuple(name for name in of if name != column) for of in known]
        crossed, found = list(dict.fromkeys(filter(None, chosen))), {}
        for level, (pairs, decided) in parts.items():
            others = [name for name in names if name != column]
            report = GroupAUC(pairs, undefined="ignore", group_names=others)
            found[level] = _copied(
                self,
                report=report,
                decisions=None if decided is None else _counted(decided),
                _decided=decided,
                samples=samples.samples_of(report, decided, crossed, self._min_per_class),
                _n_audits=self._n_audits * len(parts),
                _by_row=None,
                _control=self._control | {column: level},
            )
        return found

    def sweep(self, thresholds: Any = None) -> ThresholdSweep:
        """Return the rates by group, and the gaps between groups, at many thresholds.

        Parameters
        ----------
        thresholds : float array-like, default=None
            Thresholds on the report's scores; rows with a score of at least the threshold are
            selected. None means all distinct scores, or at most 200 quantiles of more scores, and
            the audit's threshold.

        Returns
        -------
        ThresholdSweep
            The table `rates` by threshold and group, and the table `gaps` by threshold.

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
        >>> audit.sweep([0.3, 0.5]).gaps["equalized_odds_difference"].to_dict()
        {0.3: 1.0, 0.5: 1.0}
        """
        return threshold_sweep(
            self.report.counts,
            estimates_of(self.report).labels,
            thresholds=thresholds,
            threshold=self._score_threshold,
            least_rows=self._min_per_class,
        )

    @functools.cached_property
    def metric_frame(self) -> MetricFrame:
        """Fairlearn's `MetricFrame` of the selection, true and false positive rates of all groups.

        It is computed from counts. A rate without rows in its denominator is undefined, where
        fairlearn's ``true_positive_rate`` returns 0. Raises a ValueError without decisions.
        """
        if self._decided is None:
            raise ValueError(
                "a MetricFrame needs decisions; this audit has none: pass threshold= or y_pred=."
            )
        from fairlearn.metrics import MetricFrame, selection_rate

        # One weighted row for each label, decision and group. A rate is the selection rate of the
        # rows in its denominator.
        weight = np.asarray(samples.Decided.of(self._decided.counts).weight, np.float64)
        label, decision, group = np.indices(weight.shape).reshape(3, -1)
        weight = weight.ravel()
        of_rates = {
            "selection_rate": weight,
            "true_positive_rate": weight * label,
            "false_positive_rate": weight * (1 - label),
        }
        features = estimates_of(self.report).labels.to_frame(index=False)
        features.columns = list(samples.column_names(self.report))
        with np.errstate(invalid="ignore"):
            return MetricFrame(
                metrics=dict.fromkeys(of_rates, selection_rate),
                y_true=label,
                y_pred=decision,
                sensitive_features=features.iloc[group].reset_index(drop=True),
                sample_params={rate: {"sample_weight": of} for rate, of in of_rates.items()},
            )

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """The audit's declared and counted facts, as plain values.

        The `threshold` is None for decisions from elsewhere, or without decisions.
        The random `identifier` is that of the score counts (see `ScoreCounts.sources`), so the
        file of ``audit.report.counts.save(path)`` has the same one. The `date` is in UTC;
        ``SOURCE_DATE_EPOCH`` (seconds since 1970) replaces the present time.
        """
        counts, clusters = self.report.counts, estimates_of(self.report).pairs.clusters
        sizes = {name: int(getattr(counts, name).sum()) for name in _SIZES}
        seen, positive = view_of(counts).classes
        others = [label for label in seen if positive is not None and label != positive]
        return {
            "names": dict.fromkeys(arguments.NAMES) | self._names,
            "favorable": self._favorable,
            "threshold": self._threshold,
            "tolerances": dict(self._limits),
            "primary": self._primary,
            "min_per_class": self._min_per_class,
            "columns": list(self.samples),
            "within": {name: plain_label(label) for name, label in self._control.items()},
            "has_decisions": self.decisions is not None,
            "positive_class": positive,
            "negative_class": others[0] if others else None,
            "n_rows": sum(sizes.values()),
            **sizes,
            "n_groups": len(counts),
            "n_missing": counts.n_missing,
            "n_withheld_groups": counts.disclosure.withheld.n_groups,
            "n_clusters": None if clusters is None else clusters.n_clusters,
            "n_shared_clusters": None if clusters is None else clusters.n_shared,
            "is_weighted": view_of(counts).is_weighted,
            "disclosure": counts.disclosure.level,
            "identifier": identifier_of(counts),
            "date": self._date,
            "versions": {name: importlib.metadata.version(name) for name in _PACKAGES},
        }


def _check_options(options: Mapping[str, Any], known: Any, constructor: str) -> None:
    if "decisions" in options:
        raise TypeError(
            f"decisions are counts for a report; got {_words.described(options['decisions'])} with "
            "rows. Pass predicted labels as y_pred= to FairnessAudit.from_predictions, or use "
            "FairnessAudit(report, decisions=...)."
        )
    _input.check_keywords(options, known.__annotations__, f"FairnessAudit.{constructor}")
    _labels.check_missing(options.get("missing", "raise"))
    arguments.check_tolerances(options.get("tolerances"), options.get("favorable"))


def _counted(pairs: GroupPairs) -> ScoreCounts:
    return pairs.counts if pairs.clusters is None else pairs.clusters.units


def _copied(audit: FairnessAudit, **changed: Any) -> FairnessAudit:
    found = object.__new__(type(audit))
    vars(found).update(audit.__getstate__() | changed)
    return found


def joined(whole: FairnessAudit, audits: Sequence[FairnessAudit]) -> FairnessAudit:
    """Return an audit of all rows with the columns of each of the audits `within` a column."""
    found = {}
    for parts in zip(*(audit.samples.values() for audit in audits), strict=True):
        for audit, sample in zip(audits, parts, strict=True):
            control = audit._control.items()  # noqa: SLF001
            within = "".join(f" within {k} {_words.label_text(v)}" for k, v in control)
            one = replace(sample, within=within)
            found[one.column] = one
    n_audits = audits[0]._n_audits  # noqa: SLF001
    return _copied(whole, samples=found, _n_audits=n_audits)
