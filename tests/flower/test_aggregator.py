"""Counts in the replies of Flower clients, and the aggregator that merges them."""

import functools
import math
import re

import numpy as np
import pytest
from flwr.app import ConfigRecord, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg
from oracles import AVERAGES, Case, all_pairs
from rules import rule
from sklearn.metrics import roc_auc_score

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.counts import Limits
from skfedauc.flower import GroupAUCAggregator, counts_record

SITES = ["bern", "kyiv", "lima", "oslo"]
BINS = Bins.of_scores(parts=4)


def rows_of(site, n=40):
    """Labels and scores of a site, with ties; sites differ in prevalence and in score level."""
    rng = np.random.default_rng(SITES.index(site) if site in SITES else 9)
    level = rng.normal()
    y = (rng.random(n) < 1 / (1 + np.exp(-level))).astype(int)
    return y, (y + level + rng.normal(size=n)).round(1)


def counts_of(site, **rows):
    y, score = rows_of(site, **rows)
    return ScoreCounts.from_predictions(y, score, groups=[site] * len(y))


def reply(site, counts=None, metrics=None, **arguments):
    y, score = rows_of(site)
    counts = counts_of(site) if counts is None else counts
    n_rows = int(counts.n_positives.sum() + counts.n_negatives.sum())
    own = {"num-examples": n_rows, "auc": float(roc_auc_score(y, score))}
    record = counts_record(counts, source=site, **arguments)
    return RecordDict({"metrics": MetricRecord(own | (metrics or {})), "counts": record})


def all_rows(sites=SITES):
    y, score = zip(*map(rows_of, sites), strict=True)
    groups = np.repeat(sites, [len(labels) for labels in y])
    return np.concatenate(y), np.concatenate(score), groups


def test_the_metrics_are_those_of_all_rows_together():
    y, score, groups = all_rows()
    replies = [reply(site) for site in SITES]
    aggregator = GroupAUCAggregator(expected_groups=SITES)
    metrics = aggregator(replies, "num-examples")
    assert metrics["auc-pooled"] == pytest.approx(roc_auc_score(y, score), abs=1e-12)
    truth = all_pairs(Case(y, score, groups.tolist(), None)).statistics
    for name in (*AVERAGES, "worst", "difference"):
        assert metrics[f"auc-{name}"] == pytest.approx(truth[name], abs=1e-12)
    assert metrics["auc-samples"] == pytest.approx(metrics["auc"], abs=1e-12)
    numbers = ["num-clients", "num-groups", "num-undefined-groups", "num-missing-groups"]
    assert [metrics[name] for name in numbers] == [4, 4, 0, 0]
    assert aggregator.reports[1].counts == ScoreCounts.from_predictions(y, score, groups=groups)
    assert aggregator.missing_groups == {1: ()}


def test_metrics_of_clients_are_averaged_as_flower_does():
    replies = [reply(site, metrics={"loss": 0.1 * i}) for i, site in enumerate(SITES)]
    for content, weight in zip(replies, [9.5, 1, 1, 1], strict=True):
        content["metrics"]["weight"] = weight
    default = FedAvg().evaluate_metrics_aggr_fn(replies, "weight")
    metrics = GroupAUCAggregator(statistics=["pooled"])(replies, "weight")
    assert {name: metrics[name] for name in ("auc", "loss", "num-examples")} == dict(default)
    assert metrics["auc"] != pytest.approx(metrics["auc-pooled"], abs=0.01)
    own = {"auc-pooled", "num-clients", "num-groups", "num-undefined-groups"}
    assert metrics.keys() - default.keys() == own


@pytest.mark.parametrize(("named", "kept"), [((2, 5), [2, 5]), ((None, None), [1, 2])])
def test_reports_are_kept_by_the_round_that_clients_name_or_by_calls(named, kept):
    aggregator = GroupAUCAggregator()
    for server_round in named:
        aggregator([reply(site, server_round=server_round) for site in SITES])
    assert list(aggregator.reports) == kept


