"""Claims of an audit in words: which outcome, which groups, and which cause."""

import re

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
    assert "positives of '2' outrank negatives of the other groups with" in said
    assert said.endswith(
        "Compared with rows of the same class in the other groups, its average equality gap (AEG) "
        f"is {of_group['positive_aeg']:+.3f} for positives and {of_group['negative_aeg']:+.3f} for "
        "negatives."
    )
    (between,) = [text for about, text in summary([audit.tables]) if about == "Between groups"]
    assert between.endswith(
        ": positives of '2' outrank negatives of the others less often than the reverse"
    )


# Sentences are read back, and what they claim is computed from the rows ------------------------

NUMBER = r"[+-]?\d+\.\d+"
LABEL = r"'[^']*'"
LIST = rf"{LABEL}(?:, {LABEL})*(?: and (?:{LABEL}|\d+ more groups?))?"
INTERVAL = rf"(?: \(95 % interval {NUMBER} to {NUMBER}\))?"
EACH = r"(?P<each> \(each compared with all others together\))?"
OTHERS = r"the other groups?"
PVALUE = r"\(adjusted p (?:= |< )[\d.e-]+\)"
CHECK = "check pos_label, and whether higher scores mean the positive class"
# Sentences on the ranking by name; all other sentences fail the test.
SENTENCES = {
    "model": rf"The AUC of all rows together \(pooled\) is (?P<pooled>{NUMBER}){INTERVAL}; within "
    rf"groups it is {NUMBER}{INTERVAL} on average over pairs, and (?P<worst>{NUMBER}) in the worst "
    rf"group \((?P<group>{LABEL})\)\.",
    "reversed": rf"The AUC is below 0\.5 in (?P<below>{LIST}): {CHECK} in these rows\.",
    "range": rf"The AUC within groups ranges from (?P<low>{NUMBER}) \((?P<lowest>{LABEL})\) to "
    rf"(?P<high>{NUMBER}) \((?P<highest>{LABEL})\), a difference of {NUMBER}{INTERVAL}\. "
    rf"(?P<judged>Groups differ|These two groups differ|No difference is established) {PVALUE}\."
    rf"(?: The difference between (?P<first>{LABEL}) and (?P<second>{LABEL}) is established\.)?",
    "all": rf"The test of all groups together (?P<verdict>rejects|does not reject) equal group "
    rf"AUCs {PVALUE}.*\.",
    "auc": rf"The AUC is (?P<where>lower|higher) in (?P<groups>{LIST}) than in the other "
    rf"groups{EACH}\.",
    "no auc": r"No single group's AUC is shown to differ from that of the other groups\.",
    "disparity": rf"(?P<start>Most clearly|The ranking between groups differs|No difference in "
    rf"ranking between groups is established\. The clearest disparity is that of {LABEL})"
    rf"(?P<favor>, to the (?:dis)?advantage of {LABEL})?: positives of (?P<group>{LABEL}) outrank "
    rf"negatives of {OTHERS} with a probability of (?P<bnsp>{NUMBER}) \(BNSP AUC: [^)]*\), and "
    rf"positives of {OTHERS} outrank its negatives with (?P<bpsn>{NUMBER}) "
    rf"\(BPSN AUC: [^)]*\); the disparity is {NUMBER} {PVALUE}\."
    rf"(?: Compared with rows of the same class in {OTHERS}, its average equality gap \(AEG\) is "
    rf"(?P<positives>{NUMBER}) for positives and (?P<negatives>{NUMBER}) for negatives\.)?",
    "also": rf"Positives of (?P<groups>{LIST}) outrank negatives of the other groups "
    rf"(?P<more>more|less) often than the reverse{EACH}\.",
    "random": r"The interval of the pooled AUC contains 0\.5: .*|The pooled AUC is below 0\.5: .*|"
    r"The AUC within groups is below 0\.5: .*|An AUC above 0\.5 within groups is not .*",
    "closing": r"\d+ claims are tested\. .*|A difference that is not established may still .*",
}


def labels_in(text):
    assert ";" not in text
    return [label.strip("'") for label in re.findall(LABEL, text)]


def outranks(above, below):
    """Return the probability that a score is above another one."""
    below = np.sort(below)
    places = [np.searchsorted(below, above, side).mean() for side in ("left", "right")]
    return sum(places) / 2 / below.size


def random_audit(seed):
    """Return rows of groups with random AUCs and shifts, some of which differ clearly."""
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(2, 8))
    code = rng.integers(0, n_groups, 150 * n_groups)
    y = rng.integers(0, 2, code.size)
    strength = rng.normal(0.6, rng.choice([0, 0.8]), n_groups)
    shift = rng.normal(0, rng.choice([0, 0.3, 2]), n_groups)
    spread = rng.choice([1, 1, 4], n_groups)
    score = (rng.normal(size=code.size) + y * strength[code]) * spread[code] + shift[code]
    return y, score.round(2), np.array(list("abcdefg"))[code]


