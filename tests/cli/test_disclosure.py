"""Disclosure of the files of `count` and `merge`: options, reports and the output of `show`."""

import numpy as np
import pytest
from cli_cases import COLUMNS, WEIGHTED
from rules import rule

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.cli.counts import known_classes
from skfedauc.counts.score_counts import view_of
from skfedauc.report.group_auc import first_lines_of

BINS = Bins.of_scores(parts=2)
OPTIONS = [*COLUMNS, "--disclosure", "bins", "--bins", "scores:2"]


def of_rows(frame, disclosure="exact"):
    rows = {"groups": frame["g"], "disclosure": disclosure}
    return ScoreCounts.from_predictions(frame["y"], frame["s"], **rows)


@pytest.mark.parametrize(
    ("text", "bins"),
    [
        (None, Bins.of_probabilities()),
        ("probabilities", Bins.of_probabilities()),
        ("probabilities:3", Bins.of_probabilities(3)),
        ("probabilities:3:4", Bins.of_probabilities(3, 4)),
        ("scores", Bins.of_scores()),
        ("scores:16", Bins.of_scores(16)),
        ("-1,0.5", Bins.at([-1, 0.5])),
    ],
)
def test_rules_of_bins(frame, counted, text, bins):
    probabilities = frame.assign(s=frame["s"].rank(pct=True).round(3))
    options = [] if text is None else [f"--bins={text}"]
    path = counted(probabilities, "p", *COLUMNS, "--disclosure", "bins", *options)
    assert ScoreCounts.load(path) == of_rows(probabilities, bins)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--bins", "scores"], "--bins needs --disclosure bins; pass it as well"),
        (["--disclosure", "exact", "--bins", "1"], "--bins needs --disclosure bins"),
        (["--disclosure", "bins", "--bins", "scores:1:2"], "--bins must be probabilities, scor"),
        (["--disclosure", "bins", "--bins", "3,x"], "cut points separated by commas; got '3,x'"),
        (["--disclosure", "bins", "--bins", "3,2"], "--bins: edges must be in increasing order"),
        (["--disclosure", "bins"], "column 's' must be from 0 to 1 for --bins probabilities; got"),
        (["--min-count", "5"], "--min-count needs --disclosure bins or summary; pass it as well"),
        ([*OPTIONS[-4:], "--tell-withheld", "rows"], "--tell-withheld needs --min-count; pass it"),
        ([*OPTIONS[-4:], "--min-count", "2"], "--min-count must be a whole number of at least 3;"),
        (["--source", " "], "--source must neither be empty nor begin or end with a space"),
        ([*OPTIONS[-4:], "--min-count", "100"], "so --min-count 100 withholds all rows; pass"),
    ],
)
def test_options_that_are_refused(written, tmp_path, error_of, options, message):
    assert message in error_of(["count", written, *COLUMNS, "-o", tmp_path / "p.skfa", *options])
    assert not (tmp_path / "p.skfa").exists()


def test_files_of_other_levels_are_merged_on_request(
    frame, counted, tmp_path, error_of, printed_by
):
    exact, binned = counted(frame[:150], "exact"), counted(frame[150:], "binned", *OPTIONS)
    path = tmp_path / "all.skfa"
    message = error_of(["merge", exact, binned, "-o", path])
    assert f"{exact} is exact, and {binned} is {BINS!r}; pass --disclosure" in message
    assert not path.exists()
    printed_by("merge", exact, binned, "-o", path, *OPTIONS[-4:])
    assert ScoreCounts.load(path) == of_rows(frame, BINS)
    message = error_of(["merge", exact, binned, "-o", tmp_path / "x", "--disclosure", "exact"])
    assert f"error: {binned}: --disclosure exact would disclose more than these" in message