POSITIVE_IS_0 = ScoreCounts.from_predictions(*rows_of("kyiv"), groups=["kyiv"] * 40, pos_label=0)
NUMBERED = ScoreCounts.from_predictions(*rows_of("kyiv"), groups=[7] * 40)
OTHER_MODEL = counts_of("kyiv").with_source("kyiv", model="m2")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"server_round": 2}, "'kyiv' is from server round 2, and most .* round 3"),
        ({"counts": counts_of("kyiv").reduced("summary")}, "is exact, and .*'kyiv' is a summary"),
        ({"counts": counts_of("kyiv").reduced(BINS)}, "is exact, and .*'kyiv' is Bins"),
        ({"counts": POSITIVE_IS_0}, "2 positive labels, 1 in .*'bern' and 0 in .*'kyiv'. Let all"),
        ({"counts": NUMBERED}, "'kyiv': groups of different kinds"),
        ({"counts": OTHER_MODEL}, "'bern'.*'m1'.* and .*'kyiv'.*'m2'.* different models"),
        ({"metrics": {"auc": [0.5]}}, "'kyiv' has the metrics auc of length 1, .*'bern' has auc,"),
        ({"metrics": {"loss": 0.5}}, "'kyiv' has the metrics auc, loss, .*'bern' has auc,"),
        ({"metrics": {"auc-pooled": 0.5}}, "'kyiv' has the metrics auc, auc-pooled"),
    ],
)
def test_a_reply_that_disagrees_with_most_is_refused_or_skipped(arguments, reason):
    """Also where it comes first."""
    good = [
        reply(site, counts_of(site).with_source(site, model="m1"), server_round=3)
        for site in ("bern", "lima")
    ]
    other = reply("kyiv", **{"server_round": 3, **arguments})
    for replies in ([other, *good], [*good, other]):
        with pytest.raises(ValueError, match=reason):
            GroupAUCAggregator()(replies)
        skipping = GroupAUCAggregator(on_invalid="skip")
        with pytest.warns(UserWarning, match="^1 of 3 replies left out as invalid"):
            assert skipping(replies) == GroupAUCAggregator()(good)
        (found,) = skipping.invalid[3].items()
        assert found[0] == f"reply {replies.index(other) + 1} of 3, from 'kyiv'"
        assert re.search(reason, found[1])


def test_a_lost_client_is_named():
    aggregator = GroupAUCAggregator(expected_groups=SITES)
    replies = [reply(site, server_round=4) for site in SITES[:2]]
    message = "2 of 4 expected groups have no rows in round 4: 'lima', 'oslo'. The AUCs of this"
    with pytest.warns(UserWarning, match=re.escape(message)):
        metrics = aggregator(replies)
    assert metrics["num-missing-groups"] == 2
    assert aggregator.missing_groups == {4: ("lima", "oslo")}
    y, score, _ = all_rows(SITES[:2])
    assert metrics["auc-pooled"] == pytest.approx(roc_auc_score(y, score), abs=1e-12)
    silent = GroupAUCAggregator(expected_groups=np.array(SITES), on_missing="ignore")
    assert silent([reply("bern")])["num-missing-groups"] == 3
    strict = GroupAUCAggregator(expected_groups=["bern", "Kyiv"], on_missing="raise")
    message = "'Kyiv'. The replies of round 1 have 1 group not among the expected groups: 'kyiv'."
    with pytest.raises(ValueError, match=re.escape(message)):
        strict([reply("bern"), reply("kyiv")])
    assert strict.reports == {}


def test_a_client_without_rows_lacks_its_group():
    empty = ScoreCounts.from_predictions([], [], groups=[])
    replies = [reply("bern"), reply("oslo", empty, {"num-examples": 0, "auc": 0.0})]
    aggregator = GroupAUCAggregator(expected_groups=["bern", "oslo"])
    with pytest.warns(UserWarning, match="1 of 2 expected groups have no rows in round 1: 'oslo'"):
        metrics = aggregator(replies)
    assert (metrics["num-clients"], metrics["num-groups"]) == (2, 1)
    with pytest.raises(ValueError, match="'num-examples' is 0 in all 2 replies"):
        GroupAUCAggregator()([reply(site, empty) for site in ("bern", "oslo")])


