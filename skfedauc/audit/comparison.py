"""`AuditComparison`: two models, or one model before and after a mitigation, on the same rows."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skfedauc import _input, _words
from skfedauc._output_file import check_target, write_whole
from skfedauc.audit import arguments, comparison_rows
from skfedauc.audit.changes import Changes, ComparedRows
from skfedauc.audit.comparison_card import card_of
from skfedauc.audit.comparison_findings import ComparisonTables, findings
from skfedauc.audit.comparison_rows import ModelRows
from skfedauc.audit.counting import Threshold
from skfedauc.audit.document import as_json, comparison_document_of, text_or_file
from skfedauc.audit.facts import facts_of_models
from skfedauc.audit.fairness_audit import FairnessAudit
from skfedauc.audit.tables import Favorable
from skfedauc.audit.tolerances import MissingDecisionsError
from skfedauc.counts import left_out

if TYPE_CHECKING:
    import os

    from skfedauc.plotting import CandidatesDisplay


class AuditComparison:
    """Comparison of the fairness audits of two models on the same rows.

    The two models can be a model before and after a mitigation. The comparison tests the changes
    from the first to the second model, paired by row, and shows whether the second model ranks rows
    differently within groups, or only moves groups against each other. Use
    `AuditComparison.from_predictions` or `AuditComparison.from_estimators`.

    Parameters
    ----------
    audits : mapping of str to FairnessAudit
        Audits of the first and of the second model, by name.
    compared : ComparedRows
        Labels, groups, and the scores and decisions of both models, by row.
    names : mapping of str to str, default=None
        Declared names of the model, the label and the score.

    Attributes
    ----------
    audits : dict of str to FairnessAudit
        Audit of each model.
    models : tuple of two str
        Names of the first and of the second model.
    names : dict of str to str
        Declared names.

    See Also
    --------
    FairnessAudit : Audit of one model.
    compare_models : Comparison of the AUCs of several models.

    Notes
    -----
    The pooled AUC is a weighted mean of the AUC of the pairs within groups and the AUC of the pairs
    across groups, with shares of pairs that depend on labels and groups only. The change of the
    pooled AUC is therefore exactly the sum of two contributions; see `decomposition`.

    The intervals and tests of AUCs are DeLong's paired method [1]_ with Student's t distribution,
    as in `compare_models`. For the xAUC disparities, the variance comes from the differences of
    both models' placement values by row. Rates have Newcombe's paired interval (method 10) [2]_ and
    McNemar's exact test [3]_. The limits of the change of a gap follow from the limits of both gaps
    and their correlation [4]_.

    Let p, l and u be a rate of the second model and its Wilson limits, and q, l2 and u2 those of
    the first model. Newcombe's limits of the change p - q are::

        p - q - sqrt((p - l)^2 - 2 phi (p - l) (u2 - q) + (u2 - q)^2)
        p - q + sqrt((u - p)^2 - 2 phi (u - p) (q - l2) + (q - l2)^2)

    Of the n rows, a have a positive decision of both models, b and c of one model only, and d of
    none. Then ``phi = e / sqrt((a + b) (c + d) (a + c) (b + d))``, where e is ``a d - b c``. If
    ``a d - b c`` is positive, e is ``max(a d - b c - n / 2, 0)``.

    Holm's method with weights adjusts the p values of all changes together. All questions have
    equal weight: the pooled AUC, the AUCs within and across groups, the group AUCs, the xAUC
    disparities, each rate, and the gaps. About 5 % of comparisons of equally good models with
    equal scores of groups make a claim; see :doc:`/reference/calibration`.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
       two or more correlated receiver operating characteristic curves: a nonparametric approach.
       Biometrics 44(3). https://doi.org/10.2307/2531595
    .. [2] Newcombe, R. G. (1998). Improved confidence intervals for the difference between binomial
       proportions based on paired data. Statistics in Medicine 17(22).
       https://doi.org/10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>3.0.CO;2-C
    .. [3] McNemar, Q. (1947). Note on the sampling error of the difference between correlated
       proportions or percentages. Psychometrika 12(2). https://doi.org/10.1007/BF02295996
    .. [4] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
       measures: a general approach. Statistics in Medicine 27(10).
       https://doi.org/10.1002/sim.3095

    Examples
    --------
    >>> from skfedauc import AuditComparison
    >>> from skfedauc.datasets import make_group_scores
    >>> people = make_group_scores("different", 400, 600, shifts=(0, 1), random_state=0)
    >>> shifted = people.y_score - 1.0 * (people.groups == "device 2")
    >>> comparison = AuditComparison.from_predictions(
    ...     people.y_true, {"before": people.y_score, "after": shifted}, groups=people.groups
    ... )
    >>> comparison.decomposition[["before", "after", "contribution", "reordered"]].round(3)
            before  after  contribution  reordered
    within   0.744  0.744         0.000       0.00
    cross    0.699  0.743         0.022       0.22
    pooled   0.722  0.744         0.022       0.11
    """

    def __init__(
        self,
        audits: Mapping[str, FairnessAudit],
        compared: ComparedRows,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.audits = dict(audits)
        self.models = tuple(self.audits)
        self.names = arguments.check_names(names)
        self._changes = Changes(list(self.audits.values()), compared)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_scores: Mapping[str, Any],
        *,
        groups: Any,
        y_preds: Mapping[str, Any] | None = None,
        threshold: Threshold | Mapping[str, Threshold] = "auto",
        sample_weight: Any = None,
        pos_label: Any = None,
        min_per_class: int = 10,
        reference: Any = "rest",
        favorable: Favorable | None = None,
        names: Mapping[str, str] | None = None,
        tolerances: Mapping[str, float] | None = None,
        missing: _input.Missing = "raise",
        n_jobs: int | None = None,
    ) -> AuditComparison:
        """Compare the predictions of two models.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_scores : mapping of str to array-like of shape (n_rows,)
            Finite scores of the first and of the second model by name, such as ``{"before": ...,
            "after": ...}``; higher scores mean the positive class.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns)
            Sensitive features. Each combination of several columns is a group.
        y_preds : mapping of str to array-like of shape (n_rows,), default=None
            Predicted labels of both models, with the names of `y_scores`. Pass `y_preds` if
            decisions do not follow from one threshold for all rows.
        threshold : float, "auto", None or mapping, default="auto"
            Rows with a score of at least the threshold have positive predictions; see
            `FairnessAudit`. A mapping has a threshold for each model. None compares the ranking
            alone. Omit `threshold` if you pass `y_preds`. Without decisions of both models, the
            comparison covers the ranking alone.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        min_per_class : int, default=10
            Least number of rows, positives or negatives for a comparison; see `FairnessAudit`.
        reference : "rest" or a group's label, default="rest"
            Reference for the AUC of each group in the two audits; see `FairnessAudit`.
        favorable : {"positive", "negative"} or None, default=None
            The favorable outcome; see `FairnessAudit`.
        names : mapping of str to str, default=None
            Names of the model, the label and the score; see `FairnessAudit`. The name of the model
            covers both models, whose own names are those of `y_scores`.
        tolerances : mapping of str to float, default=None
            Limits of gaps, with an answer for each model; see `FairnessAudit`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        n_jobs : int, default=None
            Number of threads. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors.

        Returns
        -------
        AuditComparison

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described. The message gives the remedy.

        Examples
        --------
        >>> from skfedauc import AuditComparison
        >>> comparison = AuditComparison.from_predictions(
        ...     [0, 1, 0, 1],
        ...     {"before": [0.2, 0.6, 0.5, 0.4], "after": [0.2, 0.6, 0.3, 0.4]},
        ...     groups=["a", "a", "b", "b"],
        ...     min_per_class=1,
        ... )
        >>> comparison.by_group.loc["auc", "change"].to_dict()
        {'a': 0.0, 'b': 1.0}
        """
        predictions = comparison_rows.of_predictions(
            y_true, y_scores, y_preds, groups, threshold, pos_label
        )
        of_rows = {
            "groups": groups,
            "sample_weight": sample_weight,
            "pos_label": pos_label,
            "missing": missing,
        }
        return cls._of_models(
            comparison_rows.counted(y_true, predictions, of_rows, n_jobs),
            predictions.thresholds,
            min_per_class=min_per_class,
            reference=reference,
            favorable=favorable,
            names=names,
            tolerances=tolerances,
        )

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        groups: Any,
        threshold: Threshold = "auto",
        sample_weight: Any = None,
        pos_label: Any = None,
        response_method: str | tuple[str, ...] | None = None,
        min_per_class: int = 10,
        reference: Any = "rest",
        favorable: Favorable | None = None,
        names: Mapping[str, str] | None = None,
        tolerances: Mapping[str, float] | None = None,
        missing: _input.Missing = "raise",
        n_jobs: int | None = None,
    ) -> AuditComparison:
        """Compare two fitted estimators on the same rows.

        Parameters
        ----------
        estimators : mapping of str to estimator object
            The first and the second fitted binary classifier by name, such as ``{"before": ...,
            "after": ...}``.
        X : array-like of shape (n_rows, n_features)
            Input of both estimators.
        y : array-like of shape (n_rows,)
            True labels.
        groups : str, list of str, or array-like of shape (n_rows,) or (n_rows, n_columns)
            Name or names of columns of X, or the labels themselves. If X has an index, a pandas
            Series matches the rows of X by index label.
        threshold : float, "auto" or None, default="auto"
            "auto" uses the decisions of a single call of ``predict`` of each estimator, so tuned
            thresholds and randomized classifiers work. With a number, rows with a score of at least
            the number have positive predictions. None compares the ranking alone.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label. None means ``classes_[1]`` of the estimators.
        response_method : str, tuple of str or None, default=None
            Methods of the estimators that return scores, in order of preference. None means the own
            method of each estimator, as in :meth:`FairnessAudit.from_estimator`; an estimator with
            decisions only, such as fairlearn's ``ThresholdOptimizer``, is compared by `predict`.
        min_per_class : int, default=10
            Least number of rows, positives or negatives for a comparison; see `FairnessAudit`.
        reference : "rest" or a group's label, default="rest"
            Reference for the AUC of each group in the two audits; see `FairnessAudit`.
        favorable : {"positive", "negative"} or None, default=None
            The favorable outcome; see `FairnessAudit`.
        names : mapping of str to str, default=None
            Names of the model, the label and the score; see `FairnessAudit`. The name of the model
            covers both models, whose own names are those of `estimators`.
        tolerances : mapping of str to float, default=None
            Limits of gaps, with an answer for each model; see `FairnessAudit`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        n_jobs : int, default=None
            Number of threads for counting, not for prediction. None means 1 unless in a
            `joblib.parallel_config` context; -1 means all processors.

        Returns
        -------
        AuditComparison

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described. The message gives the remedy.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.linear_model import LogisticRegression
        >>> from skfedauc import AuditComparison
        >>> X = pd.DataFrame({"age": [30, 60, 40, 70] * 9, "site": [1, 1, 2, 2] * 9})
        >>> y = [0, 1, 0, 1, 1, 1] * 6
        >>> models = {str(C): LogisticRegression(C=C).fit(X, y) for C in (0.001, 1.0)}
        >>> comparison = AuditComparison.from_estimators(models, X, y, groups="site")
        >>> comparison.models
        ('0.001', '1.0')
        """
        _input.check_groups_given(groups)
        labels = _input.groups_of_rows(groups, X)
        _input.check_row_order({"X": X, "y": y, "groups": labels, "sample_weight": sample_weight})
        of_rows = {"groups": labels, "sample_weight": sample_weight, "missing": missing}
        predictions, positive = comparison_rows.of_estimators(
            estimators, X, y, threshold, pos_label, response_method, of_rows
        )
        of_rows |= {"pos_label": positive, "warn_labels": False}
        comparison = cls._of_models(
            comparison_rows.counted(y, predictions, of_rows, n_jobs, groups),
            predictions.thresholds,
            min_per_class=min_per_class,
            reference=reference,
            favorable=favorable,
            names=names,
            tolerances=tolerances,
        )
        number = arguments.check_threshold(threshold)
        if number is not None:
            for audit in comparison.audits.values():
                audit.threshold = number
        return comparison

    @classmethod
    def _of_models(
        cls,
        models: Mapping[str, ModelRows],
        thresholds: Mapping[str, Threshold],
        *,
        names: Mapping[str, str] | None,
        **options: Any,
    ) -> AuditComparison:
        """Audit two models with the same options, and compare them."""
        names, audits = arguments.check_names(names), {}
        for model, rows in models.items():
            own = f"{names['model']}, {model}" if "model" in names else model or "(no name)"
            try:
                audits[model] = FairnessAudit(
                    rows.report,
                    decisions=rows.decisions,
                    threshold=thresholds[model],
                    names=names | {"model": own},
                    **options,
                )
            except MissingDecisionsError as error:
                raise error.of_model(_words.shortened(model)) from None
        at = [audit.threshold for audit in audits.values()]
        return cls(audits, comparison_rows.compared_rows(list(models.values()), at), names)

    # The tables ----------------------------------------------------------------------------

    @functools.cached_property
    def quality(self) -> pd.DataFrame:
        """AUC of both models overall, within groups, and in the worst group, with the change.

        The rows are those of `FairnessAudit.quality`. `before` and `after` are the values of the
        first and of the second model. `change` is ``after - before`` with the limits `ci_low` and
        `ci_high` of a 95 % interval, `pvalue` tests the null hypothesis of no change, and
        `pvalue_adjusted` accounts for all claims (see `n_claims`). The worst group has no test,
        because the models may have different worst groups.

        The test of the pooled AUC holds for random numbers of positives and negatives of each
        group, as in a random sample of rows, and for fixed numbers; see `compare_models`. The
        average within groups has the observed shares of the groups.
        """
        return self._changes.quality()

    @functools.cached_property
    def decomposition(self) -> pd.DataFrame:
        """Change of the pooled AUC, from pairs within groups and from pairs across groups.

        The rows are ``within``, ``cross`` and ``pooled``: the pairs of a positive and a negative of
        the same group, of different groups, and all pairs. `share` is the share of the pairs.
        `before`, `after`, `change`, `ci_low`, `ci_high`, `pvalue` and `pvalue_adjusted` are the
        AUCs of these pairs and the test of their change, as in `quality`. The tests of ``cross``
        and ``pooled`` hold for random and for fixed numbers of rows of each group. `contribution`
        is the share times the change. The two contributions add up exactly to the change of the
        pooled AUC.

        `raised` and `lowered` are the shares of these pairs whose order became better or worse.
        `change` is `raised` minus `lowered`. `reordered` is the sum of `raised` and `lowered`,
        Kendall's distance between both scores over these pairs. A new tie or a lost tie counts one
        half, and `reversed` is the share of the pairs in the opposite order without ties. Within
        groups, `reordered` is 0 if the second model only moves groups against each other, for
        example by an increasing function of the scores of each group. `reversed` is 0 if this
        function has the same value for several scores.
        """
        return self._changes.decomposition()

    @functools.cached_property
    def by_group(self) -> pd.DataFrame:
        """Changes in each group: AUC, xAUC disparity, and rates of decisions.

        The index has the level `quantity` and the group. The quantities are ``auc``,
        ``xauc_disparity`` and, with decisions of both models, ``selection_rate``,
        ``true_positive_rate`` and ``false_positive_rate``; see `FairnessAudit.by_group`. The
        columns are `before`, `after`, `change`, `ci_low`, `ci_high`, `pvalue` and
        `pvalue_adjusted`, as in `quality`. Limits and p values of small groups are NaN. The
        intervals have no adjustment.
        """
        return self._changes.by_group()

    @functools.cached_property
    def gaps(self) -> pd.DataFrame:
        """Gaps between groups of both models, with the change.

        The rows are rows of `FairnessAudit.gaps`: ``difference``, ``ratio``, ``cross_difference``
        and, with decisions of both models, the gaps of the rates. `by_group` has the change of the
        xAUC disparity of each group. The columns are `before`, `after`, `change`, `ci_low`,
        `ci_high`, `pvalue` and `pvalue_adjusted`, as in `quality`. The differences of AUCs and of
        rates have intervals, and other gaps do not. The change of equalized odds has no adjusted p
        value, because its two rates have adjusted p values.
        """
        return self._changes.gaps()

    @functools.cached_property
    def tolerances(self) -> pd.DataFrame:
        """Table of the declared tolerances, with an answer for each model.

        The columns are those of `FairnessAudit.tolerances`. The index has the levels `gap` and
        `model`, so ``tolerances["answer"].unstack()`` has the answers for both models side by side.
        The answers have no test of the change from one model to the other; see `gaps`.

        Examples
        --------
        >>> from skfedauc import AuditComparison
        >>> from skfedauc.datasets import make_group_scores
        >>> people = make_group_scores("different", 400, 600, shifts=(0, 1), random_state=0)
        >>> shifted = people.y_score - 1.0 * (people.groups == "device 2")
        >>> comparison = AuditComparison.from_predictions(
        ...     people.y_true,
        ...     {"before": people.y_score, "after": shifted},
        ...     groups=people.groups,
        ...     threshold=0.5,
        ...     tolerances={"demographic_parity_ratio": 0.8},
        ... )
        >>> comparison.tolerances[["value", "limit", "answer"]].round(2)
                                         value  limit   answer
        gap                      model
        demographic_parity_ratio before   0.58    0.8  not met
                                 after    0.98    0.8      met
        """
        table = pd.concat(
            {model: audit.tolerances for model, audit in self.audits.items()}, names=["model"]
        ).swaplevel()
        return table.iloc[np.arange(len(table)).reshape(2, -1).T.ravel()]

    @property
    def n_claims(self) -> int:
        """Number of tested changes. The adjusted p values account for all of these changes."""
        return self._changes.claims.family.n_claims

    @functools.cached_property
    def tables(self) -> ComparisonTables:
        """Tables and facts of the comparison: the input of the findings and the page."""
        audits = tuple(self.audits.values())
        return ComparisonTables(
            models=self.models,
            facts=self.facts,
            reports=tuple(audit.report for audit in audits),
            compared=tuple(audit.compared for audit in audits),
            favorable=audits[0].favorable,
            n_deciding=sum(audit.decisions is not None for audit in audits),
            quality=self.quality,
            decomposition=self.decomposition,
            by_group=self.by_group,
            gaps=self.gaps,
            tolerances=self.tolerances,
            n_claims=self.n_claims,
            columns=audits[0].columns,
        )

    @functools.cached_property
    def findings(self) -> tuple[str, ...]:
        """Findings of the comparison as sentences."""
        return findings(self.tables)

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """Declared facts and provenance of the comparison, as plain values.

        The facts are those of `FairnessAudit.facts`. The entry `models` has the facts of each model
        by name: `threshold`, `has_decisions`, and the random `identifier` of the model's counts.

        Examples
        --------
        >>> from skfedauc import AuditComparison
        >>> scores = {"before": [0.2, 0.6, 0.5, 0.4], "after": [0.2, 0.6, 0.3, 0.4]}
        >>> comparison = AuditComparison.from_predictions(
        ...     [0, 1, 0, 1], scores, groups=["a", "a", "b", "b"], names={"label": "default"}
        ... )
        >>> comparison.facts["names"]
        {'model': None, 'label': 'default', 'score': None}
        >>> [facts["threshold"] for facts in comparison.facts["models"].values()]
        [0.5, 0.5]
        """
        return facts_of_models(
            self.names, {model: audit.facts for model, audit in self.audits.items()}
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as nested plain values.

        Returns
        -------
        dict
            The keys are `facts`, `findings` and `n_claims`, and the tables `quality`,
            `decomposition`, `gaps`, `tolerances` and `groups`. Each entry of `tolerances` has the
            `limit`, and the answers `before` and `after`. `groups` is a list with the changes of
            each group by quantity. Undefined values are None. Labels are as in
            `FairnessAudit.to_dict`, which has the results of one of the `audits`.

        Examples
        --------
        >>> from skfedauc import AuditComparison
        >>> scores = {"before": [0.2, 0.6, 0.5, 0.4], "after": [0.2, 0.6, 0.3, 0.4]}
        >>> comparison = AuditComparison.from_predictions(
        ...     [0, 1, 0, 1], scores, groups=["a", "a", "b", "b"], min_per_class=1
        ... )
        >>> comparison.to_dict()["gaps"]["difference"]["change"]
        -1.0
        """
        return comparison_document_of(self.tables, self.findings)

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
        """Return the comparison as sections of a model card in Markdown, or write them to a file.

        The sections are Models, Evaluation data, Changes, Changes by group, Tolerances, Findings
        and Caveats, with headings of level 2 and tables that GitHub renders. The table of the
        groups has at most 50 groups, those with the largest changes of the AUC.

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
        """
        return text_or_file(lambda: card_of(self.to_dict()), path)

    def to_html(
        self, path: str | os.PathLike[str], *, candidates: CandidatesDisplay | None = None
    ) -> None:
        """Write the comparison to a self-contained HTML page.

        Parameters
        ----------
        path : str or os.PathLike
            File to write. `to_html` replaces an existing file after completing the page.
        candidates : CandidatesDisplay, default=None
            Candidates of the search that chose one of the models. The page then also has the
            scores and gaps of all candidates, as a plot and as a table.

        Raises
        ------
        TypeError
            If `candidates` is not a CandidatesDisplay.
        ImportError
            If jinja2 or matplotlib is missing; ``pip install "skfedauc[html]"`` installs both.
        OSError
            If writing the file fails. An existing file then remains unchanged.
        """
        from skfedauc.audit.comparison_page import page_of

        check_target(path)
        write_whole(path, page_of(self.tables, candidates))

    def __repr__(self) -> str:
        report = next(iter(self.audits.values())).report
        first, second = map(_words.shortened, self.models)
        headline = (
            f"AuditComparison of {first} and {second} on "
            f"{_words.counted(report.n_groups, 'group')} by "
            f"{', '.join(self.tables.columns)}{left_out(report.counts.n_missing)}"
        )
        return "\n".join([headline, *(f"- {finding}" for finding in self.findings)])