@pytest.mark.parametrize("favorable", [None, "positive", "negative"])
def test_sentences_claim_what_the_rows_and_the_tests_show(favorable):
    seen, n_audits = set(), 24 if favorable is None else 6
    for seed in range(n_audits):
        y, score, group = random_audit(seed)
        audit = FairnessAudit.from_predictions(
            y, score, groups=group, threshold=None, favorable=favorable
        )
        table = audit.by_group
        of = {
            (label, k): score[(group == label) & (y == k)] for label in table.index for k in (0, 1)
        }
        rest = {
            (label, k): score[(group != label) & (y == k)] for label in table.index for k in (0, 1)
        }
        auc = {label: outranks(of[label, 1], of[label, 0]) for label in table.index}
        bnsp = {label: outranks(of[label, 1], rest[label, 0]) for label in table.index}
        bpsn = {label: outranks(rest[label, 1], of[label, 0]) for label in table.index}

        for sentence in audit.findings:
            fits = {name: re.fullmatch(form, sentence) for name, form in SENTENCES.items()}
            (name,) = [name for name, fit in fits.items() if fit]
            found = fits[name].groupdict()
            seen.add(name)
            if name == "model":
                assert f"{outranks(score[y == 1], score[y == 0]):.3f}" == found["pooled"]
                assert f"{min(auc.values()):.3f}" == found["worst"]
                assert auc[found["group"].strip("'")] == min(auc.values())
            elif name == "reversed":
                assert all(auc[label] < 0.5 for label in labels_in(found["below"]))
            elif name == "range":
                for side, extreme in (("low", min), ("high", max)):
                    label = found[f"{side}est"].strip("'")
                    assert auc[label] == extreme(auc.values())
                    assert f"{auc[label]:.3f}" == found[side]
                is_found = audit.gaps.loc["difference", "pvalue_adjusted"] < 0.05
                assert is_found == (not found["judged"].startswith("No"))
                if found["first"]:
                    assert is_found
                    assert auc[found["first"].strip("'")] > auc[found["second"].strip("'")]
            elif name == "all":
                assert (found["verdict"] == "rejects") == (
                    audit.tables.claims.adjusted["equal_aucs"][0] < 0.05
                )
            elif name == "auc":
                labels = labels_in(found["groups"])
                assert bool(found["each"]) == (len(labels) > 1)
                for label in labels:
                    assert table.loc[label, "pvalue_adjusted"] < 0.05
                    below = table.loc[label, "auc"] < table.loc[label, "reference_auc"]
                    assert below == (found["where"] == "lower")
                    assert table.loc[label, "auc"] == pytest.approx(auc[label])
            elif name == "no auc":
                assert not (table["pvalue_adjusted"] < 0.05).any()
            elif name == "disparity":
                label = found["group"].strip("'")
                assert f"{bnsp[label]:.3f}" == found["bnsp"]
                assert f"{bpsn[label]:.3f}" == found["bpsn"]
                is_found = audit.gaps.loc["xauc_disparity", "pvalue_adjusted"] < 0.05
                assert is_found == (not found["start"].startswith("No"))
                assert bool(found["favor"]) == (is_found and favorable is not None)
                if found["favor"]:
                    is_more = bnsp[label] > bpsn[label]
                    is_good = is_more == (favorable == "positive")
                    assert found["favor"] == (
                        f", to the {'advantage' if is_good else 'disadvantage'} of '{label}'"
                    )
                if is_found:
                    for k, side in ((1, "positives"), (0, "negatives")):
                        gap = outranks(of[label, k], rest[label, k]) - 0.5
                        assert float(found[side]) == pytest.approx(gap, abs=6e-4)
            elif name == "also":
                labels = labels_in(found["groups"])
                assert bool(found["each"]) == (len(labels) > 1)
                for label in labels:
                    assert table.loc[label, "xauc_pvalue_adjusted"] < 0.05
                    assert (bnsp[label] > bpsn[label]) == (found["more"] == "more")
    assert seen >= set(SENTENCES) - {"no auc"} or favorable is not None


def test_disparities_are_no_claims_about_levels_of_scores():
    """Groups whose positives are outranked can have higher mean scores than the others."""
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b", "c"], 3000)
    y = rng.integers(0, 2, group.size)
    low = (group == "a") & (rng.random(group.size) < 0.1)
    score = rng.normal(size=group.size) + np.where(group == "a", 1.3, 0.6) * y - 40.0 * low
    audit = FairnessAudit.from_predictions(y, score, groups=group, threshold=None)
    means = {label: score[group == label].mean() for label in "abc"}
    assert max(means, key=means.get) != "a"
    assert audit.by_group.loc["a", "xauc_disparity"] > 0
    text = " ".join(audit.findings)
    assert "scores '" not in text
    assert "including" not in text