def test_a_client_with_one_class_counts_in_the_pooled_auc():
    y, score = np.zeros(30, int), np.linspace(0, 3, 30)
    counts = ScoreCounts.from_predictions(y, score, groups=["oslo"] * 30)
    replies = [reply("bern"), reply("kyiv"), reply("oslo", counts, {"auc": math.nan})]
    metrics = GroupAUCAggregator()(replies)
    assert math.isnan(metrics["auc"])  # Flower's default average
    known_y, known_score, _ = all_rows(["bern", "kyiv"])
    expected = roc_auc_score(np.append(known_y, y), np.append(known_score, score))
    assert metrics["auc-pooled"] == pytest.approx(expected, abs=1e-12)
    aucs = [roc_auc_score(*rows_of(site)) for site in ("bern", "kyiv")]
    assert metrics["auc-macro"] == pytest.approx(np.mean(aucs), abs=1e-12)
    assert metrics["num-undefined-groups"] == 1


def damaged(data):
    """Content with a changed byte in the first page; other bytes may be statistics of Parquet."""
    return data[:50] + bytes([data[50] ^ 1]) + data[51:]


@pytest.mark.parametrize("data", [b"", b"counts", "cut", "flipped"])
def test_damaged_counts_name_the_client(data):
    broken = reply("kyiv")
    whole = broken["counts"]["score-counts"]
    data = {"cut": whole[:-9], "flipped": damaged(whole)}.get(data, data)
    broken["counts"]["score-counts"] = data
    with pytest.raises(ValueError, match=r"^reply 2 of 2, from 'kyiv': data "):
        GroupAUCAggregator()([reply("bern"), broken])


NOT_MADE = "^reply 2 of 2.* has counts that skfedauc.flower.counts_record did not make"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"counts": None}, "^reply 2 of 2 has 0 records of counts; put one record of"),
        ({"more": counts_record(counts_of("oslo"))}, "^reply 2 of 2 has 2 records of counts"),
        ({"counts": ConfigRecord({"score-counts": "text", "source": "kyiv"})}, NOT_MADE),
        ({"counts": ConfigRecord({"score-counts": b"PAR1", "source": ["kyiv"]})}, NOT_MADE),
        ({"metrics": MetricRecord({"auc": 1.0})}, "^reply 2 of 2, from 'kyiv' needs one MetricRec"),
    ],
)
def test_replies_with_other_records_are_refused(changes, message):
    records = {**reply("kyiv"), **changes}
    kept = {name: record for name, record in records.items() if record is not None}
    with pytest.raises(ValueError, match=message):
        GroupAUCAggregator()([reply("bern"), RecordDict(kept)])


def test_no_replies_and_metrics_with_names_of_ours_are_refused():
    with pytest.raises(ValueError, match="needs at least one reply"):
        GroupAUCAggregator()([])
    with pytest.raises(ValueError, match="the clients have metrics named 'auc-pooled'"):
        GroupAUCAggregator()([reply("bern", metrics={"auc-pooled": 0.5})])


def test_a_reply_that_is_sent_again_counts_once():
    again, other = reply("bern"), reply("oslo")
    aggregator, once = GroupAUCAggregator(), GroupAUCAggregator()
    metrics = aggregator([again, other, again])
    assert metrics == once([again, other])
    assert metrics["num-clients"] == 2
    assert aggregator.reports[1].counts == once.reports[1].counts
    assert aggregator.repeated == {1: ("reply 3 of 3, from 'bern'",)}
    # The same rows counted again under the same name, once without the model
    named = reply("bern", counts_of("bern").with_source("bern", model="m1"))
    for first, second in ((reply("bern"), reply("bern")), (named, again), (again, named)):
        assert aggregator([first, other, second])["num-clients"] == 2