def test_show_says_what_is_in_the_file(frame, counted, printed_by):
    path = counted(frame, "oslo", *COLUMNS, "--group", "sex")
    printed = printed_by("show", path)
    cells = frame.groupby(["g", "sex", "s"])["y"].agg(["size", "nunique"])
    n_single, n_cells = (cells["size"] == 1).sum(), len(cells)
    n_one, n_known = (cells["nunique"] == 1).sum(), cells.loc[cells["nunique"] == 1, "size"].sum()
    # The tutorial on several sites has all lines of a smaller file.
    for words in (
        f"- {n_single} of {n_cells} cells of one group and score hold a single row, ",
        f"- {n_one} of {n_cells} cells hold rows of one class and overlap none with the other: ",
        f" learns the class of {n_known} of 400 rows.\n",
    ):
        assert words in printed
    assert f", has {frame.groupby(['g', 'sex']).size().min()} row" in printed
    assert "Groups by g \N{MULTIPLICATION SIGN} sex: 007 \N{MIDDLE DOT} f; " in printed
    assert "; ... (12 in all); " in printed


def test_show_of_bins_ranges_and_weights(frame, counted, tmp_path, printed_by):
    zero = [*COLUMNS, "--disclosure", "bins", "--bins", "0"]
    assert "give back the weights of rows" in printed_by("show", counted(frame, "w", *WEIGHTED))
    printed = printed_by("show", counted(frame, "open", *zero))
    assert "a bin that is without a limit, and gives back the score of 0 rows.\n" in printed
    path = tmp_path / "ranges.skfa"
    ScoreCounts.from_counts(
        score=[0.2, 0.4, 0.6], n_negatives=[1, 5, 1], n_positives=[0, 4, 2],
        score_low=[0.2, 0.25, 0.5], score_high=[0.2, 0.5, 0.75],
    ).save(path)  # fmt: skip
    printed = printed_by("show", path)
    assert "Level of disclosure: ranges of scores, which are not bins of one rule\n" in printed
    assert "a range that is 0.25 wide, and gives back the score of 1 row.\n" in printed
    assert "The ends of ranges may be scores of rows" in printed
    assert "learns the class of at least 1 of 13 rows." in printed


def test_summaries(frame, counted, tmp_path, printed_by, error_of):
    frame = frame.sort_values("g", ignore_index=True)
    n_first = int((frame["g"] == frame["g"][0]).sum())
    parts = frame[: n_first + 1].copy(), frame[n_first + 1 :]
    parts[0].loc[n_first, "g"] = "one row"
    parts[0].loc[:2, "g"], parts[0].loc[:2, "y"] = "few", [1, 0, 0]
    summary = [*COLUMNS, "--disclosure", "summary"]
    paths = [counted(part, f"{i}", *summary) for i, part in enumerate(parts)]
    for path, part in zip(paths, parts, strict=True):
        assert ScoreCounts.load(path) == of_rows(part, "summary")
    printed = printed_by("show", paths[0])
    assert "Level of disclosure: a summary by group, without scores\n" in printed
    assert "- 1 group with 1 to 9 rows of a class: the sums give back the ranks" in printed
    assert f"person's group learns the class of 1 of {n_first + 1} rows.\n" in printed
    printed_by("merge", *paths, "-o", tmp_path / "all.skfa")
    merged = ScoreCounts.load(tmp_path / "all.skfa")
    assert (len(merged), merged.disclosure.level) == (8, "summary")


@pytest.mark.parametrize("options", [(), ("--group", "sex")])
def test_the_report_of_a_summary_has_what_it_determines(
    options, frame, counted, printed_by, error_of, tmp_path
):
    path = counted(frame, "summary", *COLUMNS, "--disclosure", "summary", *options)
    _, _, note, *lines = printed_by("report", path).splitlines()
    unknown = "pooled, cross, cross_difference or bias_score"
    assert note.endswith(f"; a summary by group, which does not determine {unknown}")
    counts = ScoreCounts.load(counted(frame, "exact", *COLUMNS, *options))
    exact = first_lines_of(GroupAUC(counts, undefined="ignore", min_per_class=10))
    expected = [*exact.answers, *exact.table_lines()]
    expected[expected.index("Counted by source exact.")] = "Counted by source summary."
    assert lines == [line for line in expected if not line.startswith("pooled")]
    for asked in (["--json"], ["--html", tmp_path / "page"], ["--threshold", "0.5"]):
        assert "FairnessAudit needs --disclosure bins" in error_of(["report", path, *asked])
    assert not (tmp_path / "page").exists()


