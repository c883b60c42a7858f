"""Files of score counts: the package restores the same counts, and other tools read the files."""

import copy
import datetime
import functools
import gc
import itertools
import os
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from numpy.testing import assert_allclose, assert_array_equal
from rules import restored, rule
from saved_cases import CASES

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.counts import LimitError, Limits, MergeError, Source, file_format, merging
from skfedauc.counts.score_counts import select_groups, view_of
from skfedauc.counts.state import State

DATA = Path(__file__).parent / "data"


def assert_same(again, counts):
    """Assert bitwise equal counts, and equal metadata except for the sources."""
    assert again == counts
    for array, expected in zip(again.cells, counts.cells, strict=True):
        assert (array is None) == (expected is None)
        if array is not None:
            assert array.dtype == expected.dtype
            assert array.tobytes() == expected.tobytes()
            assert not array.flags.writeable
    assert (view_of(again).ranges is None) == (view_of(counts).ranges is None)
    if view_of(counts).ranges is not None:
        assert view_of(again).ranges.tobytes() == view_of(counts).ranges.tobytes()
        assert not view_of(again).ranges.flags.writeable
    assert again.disclosure.bins == counts.disclosure.bins
    assert again.groups == counts.groups
    if counts.groups:
        assert view_of(again).labels.dtype == view_of(counts).labels.dtype
        assert list(map(str, again.groups)) == list(map(str, counts.groups))
        assert list(map(type, again.groups)) == list(map(type, counts.groups))
    assert view_of(again).classes == view_of(counts).classes
    for name in ("n_missing", "group_names"):
        assert getattr(again, name) == getattr(counts, name)


def some_counts(seed=0, n_rows=30, groups=("a", "b"), *, steps=50, **options):
    rng = np.random.default_rng(seed)
    y, score = rng.integers(0, 2, n_rows), rng.integers(0, steps, n_rows) / steps
    labels = rng.choice(groups, n_rows)
    return ScoreCounts.from_predictions(y, score, groups=labels, **options)


@pytest.mark.parametrize("name", CASES)
def test_saved_counts_come_back(name, tmp_path):
    counts = CASES[name]
    path = tmp_path / "counts.skfa"
    counts.save(path)
    assert os.listdir(tmp_path) == ["counts.skfa"]
    assert_same(ScoreCounts.load(path), counts)
    assert_same(ScoreCounts.load(str(path)), counts)
    data = path.read_bytes()
    for form in (data, bytearray(data), memoryview(data)):
        assert_same(ScoreCounts.from_bytes(form), counts)
    assert counts.to_bytes() == data
    assert ScoreCounts.load(path).to_bytes() == data


def test_content_that_is_compressed_very_well(monkeypatch):
    """The limit for content that would exhaust the memory never refuses what `save` wrote."""
    counts = ScoreCounts.from_counts(
        score=np.arange(200_000.0), n_negatives=np.ones(200_000), n_positives=np.ones(200_000)
    )
    small = len(counts.to_bytes())
    monkeypatch.setattr(file_format, "_SMALL", 1 << 12)
    monkeypatch.setattr(file_format, "_MOST_EXPANDED", 50)
    data = counts.to_bytes()
    assert len(data) > 5 * small
    assert ScoreCounts.from_bytes(data) == counts