def test_invalid_replies_are_skipped_and_recorded():
    """A damaged reply, one with rows of another site, and one that declares other rows."""
    garbage = reply("bern")
    record = next(iter(garbage.config_records.values()))
    record["score-counts"] = record["score-counts"][:200]
    intruder = reply("kyiv", counts_of("oslo", n=20))
    liar = reply("lima", metrics={"num-examples": 3})
    replies = [reply("oslo"), garbage, intruder, liar]
    sites = {site: [site] for site in ("oslo", "bern", "kyiv", "lima")}
    aggregator = GroupAUCAggregator(
        expected_groups=sites, on_invalid="skip", on_missing="ignore", statistics=["macro"]
    )
    with pytest.warns(UserWarning, match="^3 of 4 replies left out as invalid. reply 2 of 4, from"):
        metrics = aggregator(replies)
    alone = GroupAUCAggregator(statistics=["macro"])
    assert metrics["auc-macro"] == alone([reply("oslo")])["auc-macro"]
    assert aggregator.missing_groups[1] == ("bern", "kyiv", "lima")
    found = aggregator.invalid[1]
    named = zip((2, 3, 4), ("bern", "kyiv", "lima"), strict=True)
    assert list(found) == [f"reply {number} of 4, from {site!r}" for number, site in named]
    reasons = ("or is damaged", "group that its sender may not have: 'oslo'", "declares 3 rows")
    assert all(map(str.__contains__, found.values(), reasons))
    with pytest.raises(ValueError, match="from 'bern': data "):
        GroupAUCAggregator(expected_groups=sites)(replies)
    # Flower goes on after a round without a valid reply, which says who is missing and why.
    with pytest.warns(UserWarning, match="^1 of 1 replies left out"):
        assert aggregator([garbage]) is None
    assert list(aggregator.reports) == [1]
    assert list(aggregator.invalid[2]) == ["reply 1 of 1, from 'bern'"]
    assert aggregator.missing_groups[2] == ("bern", "kyiv", "lima", "oslo")


def test_of_two_different_replies_of_one_name_neither_counts():
    again = reply("bern", counts_of("bern", n=30))
    message = (
        "reply 1 of 3, from 'bern' and reply 3 of 3, from 'bern' both are the source 'bern', with "
        "different counts, so rows may count twice. Leave out the reply"
    )
    replies = [reply("bern"), reply("oslo"), again]
    with pytest.raises(ValueError, match=f"^{message}"):
        GroupAUCAggregator()(replies)
    skipping = GroupAUCAggregator(on_invalid="skip")
    with pytest.warns(UserWarning, match="^2 of 3 replies left out as invalid"):
        assert skipping(replies)["num-clients"] == 1
    assert list(skipping.invalid[1]) == ["reply 1 of 3, from 'bern'", "reply 3 of 3, from 'bern'"]
    assert all(re.match(message, reason) for reason in skipping.invalid[1].values())


BOUND = {site: [site] for site in SITES}


def rows_in(site, n_rows):
    """Counts with this number of negatives, which no client needs to have."""
    return ScoreCounts.from_counts([site] * 2, [0.1, 0.2], [n_rows, 0], [0, 1])


def test_a_client_cannot_write_into_the_group_of_another():
    other = counts_of("kyiv") + rows_in("oslo", 2 * 10**8)
    replies = [reply("bern"), reply("kyiv", other), reply("oslo")]
    assert GroupAUCAggregator(expected_groups=SITES[:2] + SITES[3:])(replies)["num-clients"] == 3
    message = (
        "reply 2 of 3, from 'kyiv': data is refused: it has rows of 1 group that its sender may "
        "not have: 'oslo'"
    )
    for on_missing in ("ignore", "raise"):
        aggregator = GroupAUCAggregator(expected_groups=BOUND, on_missing=on_missing)
        with pytest.raises(ValueError, match=f"^{message}"):
            aggregator(replies)
        assert aggregator.reports == {}


def test_groups_are_bound_to_several_sources():
    shared = {"bern": ["young", "old"], "oslo": ["old"]}
    young, old = (
        ScoreCounts.from_predictions([0, 1], [0.1, 0.4], groups=[name] * 2)
        for name in ("young", "old")
    )
    replies = [reply("bern", young + old), reply("oslo", old.map_scores(np.sqrt))]
    aggregator = GroupAUCAggregator(expected_groups=shared, on_missing="raise")
    assert aggregator(replies)["num-missing-groups"] == 0
    assert aggregator.expected_groups == ("old", "young")
    with pytest.raises(ValueError, match=r"from 'oslo': .* its sender may not have: 'young'"):
        aggregator([replies[0], reply("oslo", young.map_scores(np.sqrt))])


