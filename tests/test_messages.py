"""Messages say what is wrong, name the argument, and quote only the beginning of long labels."""

import functools
import inspect
import itertools
import traceback
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from surface import COUNTS, PROBABILITIES, REPORT, SEVERAL, X, Y, public_functions

from skfedauc import Bins, Disclosure, MulticlassCounts
from skfedauc.cli.main import main
from skfedauc.measures import AveragePrecision

FUNCTIONS = list(public_functions())
BY_NAME = {function.name: function for function in FUNCTIONS}
CLASS_COUNTS = MulticlassCounts.from_predictions(**SEVERAL)
LACKS = r"\. If the rows lack a class, pass the labels of all classes as labels=\."
WORDS = pd.DataFrame(PROBABILITIES, columns=["p2", "p0", "p1"])
REPEATED = pd.Series(["va"] * 3, index=[7, 7, 8])
# What a function says of an argument, by function and error. That messages name their argument is
# tested in test_bad_arguments.py.
SAID = {
    ("rows_needed", ValueError): [
        ({"width": None}, "one of width, difference, equivalence or non_inferiority; got none"),
        ({"difference": 0.1}, r"exactly one of .*; got width and difference"),
        ({"width": 1e-9}, "width=1e-09 requires more than .* rows per group; pass a larger"),
        ({"width": None, "difference": 0.8}, r"difference must be below the AUC, 0\.8; got 0\.8"),
        ({"width": None, "non_inferiority": 0.9}, r"non_inferiority must be below the AUC, 0\.8"),
        ({"auc": 80}, "auc must be a number between 0 and 1; got 80.*GroupAUC"),
        ({"prevalence": None}, "prevalence, the share of positives, is required"),
        ({"width": None, "difference": 0.1, "n_groups": 1}, "n_groups must be a .* at least 2"),
        ({"width": None, "difference": 0.1, "n_groups": 2_001}, "n_groups must be a .* most 2,000"),
        ({"confidence_level": 95}, r"Pass 0\.95 for 95 %"),
    ],
    ("GroupAUC.test_margin", ValueError): [
        ({"reference": 80}, r"reference must be .* 0 and 1; got 80\. Pass 0\.8 for 80 %\."),
        ({"reference": 0.8, "margin": -0.1}, r"margin must be .*; got -0\.1"),
        ({"reference": 0.8, "margin": 0.8}, r"at least 0 and below 0\.8; got 0\.8\. All"),
    ],
    ("GroupAUC.average", ValueError): [
        ({"weights": {"a": 1}}, r"1 of 2 groups have no weight, such as \['b'\]"),
        ({"weights": {"a": 1, "b": 1, "z": 1}}, r"1 label without a group, such as \['z'\]"),
        ({"weights": {"a": 1, "b": -1}}, "weights must be 0 or more; got 1 negative"),
        ({"weights": {"a": 1, "b": np.nan}}, "weights must be finite; got 1 NaN"),
        ({"weights": "worst"}, "not an average.*macro, samples, positives, negatives, within"),
        ({"weights": "weighted"}, "'weighted' corresponds to 'positives'"),
        ({"weights": "micro"}, "'micro' corresponds to 'pooled'"),
    ],
    ("GroupAUC.average", TypeError): [
        ({"weights": {"a": "1", "b": "2"}}, "weights must hold numbers"),
        ({"weights": [1, 2]}, r"a mapping with .*; got .*Pass dict\(zip\(labels, weights"),
    ],
    ("periods.find_change", ValueError): [
        ({"counts": COUNTS}, "must have the last group column 'period'"),
        ({"n_reference": 12}, "more than n_reference=12 periods"),
    ],
    ("ScoreCounts.to_vector", ValueError): [
        ({"groups": None}, "these counts have groups, and groups is None"),
        ({"groups": []}, "groups has no labels"),
        ({"groups": ["a", "b", "b"]}, "each label once; got 'b'"),
        ({"bins": Bins.of_scores()}, r"fixed number of bins.*Bins\.at\(edges\)"),
    ],
    ("ScoreCounts.to_vector", TypeError): [({"groups": [1, 2]}, "groups has labels of another")],
    ("ScoreCounts.from_vector", ValueError): [
        ({"modulus": 100}, "modulus must be a power of two"),
        ({"bins": Bins.of_scores()}, r"fixed number of bins.*Bins\.at\(edges\)"),
    ],
    ("ScoreCounts.regroup", ValueError): [
        ({"to": {"a": 1}}, "regroup has no entry for 1 of 2 groups, among them 'b';"),
        ({"to": lambda label: None}, "gave None for 2 of 2 groups"),
    ],
    ("ScoreCounts.regroup", TypeError): [
        ({"to": ["x", "y"]}, "mapping from labels to labels or a function"),
        ({"to": lambda label: 0.5}, "got 0.5 of type float"),
        ({"to": lambda label: [label]}, "give a tuple"),
        ({"to": {"a": 1, "b": "one"}}, "different kinds"),
    ],
    ("ScoreCounts.map_scores", ValueError): [
        ({"function": lambda score: score[:1]}, "for each distinct score; got 1 for"),
        ({"function": lambda score: score[:, None] * [1, 2]}, "function must be one-dimensional"),
        ({"function": lambda score: score * np.nan}, "the result of function"),
    ],
    ("ScoreCounts.map_scores", TypeError): [
        ({"function": lambda score: score.astype(str)}, "the result of function"),
    ],
    ("ScoreCounts.merge", TypeError): [
        ({"parts": "a.skfa"}, "iterable of score counts or paths, .*; got str 'a.skfa'"),
        ({"parts": {7: COUNTS}}, "mapping from names to these; got the name int 7"),
        ({"parts": [b"a.skfa"]}, "got a part of type bytes. ScoreCounts.from_bytes reads"),
        ({"parts": pl.DataFrame({"counts": [1]})}, r"the column table\['counts'\] .* DataFrame"),
    ],
    ("ScoreCounts.with_source", ValueError): [({"name": "\ud800"}, "name holds .*valid Unicode")],
    ("ScoreCounts.with_source", TypeError): [
        ({"metadata": {"unit": 3}}, "metadata must map text to text; got"),
        ({"secret": b"short"}, "secret must be at least 16 random bytes"),
    ],
    ("Disclosure", ValueError): [
        ({"level": "summary", "tell_withheld": "labels"}, "tell_withheld='labels' has no"),
    ],
    ("ScoreCounts.reduced", ValueError): [
        ({"disclosure": Disclosure("exact", min_count=5)}, "min_count needs bins of one rule or a"),
        ({"disclosure": Disclosure("bins", min_count=2)}, "min_count must be .* of at least 3"),
        ({"max_cells": 10}, "max_cells needs disclosure"),
        ({"disclosure": None, "max_cells": 1}, "at least the number of groups, 2, .*; got 1"),
    ],
    ("MulticlassCounts.from_predictions", ValueError): [
        ({"y_true": 0 * Y}, f"^y_true must hold three .*; got 0{LACKS}$"),
        ({"y_true": Y}, r"; got 0, 1\. For two classes use GroupAUC\. If the rows lack"),
        ({"y_true": Y, "labels": [0, 1]}, r"^labels must .*; got 0, 1\. For two .* GroupAUC\.$"),
        ({"labels": [0]}, r"^labels must hold three or more different classes; got 0\.$"),
        ({"labels": [0, 1, 2, 3]}, r"got an array of shape \(80, 3\)\.$"),
        ({"y_score": WORDS}, r"are 'p2', 'p0', 'p1', but the classes are 0, 1, 2\. Rename"),
        ({"y_score": WORDS.set_axis(["0", "1", "1"], axis=1)}, r"are '0', '1', '1', but .* Rename"),
        (
            {"y_score": WORDS.set_axis([0, 1, 2], axis=1), "labels": [2, 0, 1]},
            "0, 1, 2, are labels .* the classes, 2, 0, 1, .* default names",
        ),
    ],
    ("MulticlassCounts.merge", ValueError): [({"parts": []}, "parts is empty")],
    ("MulticlassCounts.merge", TypeError): [
        ({"parts": [CLASS_COUNTS, COUNTS]}, "parts must be an iterable of MulticlassCounts; got"),
    ],
    ("MulticlassGroupAUC", TypeError): [
        ({"counts": COUNTS}, "counts must be a MulticlassCounts; got ScoreCounts"),
    ],
    ("GroupAUC", TypeError): [
        ({"counts": CLASS_COUNTS}, "or MulticlassGroupAUC for a MulticlassCounts"),
    ],
    ("GroupAUC.from_predictions", ValueError): [
        (SEVERAL, "MulticlassGroupAUC, and multi_class= of functions"),
    ],
    ("FairnessAudit.from_predictions", ValueError): [
        (SEVERAL, "MulticlassGroupAUC, and multi_class= of functions"),
    ],
    ("group_roc_auc_score", ValueError): [
        (SEVERAL, "MulticlassGroupAUC, and multi_class= of functions"),
        ({"multi_class": "ovr", "pos_label": 1}, "pos_label has no meaning with multi_class"),
        ({"multi_class": "ovr", "measure": AveragePrecision()}, "measure= .* cannot be combined"),
        ({"labels": [0, 1]}, "labels needs multi_class"),
    ],
    ("compare_models", ValueError): [
        (
            {"y_true": SEVERAL["y_true"], "scores": dict.fromkeys("ab", PROBABILITIES)},
            r"classes\[i\] and scores\['a'\]\[:, i\]\.",
        ),
    ],
    ("plotting.GroupRocCurveDisplay.from_report", ValueError): [
        ({"max_groups": 7}, "max_groups must be at most 6"),
    ],
    ("plotting.GroupAUCDisplay.from_report", TypeError): [
        ({"report": {"a": COUNTS, "b": REPORT}}, r"dict\. .* its reports, such as report\['b'\]"),
        ({"report": {"auc": 0.8}}, r"got dict\. Pass GroupAUC\(counts\), or use from_predictions"),
    ],
    ("make_group_auc_scorer", ValueError): [
        ({"statistic": "difference"}, "neg_difference"),
        ({"statistic": "weighted"}, "'positives'"),
        ({"statistic": "roc"}, "'pooled', 'macro'"),
        ({"groups": REPEATED}, r"1 repeated labels, such as \[7\].*reset_index"),
        ({"undefined": 2}, "0 to 1"),
    ],
    ("group_auc_scoring", ValueError): [
        ({"statistics": []}, "at least one"),
        ({"statistics": ["macro"] * 2}, "repeated: .'macro'"),
        ({"each_group": ["a", "a"]}, "repeated: .'auc_a'"),
        ({"each_group": ["c"]}, r"names \['c'\], which no row has"),
        (
            {"groups": ["sex", "band"], "each_group": ["m"]},
            r"tuples of 2 labels.*'sex', 'band'.*got 'm'",
        ),
    ],
    ("group_auc_scoring", TypeError): [
        ({"statistics": "macro"}, r"\['macro'\]"),
        ({"each_group": "va"}, r"\['va'\]"),
    ],
}
SAID = [(*which, *of) for which, told in SAID.items() for of in told]