PLAIN = ["no groups", "text", "integers", "unsigned integers", "booleans", "dates", "columns"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", PLAIN)
def test_columns_are_those_of_to_counts(name, weighted, tmp_path):
    counts = CASES[f"{name}, weighted" if weighted else name]
    counts.save(tmp_path / "counts.skfa")
    table = pd.read_parquet(tmp_path / "counts.skfa")
    pd.testing.assert_frame_equal(table, counts.to_counts(), check_dtype=False)
    types = table.dtypes[["score", "n_negatives", "n_positives"]].tolist()
    assert types == [np.float64, np.int64, np.int64]
    assert ScoreCounts.from_counts(**table) == counts


def test_counts_get_an_identifier_when_they_are_first_saved(tmp_path):
    counts = some_counts()
    assert counts.sources == ()
    data = counts.to_bytes()
    (source,) = counts.sources
    assert re.fullmatch("[0-9a-f]{32}", source.identifier)
    assert source.name is None
    counts.save(tmp_path / "a.skfa")
    assert counts.to_bytes() == data == (tmp_path / "a.skfa").read_bytes()
    assert ScoreCounts.from_bytes(data).sources == (source,)
    other = some_counts()
    other.to_bytes()
    assert other == counts
    assert other.sources != counts.sources


def test_merged_counts_keep_the_identifiers_of_their_parts():
    north, south = some_counts(0).with_source("north"), some_counts(1).with_source("south")
    merged = south + north
    assert merged.sources == (*north.sources, *south.sources)
    assert merged.sources == (north + south).sources
    assert ScoreCounts.from_bytes(merged.to_bytes()).sources == merged.sources
    more = merged + some_counts(2)
    assert more.sources == merged.sources
    again = ScoreCounts.from_bytes(more.to_bytes())
    assert again.sources == more.sources
    assert [source.name for source in more.sources] == [None, "north", "south"]


def test_reports_say_where_sources_models_or_periods_are_unknown():
    named = made(1).with_source("oslo", model="m1", period="2026-10")
    for counts, said in (
        (named, "Counted by source oslo; model m1; period 2026-10."),
        (
            named + made(2).with_source("lima"),
            "2 sources: lima, oslo; model m1, others unknown; pe",
        ),
        (
            named + made(2),
            "Counted by source oslo, others unknown; model m1, others unknown; period",
        ),
    ):
        assert said in repr(GroupAUC(counts))


def test_a_source_is_of_one_counting():
    counts, other = some_counts(0), some_counts(1)
    counts.to_bytes()
    (source,) = counts.sources
    named = counts.with_source("north", model="m1", period="2026-10", metadata={"b": "2", "a": "1"})
    assert named.sources == (
        Source("north", "m1", "2026-10", (("a", "1"), ("b", "2")), source.identifier),
    )
    assert ScoreCounts.from_bytes(named.to_bytes()).sources == named.sources
    other.to_bytes()
    with pytest.raises(ValueError, match=r"a source names one counting.*merged from 2 countings"):
        (counts + other).with_source("both")
    for name in ("", " ", "oslo ", "\toslo"):
        with pytest.raises(ValueError, match=r"^name must neither be empty nor begin or end with"):
            counts.with_source(name)
        # Files of earlier versions may have such names.
        old = restored(counts, sources=(Source(name, identifier="0" * 32),))
        assert ScoreCounts.from_bytes(old.to_bytes()) == counts


made = functools.partial(some_counts, n_rows=50, steps=2**40)
ONE, TWO, THREE, FOUR = (made(seed) for seed in (1, 2, 3, 4))
OCTOBER = {"model": "m1", "period": "2026-10"}
A = ONE.with_source("oslo", **OCTOBER)
AGAIN = made(1).with_source("oslo", **OCTOBER)  # the same rows, counted again
KEY = b"k" * 16
KEYED, KEYED_AGAIN = (made(1).with_source("oslo", **OCTOBER, secret=KEY) for _ in range(2))
OTHER = TWO.with_source("oslo", **OCTOBER)  # other rows under the same source, model and period
NEXT = TWO.with_source("oslo", model="m1", period="2026-11")
NEW_MODEL = TWO.with_source("oslo", model="m2", period="2026-11")
B, C = THREE.with_source("va", **OCTOBER), FOUR.with_source("lima", **OCTOBER)
AB, BC = A + B, B + C
SENT = ScoreCounts.from_bytes(AB.to_bytes())
UNNAMED = ScoreCounts.from_bytes(made(1).to_bytes())
SUMMARY, OF_SUMMARIES = (
    made(5).regroup({"a": "c", "b": "d"}).reduced("summary").with_source("bern"),
    made(6).reduced("summary").with_source("rome"),
)


def merge(*parts, **options):
    return ScoreCounts.merge(parts, **options)


# Retries, replacements, withdrawals, models and periods
CASES_OF_SOURCES = {
    "the same object twice": (lambda: merge(A, B, A), lambda: ONE + THREE),
    "counted again, equal counts": (lambda: merge(A, B, AGAIN), lambda: ONE + THREE),
    "counted again, other counts": (lambda: merge(A, B, OTHER), "different counts, so.* Pass rep"),
    "the same, replaced": (lambda: merge(A, B, OTHER, repeated="replace"), lambda: TWO + THREE),
    "the last of three": (
        lambda: merge(OTHER, A, B, OTHER, repeated="replace"), lambda: TWO + THREE
    ),
    "replaced by equal counts": (lambda: merge(A, AGAIN, repeated="replace"), lambda: ONE),
    "the period named later": (
        lambda: merge(A.with_source("oslo"), A, NEXT), lambda: ONE + TWO
    ),
    "the model named later": (
        lambda: merge(TWO.with_source("oslo", period="2026-09"), A), lambda: ONE + TWO
    ),
    "another period": (lambda: merge(A, NEXT), lambda: ONE + TWO),
    "another model": (lambda: merge(A, NEW_MODEL), "were scored by different models. Leave one"),
    "any model": (lambda: merge(A, NEW_MODEL, models="any"), lambda: ONE + TWO),
    "one model unknown": (lambda: merge(A, TWO.with_source("va")), lambda: ONE + TWO),
    "a part of a sum again": (lambda: AB + A, lambda: ONE + THREE),
    "the same with a secret": (lambda: (KEYED + B) + KEYED_AGAIN, lambda: ONE + THREE),
    "a sum after its part": (lambda: merge(A, AB), lambda: ONE + THREE),
    "a sum after its parts": (lambda: merge(A, B, AB), lambda: ONE + THREE),
    "counted again, after the sum": (lambda: AB + AGAIN, "both contain the source 'oslo'"),
    "two sums of one source": (lambda: AB + BC, "both contain the source 'va'.*whole - part"),
    "one site by two names": (
        lambda: merge(A, A.with_source("rio")), "the same rows, as the source 'oslo'.* 'rio'"
    ),
    "mended by subtraction": (lambda: AB + (BC - B), lambda: merge(ONE, THREE, FOUR)),
    "a sum replaces its part": (
        lambda: merge(OTHER, AB, repeated="replace"), lambda: ONE + THREE
    ),
    "a site withdraws": (lambda: SENT - B, lambda: ONE),
    "all sites withdraw": (lambda: (SENT - B) - A, lambda: select_groups(ONE, [])),
    "a site that was never merged": (lambda: SENT - C, "do not contain the source 'lima'"),
    "a withdrawal without a source": (lambda: SENT - ONE, "no source.* Subtract the counts or the"),
    "a recount withdraws": (lambda: SENT - AGAIN, "another counting of .*'oslo'.* secret="),
    "other groups withdraw": (lambda: SENT - A.regroup(str.upper), "or has other groups or scores"),
    "a part of a sum in other groups": (
        lambda: merge(AB, A.regroup(str.upper)), "both contain the source 'oslo'"
    ),
    "other scores of an unnamed counting": (
        lambda: UNNAMED + UNNAMED.map_scores(np.negative), "different counts"
    ),
    "a recount with the secret": (lambda: (KEYED + B) - KEYED_AGAIN, lambda: THREE),
    "rows that the sum lacks": (lambda: (ONE + TWO) - THREE, "rows that the counts do not have"),
    "more rows than the sum": (lambda: ONE - (ONE + TWO), "rows that the counts do not have"),
    "more rows of a cell": (lambda: (ONE + TWO) - (ONE + ONE), "rows that the counts do not have"),
    "withdrawn and sent again": (lambda: (SENT - A) + OTHER, lambda: TWO + THREE),
    "a rolling month": (lambda: (A + NEXT) - A, lambda: TWO),
    "by period": (
        lambda: merge(A, NEXT, by_period=True).regroup(lambda label: label[0]), lambda: ONE + TWO
    ),
    "a period again, by period": (
        lambda: merge(merge(A, NEXT, by_period=True), merge(A, by_period=True)).regroup(
            lambda label: label[1]
        ),
        lambda: ONE.regroup(lambda _: "2026-10") + TWO.regroup(lambda _: "2026-11"),
    ),
    "a period taken out": (
        lambda: merge(A, NEXT, by_period=True) - merge(A, by_period=True),
        lambda: merge(NEXT, by_period=True),
    ),
    "a sum of periods, by period": (
        lambda: merge(A + NEXT, by_period=True), "has the periods '2026-10' and '2026-11'"
    ),
    "counts without sources": (lambda: ONE + ONE, lambda: merge(ONE, ONE, THREE) - THREE),
    "an unnamed counting twice": (lambda: merge(UNNAMED, UNNAMED), lambda: ONE),
    "other groups of one counting": (
        lambda: select_groups(UNNAMED, [0]) + select_groups(UNNAMED, [1]), "with different counts"
    ),
    "a summary twice": (lambda: merge(SUMMARY, SUMMARY), lambda: SUMMARY),
    "a summary taken out": (lambda: (SUMMARY + OF_SUMMARIES) - SUMMARY, lambda: OF_SUMMARIES),
    "another summary of these groups": (
        lambda: (SUMMARY + OF_SUMMARIES)
        - made(7).reduced("summary").with_source("rome").regroup(str),
        "contain another counting of the source 'rome'.* recount",
    ),
}  # fmt: skip


FACTS = [{}, {"model": "m1"}, {"period": "2026-10"}, OCTOBER]


@pytest.mark.parametrize("repeated", ["raise", "replace"])
@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(FACTS, 2)))
def test_counts_that_lack_the_model_or_the_period_never_count_twice(first, second, repeated):
    one, again, other = (
        made(seed).with_source("oslo", **facts)
        for seed, facts in ((1, first), (1, second), (2, second))
    )
    message = "^part 0 has the source 'oslo'.*, and part 1 has the source 'oslo'.* Name the model"
    with pytest.raises(MergeError, match=message):
        merge(one, other, repeated=repeated)
    with pytest.raises(MergeError, match="'oslo'"):
        merge(one + B, again, repeated=repeated)
    if first.items() <= second.items() or second.items() <= first.items():
        (source,) = merge(one, again, repeated=repeated).sources
        known = {"model": source.model, "period": source.period}
        assert known == dict.fromkeys(known) | first | second
        assert merge(one, again, repeated=repeated) == ONE
    else:  # neither names what the other does
        with pytest.raises(MergeError, match=message):
            merge(one, again, repeated=repeated)
    with pytest.warns(UserWarning, match="^1 part left out as invalid. part [01]: part 0 has"):
        left = merge(one, other, repeated=repeated, on_invalid="skip")
    assert left == (one if len(first) >= len(second) else other)