def test_other_sources_are_refused_where_groups_are_bound():
    aggregator = GroupAUCAggregator(expected_groups={"bern": ["bern"]})
    message = r"from 'kyiv' has no source in expected_groups \('bern'\)"
    with pytest.raises(ValueError, match=message):
        aggregator([reply("kyiv", counts_of("bern"))])
    unnamed = reply("bern")
    unnamed["counts"] = counts_record(counts_of("bern"))
    with pytest.raises(ValueError, match="reply 1 of 1 has no source in expected_groups"):
        aggregator([unnamed])
    # The name beside the counts is not the name in the counts.
    unnamed["counts"] = counts_record(counts_of("bern"), source="kyiv")
    unnamed["counts"]["source"] = "bern"
    with pytest.raises(ValueError, match=r"from 'bern': .* has counts of another source, 'kyiv'"):
        aggregator([unnamed])
    own = ScoreCounts.from_predictions(*rows_of("bern")).with_source("bern")
    unnamed["counts"] = ConfigRecord({"score-counts": own.to_bytes(), "source": "bern"})
    with pytest.raises(ValueError, match="rows without a group, and its sender may have 'bern'"):
        aggregator([unnamed])


@pytest.mark.parametrize("number", [-5, math.nan, math.inf, [40]])
@pytest.mark.parametrize("key", ["num-examples", "weight"])
def test_impossible_numbers_of_examples_are_refused(number, key):
    replies = [reply("bern", metrics={"weight": 1}), reply("kyiv", metrics={"weight": 1})]
    replies[1]["metrics"][key] = number
    with pytest.raises(ValueError, match=rf"^reply 2 of 2, from 'kyiv' has .* as '{key}', which"):
        GroupAUCAggregator()(replies, key)


@pytest.mark.parametrize("key", ["num-examples", "weight"])
def test_only_rows_that_counts_leave_out_may_be_declared(key):
    y, score = rows_of("bern")
    whole = counts_of("bern")
    some = np.where(np.arange(40) < 30, "bern", None)
    missing = ScoreCounts.from_predictions(y, score, groups=some, missing="drop")
    weights = np.where(np.arange(40) < 30, 2.5, 0)  # rows of weight 0 are not to be declared
    weighted = ScoreCounts.from_predictions(y, score, groups=["bern"] * 40, sample_weight=weights)
    few = whole + ScoreCounts.from_predictions([0, 1], [0.1, 0.4], groups=["b"] * 2)
    withheld = few.reduced(rule(Bins.at([0.5]), min_count=10))
    telling = functools.partial(rule, Bins.at([0.5]), min_count=10)
    only_number = few.reduced(telling(tell_withheld="number"))
    some = np.where(np.arange(40) < 39, "bern", None)
    few_missing = ScoreCounts.from_predictions(
        y, score, groups=some, missing="drop", disclosure=telling()
    )
    right = [(whole, 40), (missing, 40), (missing, 30), (weighted, 30), (withheld, 42)]
    right += [(only_number, 40), (few_missing, 40)]
    tampered = [(only_number, 42), (few_missing, 10**15)]
    wrong = [(whole, 39), (whole, 41), (missing, 41), (missing, 29), (weighted, 29)]
    for counts, n_rows in right:
        GroupAUCAggregator()([reply("bern", counts, {"num-examples": n_rows, "weight": 1})], key)
    for counts, n_rows in [*wrong, *tampered, (weighted, 31), (withheld, 39), (withheld, 10**6)]:
        replies = [reply("bern", counts, {"num-examples": n_rows, "weight": 1})]
        message = f"'bern' declares {n_rows:,} rows as 'num-examples', and its counts have "
        with pytest.raises(ValueError, match=message):
            GroupAUCAggregator()(replies, key)


def test_counts_above_a_limit_are_refused():
    with pytest.raises(ValueError, match=r"^reply 2 of 2, from 'oslo': data is refused: .* 2,000,"):
        GroupAUCAggregator()([reply("bern"), reply("oslo", rows_in("oslo", 2 * 10**9))])
    large = Limits(max_rows=10**10)
    assert GroupAUCAggregator(limits=large)([reply("oslo", rows_in("oslo", 2 * 10**9))])
    long = ScoreCounts.from_predictions([0, 1], [0.1, 0.4], groups=["x" * 2000] * 2)
    with pytest.raises(ValueError, match=r"label or name of 2,000 characters, above the receiver"):
        GroupAUCAggregator()([reply("bern", long)])