def test_a_threshold_within_a_bin_is_refused(frame, counted, error_of):
    message = error_of(["report", counted(frame, "oslo", *OPTIONS), "--threshold", "0.3"])
    assert "the decisions at --threshold 0.3 are unknown: it is within a bin of scores" in message
    assert "edge of a bin, or --threshold none to audit the ranking alone\n" in message


@pytest.fixture
def uneven(frame):
    """Rows with two groups that have few rows of a class."""
    frame["g"] = np.where(frame.index < 7, "tiny", np.where(frame.index < 30, "small", "large"))
    return frame


@pytest.mark.parametrize("tell", ["number", "rows", "labels"])
@pytest.mark.parametrize("disclosure", ["bins", "summary"])
def test_groups_with_few_rows_are_withheld(uneven, counted, printed_by, tmp_path, disclosure, tell):
    options = [*COLUMNS, "--disclosure", "summary"] if disclosure == "summary" else OPTIONS
    options = [*options, "--min-count", "10"]
    path = counted(uneven, "p", *options, "--tell-withheld", tell)
    counts = ScoreCounts.load(path)
    level = BINS if disclosure == "bins" else "summary"
    assert counts == of_rows(uneven).reduced(rule(level, min_count=10, tell_withheld=tell))
    told = "- 2 groups withheld, with few rows of a class"
    told += ", at most 20 positives, at most 19 negatives" if tell != "number" else ""
    told += ": small; tiny" if tell == "labels" else ""
    assert f"{told}. Anyone who knows " in printed_by("show", path)
    assert "1 group by" not in printed_by("merge", path, "-o", path.with_name("all.skfa"))
    assert ScoreCounts.load(path.with_name("all.skfa")) == counts
    assert " 2 groups withheld" in printed_by("report", path)
    command = ["count", tmp_path / "p.csv", *options, "--tell-withheld", tell, "-o", path]
    assert "\nGroups that are not in the file: small; tiny\n" in printed_by(*command)


def known_by_brute_force(counts):
    """Known classes, from every score at which a range begins or ends, and the next ones."""
    ranges = view_of(counts).ranges
    low, high = [counts.cells.scores] * 2 if ranges is None else ranges
    groups = counts.cells.groups
    has_rows = counts.cells.negatives > 0, counts.cells.positives > 0
    n_cells = n_rows = 0
    for cell in range(low.size):
        if has_rows[0][cell] and has_rows[1][cell]:
            continue
        others = has_rows[has_rows[0][cell].astype(int)] & (groups == groups[cell])
        ends = np.concatenate([low[others], high[others], [low[cell], high[cell]]])
        ends = np.unique([np.nextafter(ends, -2.0), ends, np.nextafter(ends, 2.0)])
        ends = ends[(low[cell] <= ends) & (ends <= high[cell])]
        if not any(((low <= s) & (s <= high) & others).any() for s in ends):
            n_cells += 1
            n_rows += int(counts.cells.negatives[cell]) + int(counts.cells.positives[cell])
    return n_cells, n_rows


def counts_with_ranges(rng, n_groups):
    """Counts whose ranges overlap, touch, are single scores or hold each other."""
    n_cells = int(rng.integers(1, 12))
    low, high = np.sort(rng.integers(0, 10, (2, n_cells)) / 8, axis=0)
    # Some ranges end just below the edge at which others begin.
    high = np.where(rng.random(n_cells) < 0.5, np.maximum(np.nextafter(high, -2.0), low), high)
    negatives, positives = rng.integers(0, 3, (2, n_cells))
    counts = ScoreCounts.from_counts(
        score=low + (high - low) * rng.random(n_cells),
        n_negatives=negatives,
        n_positives=positives + (negatives == 0),
        group=rng.integers(0, n_groups, n_cells),
        score_low=low,
        score_high=high,
    )
    return counts if n_groups > 1 else counts.regroup(None)


def test_known_classes_by_brute_force():
    rng = np.random.default_rng(0)
    found = []
    for i in range(200):
        counts = counts_with_ranges(rng, 1 + i % 3)
        found.append(known_classes(counts))
        assert found[-1] == known_by_brute_force(counts)
    assert (np.array(found) > 0).mean(axis=0).min() > 0.3