def test_the_order_of_parts_decides_neither_whether_they_merge_nor_what_they_sum_to():
    of_two = ({}, {"model": "m1"}, {"period": "2026-10"})
    unnamed = [made(seed).with_source("oslo", **facts) for facts in of_two for seed in (1, 2)]
    sums = [AB, AGAIN + B, BC, A + NEXT, A + TWO, made(1).with_source("oslo") + B]
    pool = [A, AGAIN, B, NEXT, OTHER, A.with_source("rio"), *unnamed, *sums]
    rng, n_sums = np.random.default_rng(0), 0
    for size in rng.integers(2, 5, size=120):
        found = []
        for parts in itertools.islice(itertools.permutations(rng.choice(pool, size, False)), 8):
            try:
                found.append(merge(*parts))
            except MergeError:
                found.append(None)
        assert all(of == found[0] for of in found)
        n_sums += found[0] is not None
    assert 20 < n_sums < 100
    again = made(1).with_source("oslo")
    for parts in itertools.permutations([A, NEXT, again, B]):
        assert merge(*parts) == merge(ONE, TWO, THREE)
        assert merge(*parts, by_period=True) == merge(A, NEXT, B, by_period=True)
    for parts in itertools.permutations([A, again, AGAIN, AB]):
        assert merge(*parts) == merge(*parts, repeated="replace") == merge(ONE, THREE)