def at(*levels):
    """Return replies of the first sites, each at its level of disclosure."""
    sent = zip(SITES, levels, strict=False)
    return [reply(site, counts_of(site).reduced(level)) for site, level in sent]


def exact(n):
    return ScoreCounts.merge([counts_of(site) for site in SITES[:n]])


def test_clients_send_bins():
    aggregator = GroupAUCAggregator()
    metrics = aggregator(at(BINS, BINS, BINS))
    counts = aggregator.reports[1].counts
    assert counts == exact(3).reduced(BINS)
    assert counts.disclosure.bins == BINS
    assert metrics["auc-pooled"] == GroupAUC(counts).pooled
    bounds = aggregator.reports[1].bounds()
    assert bounds.low["pooled"] < GroupAUC(exact(3)).pooled < bounds.high["pooled"]
    for name in ("pooled", "macro", "worst", "difference"):
        ends = metrics[f"auc-{name}-low"], metrics[f"auc-{name}-high"]
        assert ends == (bounds.low[name], bounds.high[name])
    exactly = GroupAUCAggregator()(at("exact", "exact", "exact"))
    assert not any(name.endswith(("-low", "-high")) for name in exactly)


def test_clients_send_summaries():
    aggregator, exactly = GroupAUCAggregator(), GroupAUCAggregator()
    metrics, found = exactly(at("exact", "exact")), aggregator(at("summary", "summary"))
    assert set(metrics) - set(found) == {"auc-pooled"}
    assert all(metrics[name] == found[name] for name in found)
    report = aggregator.reports[1]
    assert report.counts.disclosure.level == "summary"
    assert report.by_group.equals(exactly.reports[1].by_group)


RECORD = {"counts": counts_of("bern")}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"expected_groups": "oslo"}, TypeError, "expected_groups must be a list of group labels"),
        ({"expected_groups": {}}, ValueError, "expected_groups has no labels"),
        ({"expected_groups": {3: ["oslo"]}}, TypeError, "keys of expected_groups must be names"),
        ({"expected_groups": {"oslo": "oslo"}}, TypeError, "expected_groups must be a list of gr"),
        ({"expected_groups": ["a", 1]}, TypeError, "expected_groups mixes labels"),
        ({"on_missing": "fail"}, ValueError, "on_missing must be 'warn', 'raise' or 'ignore'; got"),
        ({"statistics": "pooled"}, TypeError, "must be a list of names; got str 'pooled'"),
        ({"statistics": ["auc"]}, ValueError, "auc"),
        ({"limits": {"max_rows": 3}}, TypeError, "limits must be a skfedauc.counts.Limits or None"),
        ({"counts": [0, 1]}, TypeError, "counts must be a ScoreCounts; got list"),
        ({**RECORD, "source": 7}, TypeError, "source must be a str or None; got int 7"),
        ({**RECORD, "server_round": 1.5}, (TypeError, ValueError), "server_round"),
    ],
)
def test_wrong_arguments_of_the_aggregator_and_of_records_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        (counts_record if "counts" in arguments else GroupAUCAggregator)(**arguments)


def test_a_record_has_no_pickle_and_survives_the_transport():
    record = counts_record(counts_of("oslo"), source="oslo", server_round=3)
    data = record["score-counts"]
    assert b"numpy" not in data
    assert b"skfedauc.counts" not in data
    again = ConfigRecord.inflate(record.deflate())
    assert dict(again) == dict(record)
    assert ScoreCounts.from_bytes(again["score-counts"]) == counts_of("oslo")


def test_a_record_keeps_the_model_the_period_and_the_identifier():
    counts = counts_of("oslo").with_source("a", model="m1", period="2026-10", metadata={"k": "v"})
    record = counts_record(counts, source="oslo")
    (found,) = ScoreCounts.from_bytes(record["score-counts"]).sources
    assert found == counts.sources[0]._replace(name="oslo")