@pytest.mark.parametrize(("name", "error", "change", "message"), SAID)
def test_messages_say_what_to_pass(name, error, change, message):
    with pytest.raises(error, match=message):
        BY_NAME[name](**change)


def test_confidence_levels_are_passed_by_name():
    kinds = {
        function.name: parameter.kind
        for function in FUNCTIONS
        if (parameter := inspect.signature(function.function).parameters.get("confidence_level"))
    }
    assert len(kinds) > 10
    assert set(kinds.values()) == {inspect.Parameter.KEYWORD_ONLY}, kinds


LONG = "x" * 50_000
MOST = 2_000  # largest number of characters of a message
# Values for each argument in turn, each with a long label or text
VALUES = [LONG, ["a", LONG], {LONG: 1}]


def message_of(call):
    """Yield the messages of the error and of the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            *_, (frame, _) = traceback.walk_tb(error.__traceback__)
            # Skip errors of other packages and of the system, which quotes the whole path.
            if not isinstance(error, OSError) and frame.f_globals.get("__name__", "").startswith(
                "skfedauc"
            ):
                yield str(error)
    yield from (str(warning.message) for warning in caught)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_no_argument_makes_a_message_long(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in itertools.product(function.parameters, VALUES):
        for text in message_of(functools.partial(function, **{name: value})):
            assert len(text) <= MOST, (name, text[:MOST])


@pytest.mark.parametrize(
    "option",
    ["label", "score", "group", "pos-label", "weight", "encoding", "threshold", "decisions"],
)
def test_no_option_makes_a_message_long(tmp_path, capsys, option):
    path = tmp_path / "p.csv"
    X.assign(y=Y).to_csv(path, index=False)
    options = {"label": "g" if option == "score" else "y", "score": "s", "group": "g", option: LONG}
    arguments = [text for name, value in options.items() for text in (f"--{name}", value)]
    arguments += ["--json"] if option in ("threshold", "decisions") else []
    assert main(["audit", str(path), *arguments]) == 2
    assert len(capsys.readouterr().err) <= MOST