LABELED, RELABELED = (
    ScoreCounts.from_predictions(y, [0.1, 0.2], groups=groups, pos_label=positive, missing="drop")
    for y, groups, positive in ((["no", "yes"], ["a", "b"], "yes"), ([0, 1], ["a", "b"], 1))
)
ROWS = [0, 1] * 40, np.arange(80) / 80
WITHHELD, WITHOUT = (
    ScoreCounts.from_predictions(
        *(of[:n] for of in ROWS),
        groups=(["a"] * 70 + ["b"] * 10)[:n],
        disclosure=rule("bins", min_count=30),
    )
    for n in (80, 70)
)
COLUMNS = {"y": [0, 1], "s": [0.1, 0.2], "site": ["a", "b"]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LABELED, RELABELED),
        (WITHHELD, WITHOUT),
        (RELABELED, merge(RELABELED, ScoreCounts.from_predictions(
            [0], [0.1], groups=[None], missing="drop"))),
        (RELABELED, ScoreCounts.from_table(
            pd.DataFrame(COLUMNS), label="y", score="s", group="site")),
        (RELABELED.regroup({"a": ("a", 1), "b": ("b", 1)}),
         RELABELED.regroup({"a": ("a", "1"), "b": ("b", "1")})),
    ],
)  # fmt: skip
def test_a_retry_is_equal_in_all_but_identifier_and_metadata(one, other):
    one, other = one.with_source("oslo"), other.with_source("oslo", metadata={"by": "mail"})
    for parts in itertools.permutations([one, other]):
        with pytest.raises(MergeError, match="both are the source 'oslo', with different lab"):
            merge(*parts)
        assert merge(*parts, repeated="replace").sources == parts[1].sources
    assert merge(one, one.with_source("oslo", metadata={"by": "mail"})) == one


def test_rows_without_a_source_are_never_lost():
    """They are neither in another part nor a retry of other rows."""
    more, again = A + TWO, AGAIN + TWO
    for parts in itertools.permutations([AB, more]):
        for repeated in ("raise", "replace"):
            with pytest.raises(MergeError, match="both contain the source 'oslo'"):
                merge(*parts, repeated=repeated)
    for parts in itertools.permutations([more, again]):
        with pytest.raises(MergeError, match="both contain the source 'oslo'"):
            merge(*parts, repeated="replace")
    with pytest.raises(MergeError, match="both contain the source 'oslo'"):
        merge(more, AGAIN, repeated="replace")
    for parts in itertools.permutations([more, A, C, more]):
        assert merge(*parts, repeated="replace") == merge(*parts) == merge(ONE, TWO, FOUR)


@pytest.mark.parametrize("name", CASES_OF_SOURCES)
def test_retries_replacements_withdrawals_models_and_periods(name):
    make, expected = CASES_OF_SOURCES[name]
    if isinstance(expected, str):
        with pytest.raises(MergeError, match=expected):
            make()
        return
    assert make() == expected()
    assert ScoreCounts.from_bytes(make().to_bytes()) == expected()


