"""Claims of an audit in words: which outcome, which groups, and which cause."""

import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_ratio

from skfedauc import AuditComparison, FairnessAudit, GroupAUC
from skfedauc.audit.summary import summary

RATIOS = ("demographic_parity_ratio", "equalized_odds_ratio")


def defaults(n=4000):
    """Return predictions of defaults: 6 % of one group, and 3 % of the other group."""
    rng = np.random.default_rng(0)
    group = rng.choice(["f", "m"], n)
    y_pred = (rng.random(n) < np.where(group == "m", 0.06, 0.03)).astype(int)
    return (rng.random(n) < 0.1).astype(int), rng.random(n), group, y_pred


def test_ratios_of_rates_of_the_adverse_outcome_are_refused():
    y, score, group, y_pred = defaults()
    tolerances = {"demographic_parity_ratio": 0.8}

    def audited(y, score, y_pred, **options):
        return FairnessAudit.from_predictions(y, score, groups=group, y_pred=y_pred, **options)

    for name in RATIOS:
        with pytest.raises(ValueError, match=f"'{name}', a ratio .*favorable='negative' declares"):
            audited(y, score, y_pred, favorable="negative", tolerances={name: 0.8})
    with pytest.raises(ValueError, match="Pass the favorable class as pos_label=, with scores"):
        AuditComparison.from_predictions(
            y, {"a": score, "b": 1 - score}, groups=group, favorable="negative", threshold=0.5,
            tolerances=tolerances,
        )  # fmt: skip
    # After the correction, the favorable class is the positive class.
    mended = audited(y, 1 - score, y_pred, pos_label=0, favorable="positive", tolerances=tolerances)
    expected = demographic_parity_ratio(y, 1 - y_pred, sensitive_features=group)
    found = mended.tolerances.loc["demographic_parity_ratio"]
    assert found["value"] == pytest.approx(expected)
    assert (round(expected, 3), found["answer"]) == (0.969, "met")
    assert any("parity ratio (of positive predictions) has" in text for text in mended.findings)
    # Differences are the same for both outcomes.
    limits = {
        f"{name}_difference": 0.1
        for name in ("demographic_parity", "equalized_odds", "true_positive_rate")
    }
    adverse = audited(y, score, y_pred, favorable="negative", tolerances=limits).tolerances
    favorable = audited(
        y, 1 - score, y_pred, pos_label=0, favorable="positive", tolerances=limits
    ).gaps["value"]
    for name, other in zip(
        limits, ("demographic_parity", "equalized_odds", "false_positive_rate"), strict=True
    ):
        assert adverse.loc[name, "value"] == pytest.approx(favorable[f"{other}_difference"])


def tiny_extreme(seed):
    """Return rows of two large groups with different AUCs, and of a tiny group with a low AUC."""
    rng = np.random.default_rng(seed)
    group = np.repeat(["A", "B", "C"], [1500, 1500, 40])
    y = rng.integers(0, 2, group.size)
    score = rng.normal(size=group.size) + y * np.choose(
        np.unique(group, return_inverse=True)[1], [1.5, 1.05, 0.9]
    )
    return y, score, group


def test_the_summary_names_the_pair_that_is_established():
    y, score, group = tiny_extreme(9)
    audit = FairnessAudit.from_predictions(y, score, groups=group, threshold=None)
    aucs, gap = audit.by_group["auc"], audit.gaps.loc["difference"]
    assert (gap["lowest"], gap["highest"]) == ("C", "A")
    assert gap["pvalue_adjusted"] < 0.05
    extremes = group != "B"  # Alone, these two groups have no significant difference.
    assert (
        GroupAUC.from_predictions(y[extremes], score[extremes], groups=group[extremes])
        .test_difference()
        .pvalue
        > 0.05
    )
    (said,) = [text for about, text in summary([audit.tables]) if about == "Within groups"]
    assert said.startswith(
        f"the clearest established difference of AUCs is {aucs['A'] - aucs['B']:.3f}, between 'B' "
        f"and 'A'; the largest observed difference is {gap['value']:.3f} (95 % interval "
    )
    assert said.endswith(", between 'C' and 'A'")
    assert any("The difference between 'A' and 'B' is established." in t for t in audit.findings)
    is_large = group != "C"
    of_two = FairnessAudit.from_predictions(
        y[is_large], score[is_large], groups=group[is_large], threshold=None
    )
    (said,) = [text for about, text in summary([of_two.tables]) if about == "Within groups"]
    assert said.startswith("the largest established difference of AUCs is ")
    assert said.endswith(", between 'B' and 'A'")
    # A summary of several audits names the largest established difference of all audits.
    both = [text for about, text in summary([audit.tables, of_two.tables]) if about[0] == "W"]
    assert "between 'B' and 'A'" in both[0]


@pytest.mark.parametrize("favorable", [None, "positive", "negative"])
def test_a_disparity_is_no_claim_about_the_level_of_the_scores(favorable):
    """Group "2" has the same scores of negatives, and lower scores of positives."""
    rng = np.random.default_rng(0)
    group = rng.choice(["1", "2", "3"], 6000)
    y = rng.integers(0, 2, group.size)
    score = rng.normal(size=group.size) + y * np.where(group == "2", 0.3, 1.3)
    audit = FairnessAudit.from_predictions(
        y, score, groups=group, threshold=None, favorable=favorable
    )
    of_group = audit.by_group.loc["2"]
    assert abs(of_group["negative_aeg"]) < 0.03 < 0.2 < -of_group["positive_aeg"]
    (said,) = [text for text in audit.findings if text.startswith("Most clearly")]
    assert "'2'" in said
    assert said.endswith(
        "The cause can be a shift of the group's scores or the ranking within the group: compare "
        "its positive and its negative average equality gap (AEG)."
    )
    (between,) = [text for about, text in summary([audit.tables]) if about == "Between groups"]
    assert between.endswith(
        ": positives of '2' outrank negatives of the others less often than the reverse"
    )