def test_withdrawals_leave_what_the_others_sent():
    """Random parts, some weighted or with bins, leave a sum as if they had never been merged."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        weights = rng.random((4, 50)) + 0.1 if seed % 3 == 0 else [None] * 4
        level = ("exact", Bins.of_scores(4), rule("bins", min_count=3))[seed % 3 if seed % 2 else 0]
        parts = [
            made([seed, n], sample_weight=weights[n], disclosure=level).with_source(f"site {n}")
            for n in range(4)
        ]
        out = rng.permutation(4)
        rest = ScoreCounts.merge(parts) - parts[out[0]]
        expected = ScoreCounts.merge([parts[n] for n in out[1:]])
        assert rest.sources == expected.sources
        assert rest.disclosure.withheld == expected.disclosure.withheld
        assert_array_equal(rest.n_positives, expected.n_positives)
        if seed % 3:
            assert_array_equal(rest.cells.scores, expected.cells.scores)
            assert_array_equal(rest.cells.negatives, expected.cells.negatives)
        else:
            assert_allclose(rest.cells.weights, expected.cells.weights, rtol=1e-9)
        assert_same(ScoreCounts.from_bytes(rest.to_bytes()), rest)
        with pytest.raises(MergeError, match="do not contain"):
            rest - parts[out[0]]


def test_the_same_counting_in_files(tmp_path):
    path, other = tmp_path / "a.skfa", tmp_path / "b.skfa"
    counts = some_counts().with_source("north")
    counts.save(path)
    some_counts(1).with_source("north").save(other)
    again = ScoreCounts.load(path)
    for other_copy in (path, counts, pickle.loads(pickle.dumps(again)), copy.deepcopy(again)):
        assert ScoreCounts.merge([again, other_copy]) == counts
    names = rf"'{re.escape(str(path))}' and '{re.escape(str(other))}' both are the source 'north'"
    with pytest.raises(MergeError, match=names):
        ScoreCounts.merge([path, other])
    assert ScoreCounts.merge([path, other], repeated="replace") == some_counts(1)
    with pytest.warns(UserWarning, match=f"^1 part left out as invalid.*{names}"):
        assert ScoreCounts.merge([path, other], on_invalid="skip") == counts
    for change in (
        lambda: again.map_scores(np.round),
        lambda: select_groups(again, [0]),
        lambda: again.regroup(str.upper),
    ):
        with pytest.raises(MergeError, match="with different counts"):
            again + change()
    with pytest.raises(ValueError, match=r"repeated must be 'raise'.*got 'never'"):
        ScoreCounts.merge([path], repeated="never")


def test_a_receiver_binds_groups_and_sources():
    own, many = Limits(groups=["a", "b"], source="oslo"), made(1, n_rows=200)
    assert ScoreCounts.from_bytes(A.to_bytes(), limits=own) == A
    few = A + ScoreCounts.from_predictions([0, 1], [0.1, 0.2], groups=["c", "c"])
    few = few.reduced(rule("summary", min_count=3, tell_withheld="labels"))
    for counts, limits, message in (
        (A, Limits(groups=["a"]), "rows of 1 group that its sender may not have: 'b'"),
        (few, own, "rows of 1 group that its sender may not have: 'c'"),
        (A.regroup(None), own, "rows without a group, and its sender may have 'a', 'b'"),
        (A, Limits(source="va"), "counts of another source, 'oslo'"),
        (made(1), Limits(source="va"), "it has counts of another source, None"),
        (many, Limits(max_cells=99), "it has 200 cells"),
        (many, Limits(max_groups=1), "it has 2 groups"),
        (many, Limits(max_sources=0), "it has 1 sources"),
    ):
        with pytest.raises(LimitError, match=message):
            ScoreCounts.from_bytes(counts.to_bytes(), limits=limits)


def saved(path, seed, source, **options):
    some_counts(seed, **options).with_source(source).save(path)
    return path


@pytest.mark.parametrize("sources", [(None, None), ("north", None), (None, "south")])
def test_equal_counts_of_two_countings_are_named(sources, tmp_path):
    paths = [saved(tmp_path / f"{i}.skfa", 0, source) for i, source in enumerate(sources)]
    one, two = map(ScoreCounts.load, paths)
    by_path = [repr(str(path)) for path in paths]
    for names, add in (
        (by_path, lambda: ScoreCounts.merge(paths)),
        (["part 0", "part 1"], lambda: one + two),
        (["part 0", by_path[1]], lambda: ScoreCounts.merge([one, paths[1]])),
    ):
        message = f"{' and '.join(names)} are different countings with equal counts, so rows may"
        with pytest.warns(UserWarning, match=f"^{re.escape(message)}") as found:
            assert add() == some_counts() + some_counts()
        assert len(found) == 1
    with pytest.warns(UserWarning, match="with_source.* This holds for 1 other part as well"):
        ScoreCounts.merge([*paths, saved(tmp_path / "third.skfa", 0, None)])


def test_threads_give_the_same_identifier():
    for seed in range(20):
        counts = some_counts(seed)
        together = threading.Barrier(4)

        def convert(_, counts=counts, together=together):
            together.wait()
            return counts.to_bytes()

        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(convert, range(4)))) == 1


def through_skops(counts):
    data = skops.io.dumps(counts)
    return skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))


@pytest.mark.parametrize("again", [lambda p: pickle.loads(pickle.dumps(p)), through_skops])
@pytest.mark.parametrize(
    "name",
    [
        "columns, some missing",
        "no groups, weighted",
        "no rows",
        "columns, weighted, binned",
        "ranges",
    ],
)
def test_pickles_and_skops_keep_the_sources(again, name):
    counts = select_groups(CASES[name], np.arange(len(CASES[name])))
    counts = again(counts)
    assert_same(counts, CASES[name])
    counts = counts.with_source("north")
    assert_same(again(counts), counts)
    assert again(counts).sources == counts.sources
    assert [source.name for source in counts.sources][-1] == "north"
    with pytest.raises(AttributeError, match="immutable"):
        counts.__setstate__({"content": counts.to_bytes()})


def test_a_changed_source_of_a_pickle_is_noticed():
    counts = some_counts().with_source("north")
    (source,) = counts.sources
    for change in (
        {"sources": (source._replace(name="south"),)},
        {"sources": (source._replace(period="2026-10"),)},
        {"sources": (source._replace(identifier="0" * 32),)},
        {"sources": (), "is_complete": False},
        {"is_complete": False},
    ):
        with pytest.raises(ValueError, match="the pickled ScoreCounts is damaged: its checksum"):
            restored(counts, sealed=True, **change)
    for wrong in ({"identifier": "north"}, {"metadata": (("a", 1),)}):
        with pytest.raises(ValueError, match="is damaged: its sources are none"):
            restored(counts, sources=(source._replace(**wrong),))


def write_some(folder, n_files, n_rows=300, groups=("a", "b", "c")):
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number}.skfa" for number in range(n_files)]
    for number, path in enumerate(paths):
        some_counts(number, n_rows, groups).with_source(f"site {number}").save(path)
    return paths


@pytest.mark.parametrize("shape", [list, iter, tuple, lambda paths: map(str, paths)])
def test_files_are_merged(shape, tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "_ROUND", 500)
    paths = write_some(tmp_path, 30)
    merged = ScoreCounts.merge(shape(paths))
    whole = ScoreCounts.merge([some_counts(number, 300, ("a", "b", "c")) for number in range(30)])
    assert_same(merged, whole)
    assert len(merged.sources) == 30
    in_part = ScoreCounts.merge([ScoreCounts.load(paths[0]), *paths[1:20], some_counts(99)])
    rest = ScoreCounts.merge(paths[20:])
    assert_same(in_part + rest, whole + some_counts(99))
    (tmp_path / "merged.skfa").touch()
    merged.save(tmp_path / "merged.skfa")
    assert ScoreCounts.load(tmp_path / "merged.skfa").sources == merged.sources
    # A file that is in the sum already counts once.
    assert_same(ScoreCounts.merge([tmp_path / "merged.skfa", paths[7]]), merged)


def test_files_are_read_one_at_a_time(tmp_path, monkeypatch):
    """Only the merged counts and the files of one round are in memory, besides small files."""
    monkeypatch.setattr(merging, "_ROUND", 500)
    monkeypatch.setattr(merging, "_CELLS_PER_PART", 50)
    monkeypatch.setattr(merging, "_SMALL", 0)
    paths = write_some(tmp_path, 20, n_rows=120)
    n_alive = []
    read = file_format.read_content

    def watched(*arguments):
        found = read(*arguments)
        n_alive.append(sum(type(thing) is State for thing in gc.get_objects()))
        return found

    monkeypatch.setattr(file_format, "read_content", watched)
    gc.collect()
    before = sum(type(thing) is State for thing in gc.get_objects())
    ScoreCounts.merge(paths)
    # A file has about 80 cells, and the merged counts at most 150: a round has 4 files.
    assert len(n_alive) == 20
    assert max(n_alive) - before <= 7


# Contents of the files in tests/data: the group labels of all cells, and the counts
TWO_CELLS = [0.5, 0.5], [1, 2], [1, 0]
THREE_CELLS = [0.5, 0.5, 0.5], [1, 2, 0], [1, 0, 3]
HOURS = [pd.Timestamp(f"2020-10-25T0{hour}:30", tz="UTC") for hour in (0, 1)]
DATES = [datetime.datetime(1969, 12, 31), datetime.datetime(2026, 1, 2, 3, 4, 5, 678)]
VERSION_1 = {
    "no_groups": (None, [0.1, 0.25, 1e-300], [3, 0, 1], [0, 2, 2**33]),
    "text": (["Ålesund", "va", "va"], [0.5, -0.25, 0.5], [1, 2, 0], [1, 0, 3]),
    "integers": ([-5, 0, 2**40], *THREE_CELLS),
    "unsigned": ([7, 2**64 - 1], *TWO_CELLS),
    "booleans": ([False, True], *TWO_CELLS),
    "dates": (DATES, *TWO_CELLS),
    "instants": ([hour.tz_convert("Europe/Oslo") for hour in HOURS], *TWO_CELLS),
    "periods": ([pd.Period(f"2020Q{n}", "Q-MAR") for n in (1, 3)], [0, 1], [1, 2], [1, 0]),
    "intervals": (list(pd.IntervalIndex.from_breaks([-np.inf, 0.1 + 0.2, np.inf])), *TWO_CELLS),
    "columns": ([("oslo", 1, "(missing)"), ("oslo", 2, True), ("va", 1, False)], *THREE_CELLS),
    "empty": ([], [], [], []),
}


@pytest.mark.parametrize("name", VERSION_1)
def test_files_of_version_1_are_read(name):
    groups, scores, negatives, positives = VERSION_1[name]
    expected = ScoreCounts.from_counts(groups, scores, negatives, positives)
    counts = ScoreCounts.load(DATA / f"{name}.skfa")
    assert counts == expected
    assert counts.groups == expected.groups
    assert [*map(str, counts.groups or ())] == [*map(str, expected.groups or ())]
    assert (counts.n_missing, counts.group_names) == (0, ())
    assert [source.name for source in counts.sources] == [name]


def test_a_weighted_file_of_version_1_is_read():
    """The counts are merged from two countings, of which one has no name and omitted rows."""
    counts = ScoreCounts.load(DATA / "weighted.skfa")
    assert counts.to_counts().to_dict("list") == {
        "site": ["oslo", "oslo", "va"],
        "ward": [1, 1, 2],
        "score": [0.25, 0.5, 0.25],
        "n_negatives": [1, 0, 2],
        "n_positives": [0, 1, 1],
        "weight_negatives": [0.5, 0.0, 4.0],
        "weight_positives": [0.0, 3.0, 1.0],
        "squared_weight_negatives": [0.25, 0.0, 8.5],
        "squared_weight_positives": [0.0, 9.0, 1.0],
    }
    assert counts.n_missing == 2
    assert counts.group_names == ("site", "ward")
    assert view_of(counts).classes == (("ill", "well"), "ill")
    assert [source.name for source in counts.sources] == [None, "north"]


def test_invalid_files_are_skipped_on_request(tmp_path):
    paths = write_some(tmp_path, 3)
    data = paths[1].read_bytes()
    paths[1].write_bytes(data[: len(data) // 2])
    absent = tmp_path / "absent.skfa"
    expected = ScoreCounts.merge([paths[0], paths[2]])
    with pytest.raises(ValueError, match=re.escape(f"'{paths[1]}' is no file of ScoreCounts")):
        ScoreCounts.merge(paths)
    message = rf"2 parts left out as invalid. '{paths[1]}': .*cut off.*; '{absent}': .*No such file"
    with pytest.warns(UserWarning, match=message) as found:
        assert ScoreCounts.merge([*paths, absent], on_invalid="skip") == expected
    assert len(found) == 1
    named = {"oslo": paths[0], "bern": paths[1], "rome": paths[2]}
    with pytest.warns(UserWarning, match="1 part left out as invalid. bern: .*cut off"):
        assert ScoreCounts.merge(named, on_invalid="skip") == expected
    with pytest.raises(ValueError, match=r"got none. 1 part left out as invalid"):
        ScoreCounts.merge([absent], on_invalid="skip")
    # The limits of the receiver refuse a file, too.
    few = Limits(max_rows=100)
    write_some(tmp_path / "few", 1, n_rows=80)
    with pytest.warns(UserWarning, match="1 part left out .* above the receiver's limit of 100"):
        merged = ScoreCounts.merge(
            [tmp_path / "few" / "0.skfa", paths[0]], on_invalid="skip", limits=few
        )
    assert merged == ScoreCounts.load(tmp_path / "few" / "0.skfa")


@pytest.mark.parametrize("repeated", ["raise", "replace"])
@pytest.mark.parametrize(
    "other",
    [
        TWO.with_source("rome", model="m2", period="2026-10"),
        TWO.reduced("summary").with_source("rome", **OCTOBER),
        TWO.regroup({"a": 1, "b": 2}).with_source("rome", **OCTOBER),
        TWO.regroup(None).with_source("rome", **OCTOBER),
        ScoreCounts.from_predictions([0, 1], [0.1, 0.2], groups=["a"] * 2, pos_label=0),
    ],
)
def test_parts_that_contradict_most_are_skipped_on_request(other, repeated, tmp_path):
    other.save(tmp_path / "other.skfa")
    for part in (other, tmp_path / "other.skfa"):
        for parts in itertools.permutations([part, A + B, C]):
            with pytest.raises(MergeError):
                merge(*parts, repeated=repeated)
            number = f"part {parts.index(part)}" if part is other else "'.*other.skfa'"
            with pytest.warns(UserWarning, match=f"^1 part left out as invalid. {number}: "):
                assert merge(*parts, repeated=repeated, on_invalid="skip") == A + B + C


@pytest.mark.parametrize("repeated", ["raise", "replace"])
@pytest.mark.parametrize(
    ("parts", "by_period"),
    [
        ([(A + B).reduced("bins"), A, B, C], False),
        ([OTHER.reduced("bins"), A, B, C], False),
        ([merge(A, FOUR.with_source("rome", model="m2"), models="any"), A, B, C], False),
        ([B + TWO.with_source("oslo"), A, B], False),
        ([A + NEXT, A, NEXT, B], True),
        ([OF_SUMMARIES.regroup({"a": 1, "b": 2}), SUMMARY, SUMMARY + OF_SUMMARIES], False),
    ],
)
def test_a_part_that_is_skipped_displaces_no_others(parts, by_period, repeated):
    expected = merge(*parts[1:], by_period=by_period)
    for shuffled in itertools.permutations(parts):
        message = f"^1 part left out as invalid. part {shuffled.index(parts[0])}: "
        with pytest.warns(UserWarning, match=message):
            found = merge(*shuffled, by_period=by_period, repeated=repeated, on_invalid="skip")
        assert found == expected
        assert found.sources == expected.sources


def test_a_sum_that_is_refused_leaves_the_parts_that_it_replaced(tmp_path, monkeypatch):
    of_rome = OF_SUMMARIES.regroup({"a": "e", "b": "f"})
    other = made(7).regroup({"a": "e", "b": "f"}).reduced("summary").with_source("oslo")
    parts = [SUMMARY, of_rome, SUMMARY + other]  # two summaries with one group
    with pytest.warns(UserWarning, match="^1 part left out .* part 2: part 1 and part 2 are summ"):
        assert merge(*parts, on_invalid="skip") == SUMMARY + of_rome
    # A file that is gone when its counts are added
    path, read = tmp_path / "sum.skfa", []
    AB.save(path)

    def read_file_at(path, most):
        read.append(path)
        if len(read) > 2:
            raise FileNotFoundError("gone")
        return path.read_bytes()

    monkeypatch.setattr("skfedauc.counts.file_format.read_file", read_file_at)
    monkeypatch.setattr("skfedauc.counts.merging._MOST_KEPT", 0)
    with pytest.warns(UserWarning, match="^1 part left out as invalid. '.*sum.skfa': gone"):
        assert merge(A, path, C, on_invalid="skip") == A + C


@pytest.mark.parametrize("most_kept", [0, 1 << 22])
def test_a_merge_that_skips_files_keeps_what_it_read(tmp_path, monkeypatch, most_kept):
    paths, read = write_some(tmp_path, 3), []

    def read_file_at(path, most):
        read.append(path)
        return path.read_bytes()

    expected = ScoreCounts.merge(paths)
    monkeypatch.setattr("skfedauc.counts.file_format.read_file", read_file_at)
    monkeypatch.setattr("skfedauc.counts.merging._MOST_KEPT", most_kept)
    assert ScoreCounts.merge(paths, on_invalid="skip") == expected
    assert len(read) == (3 if most_kept else 9)


@pytest.mark.parametrize(("scale", "is_refused"), [(1e2, False), (1e6, True), (1e7, True)])
def test_weights_that_a_difference_would_lose_are_refused(scale, is_refused):
    rng = np.random.default_rng(81)
    large, small = (
        ScoreCounts.from_predictions(
            rng.integers(0, 2, 50), rng.integers(0, 3, 50) / 2, sample_weight=rng.random(50) * size
        )
        for size in (scale, 1.0)
    )
    if is_refused:
        with pytest.raises(ValueError, match="too large to be taken out without rounding"):
            (large + small) - large
    else:
        found, expected = (view_of(of).cells.weights for of in ((large + small) - large, small))
        assert_allclose(found, expected, rtol=1e-9)


def test_a_part_with_other_columns_is_not_subtracted():
    parts = [of.with_source(name, period="1") for of, name in ((A, "oslo"), (B, "bern"))]
    whole = ScoreCounts.merge(parts, by_period=True)
    with pytest.raises(ValueError, match="Subtract the part as it was merged, with these groups"):
        whole - parts[0]


def test_names_of_columns_that_are_like_arguments():
    table = pd.DataFrame({"y": [0, 1], "s": [0.1, 0.2], "self": ["a", "b"]})
    options = {"label": "y", "score": "s", "group": "self"}
    expected = ScoreCounts.from_table(table, **options)
    assert ScoreCounts.from_table(pl.from_pandas(table).lazy(), **options) == expected
    counts = ScoreCounts.from_table(
        table.rename(columns={"self": "scores"}), **options | {"group": "scores"}
    )
    assert ScoreCounts.from_counts(**counts.to_counts()) == counts


@pytest.mark.parametrize(
    ("name", "value"), [("max_rows", -1), ("groups", 1), ("groups", "a"), ("source", ["a"])]
)
def test_limits_of_senders_are_checked(name, value):
    with pytest.raises((TypeError, ValueError), match=f"{name} must be a "):
        Limits(**{name: value})
