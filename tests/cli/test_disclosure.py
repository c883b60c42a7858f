"""Disclosure of the files of `count` and `merge`: options, reports and the output of `show`."""

import numpy as np
import pytest
from cli_cases import COLUMNS
from rules import rule

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.cli.main import main
from skfedauc.cli.show import known_classes
from skfedauc.counts import view_of
from skfedauc.counts.score_counts import with_n_missing
from skfedauc.report import first_lines_of

BINS = Bins.of_scores(parts=2)
OPTIONS = ["--disclosure", "bins", "--bins", "scores", "--parts", "2"]


@pytest.fixture
def counted(tmp_path, printed_by):
    """Count a table; return the path of the file."""

    def run(frame, name, *options):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        path = tmp_path / f"{name}.skfa"
        source = tmp_path / f"{name}.csv"
        printed_by("count", source, *COLUMNS, "--source", name, "-o", path, *options)
        return path

    return run


def of_rows(frame, disclosure="exact"):
    groups = frame["g"].rename("g")
    return ScoreCounts.from_predictions(
        frame["y"], frame["s"], groups=groups, disclosure=disclosure
    )


def test_bins_of_probabilities(frame, counted, error_of, tmp_path):
    probabilities = frame.assign(s=frame["s"].rank(pct=True).round(3))
    few = ["--disclosure", "bins", "--octaves", "3", "--parts", "4"]
    expected = of_rows(probabilities, Bins.of_probabilities(3, 4))
    assert ScoreCounts.load(counted(probabilities, "few", *few)) == expected
    loaded = ScoreCounts.load(counted(probabilities, "all", "--disclosure", "bins"))
    assert loaded.disclosure.bins == Bins.of_probabilities()
    frame.to_csv(tmp_path / "p.csv", index=False)
    message = error_of(["count", tmp_path / "p.csv", *COLUMNS, "-o", tmp_path / "p.skfa", *few])
    assert "column 's' has scores outside 0 to 1, such as " in message
    assert message.endswith("pass --bins scores, which has bins for all scores\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--parts", "4"], "--parts needs --disclosure bins; pass it as well"),
        (["--disclosure", "exact", "--edges", "1"], "--edges needs --disclosure bins"),
        ([*OPTIONS, "--octaves", "3"], "--octaves does not go with --bins scores"),
        ([*OPTIONS, "--edges", "3"], "--edges does not go with --bins scores"),
        (["--disclosure", "bins", "--edges", "3", "--parts", "2"], "--parts does not go with --e"),
        (["--disclosure", "bins", "--parts", "3"], "parts must be a power of two"),
        (["--disclosure", "bins", "--edges", "3,2"], "edges must be in increasing order"),
        (["--disclosure", "bins", "--edges", "3,x"], "must be numbers separated by commas; got"),
    ],
)
def test_options_that_do_not_go_together(written, tmp_path, error_of, options, message):
    assert message in error_of(["count", written, *COLUMNS, "-o", tmp_path / "p.skfa", *options])
    assert not (tmp_path / "p.skfa").exists()


def test_files_of_other_levels_are_merged_on_request(frame, counted, tmp_path, error_of, capsys):
    exact, binned = counted(frame[:150], "exact"), counted(frame[150:], "binned", *OPTIONS)
    path = tmp_path / "all.skfa"
    message = error_of(["merge", exact, binned, "-o", path])
    assert f"{exact} is exact, and {binned} is {BINS!r}; pass " in message
    assert f"; pass {' '.join(OPTIONS)} to reduce all files to this level" in message
    assert not path.exists()
    assert main(["merge", str(exact), str(binned), "-o", str(path), *OPTIONS]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].endswith(f"6 groups by g, bins of scores, by {BINS!r}")
    assert ScoreCounts.load(path) == of_rows(frame, BINS)
    message = error_of(["merge", exact, binned, "-o", tmp_path / "x", "--disclosure", "exact"])
    assert f"error: {binned}: disclosure='exact' would disclose more than these" in message
    other = counted(frame[150:], "other", "--disclosure", "bins", "--edges", "0.1")
    message = error_of(["merge", binned, other, "-o", tmp_path / "x"])
    assert "count the rows of one of them again with the bins of the other" in message
    edges = counted(frame[150:], "edges", "--disclosure", "bins", "--edges", "0.1,0.7")
    message = error_of(["merge", edges, other, "-o", tmp_path / "x"])
    assert "pass --disclosure bins --edges=0.1 to reduce all files" in message


def test_files_with_min_count_are_merged_with_exact_files(
    frame, counted, tmp_path, error_of, printed_by
):
    exact = counted(frame[:150], "exact")
    path, joined = tmp_path / "all.skfa", tmp_path / "joined.skfa"
    of_rows(frame[150:], rule(BINS, min_count=3)).save(joined)
    message = error_of(["merge", exact, joined, "-o", path])
    assert f"{exact} is exact, and {joined} is ranges of scores; pass --disclosure" in message
    printed_by("merge", exact, joined, "-o", path, *OPTIONS)
    expected = [ScoreCounts.load(exact).reduced(BINS), ScoreCounts.load(joined)]
    assert ScoreCounts.load(path) == ScoreCounts.merge(expected)


def test_show_of_other_levels(frame, counted, tmp_path, printed_by):
    printed = printed_by("show", counted(frame, "exact"))
    assert "Level of disclosure: exact scores\n" in printed
    assert "narrows down" not in printed
    printed = printed_by("show", counted(frame, "open", "--disclosure", "bins", "--edges", "0"))
    assert "- No bin is a single score, so the file gives back no score.\n" in printed
    assert "without a limit on one side for the row with the widest one.\n" in printed
    assert "Scores: 2 bins from -infinity to infinity\n" in printed
    one = frame.assign(s=frame["s"].clip(upper=0.5))
    printed = printed_by("show", counted(one, "one", "--disclosure", "bins", "--edges=0,1"))
    assert "Scores: 2 bins from -infinity to about 0.5\n" in printed
    ranges = ScoreCounts.from_counts(**of_rows(frame, BINS).to_counts())
    ranges.save(tmp_path / "ranges.skfa")
    printed = printed_by("show", tmp_path / "ranges.skfa")
    assert "Level of disclosure: ranges of scores, which are not bins of one rule\n" in printed
    assert " cells of a group and a range, " in printed
    of_rows(frame[:0], BINS).save(tmp_path / "empty.skfa")
    assert "Scores: 0 bins\n" in printed_by("show", tmp_path / "empty.skfa")


def test_ranges_without_limits(tmp_path, printed_by):
    largest = np.finfo(float).max
    low, high = [-largest, -largest, 0.25], [largest, 0.5, 0.5]
    for first, widest in ((0, "either"), (1, "one")):
        ScoreCounts.from_counts(
            score=[0.5, 0.4, 0.3][first:],
            n_negatives=[4, 4, 4][first:],
            n_positives=[4, 4, 4][first:],
            score_low=low[first:],
            score_high=high[first:],
        ).save(tmp_path / "ranges.skfa")
        printed = printed_by("show", tmp_path / "ranges.skfa")
        assert f"without a limit on {widest} side for the row with the widest one.\n" in printed
        assert "ranges have 2 distinct ends. " in printed


def test_summaries(frame, counted, tmp_path, printed_by, error_of):
    frame = frame.sort_values("g", ignore_index=True)
    n_first = int((frame["g"] == frame["g"][0]).sum())
    parts = frame[: n_first + 1].copy(), frame[n_first + 1 :]
    parts[0].loc[n_first, "g"] = "one row"
    parts[0].loc[0, "g"], parts[0].loc[1, "g"], parts[0].loc[2, "g"] = "few", "few", "few"
    parts[0].loc[:2, "y"] = [1, 0, 0]
    paths = [counted(part, f"{i}", "--disclosure", "summary") for i, part in enumerate(parts)]
    for path, part in zip(paths, parts, strict=True):
        assert ScoreCounts.load(path) == of_rows(part, "summary")
    lines = printed_by("show", paths[0]).splitlines()
    n_rows = n_first + 1
    for line in (
        "Level of disclosure: a summary by group, without scores",
        "- The numbers of rows of both classes of each group, the AUC of the group, and sums from "
        "which the variance of the AUC follows. The file holds no score.",
        "- 1 of 3 groups hold one or two rows of a class: the AUC and the sums give back the ranks "
        "of these rows among the rows of the other class.",
        "- 0 of 3 groups hold at least 3 rows of both classes, and 3 to 9 rows of a class: the "
        "sums often give back these ranks as well, in 85 % of the arrangements of 3 positives and "
        "12 negatives, 76 % of 3 and 97, and 26 % of 8 and 8. Anyone who knows the ranks and the "
        "scores of all rows of a group learns the class of each row.",
        "- 1 of 3 groups hold rows of one class: anyone who knows a person's group learns the "
        f"class of 1 of {n_rows} rows.",
    ):
        assert line in lines
    assert not any(line.startswith("Scores: ") for line in lines)
    printed_by("merge", *paths, "-o", tmp_path / "all.skfa")
    merged = ScoreCounts.load(tmp_path / "all.skfa")
    assert (len(merged), merged.disclosure.level) == (8, "summary")
    exact = counted(parts[1], "exact")
    message = error_of(["merge", paths[0], exact, "-o", tmp_path / "x"])
    assert f"{paths[0]} is a summary, and {exact} is exact; pass --disclosure summary to" in message
    printed_by("merge", paths[0], exact, "-o", tmp_path / "x", "--disclosure", "summary")
    assert ScoreCounts.load(tmp_path / "x") == merged
    message = error_of(["merge", *paths, counted(parts[1][:50], "again", "--disclosure", "summary"),
                        "-o", tmp_path / "y"])  # fmt: skip
    assert f"{paths[1]} and {tmp_path / 'again.skfa'} are summaries with rows of the" in message


@pytest.mark.parametrize(("n_few", "line"), [(2, 0), (3, 1), (9, 1), (10, None)])
def test_show_counts_summaries_with_few_rows_of_a_class(tmp_path, printed_by, n_few, line):
    y = np.repeat([1, 0], [n_few, 300])
    counts = ScoreCounts.from_predictions(y, np.arange(y.size), disclosure="summary")
    counts.save(tmp_path / "p.skfa")
    printed = printed_by("show", tmp_path / "p.skfa")
    for i, words in enumerate(["one or two rows of a class", "at least 3 rows of both classes"]):
        assert f"- {int(line == i)} of 1 table of rows hold {words}" in printed


def test_summaries_with_three_positives_leave_at_most_two_ways():
    """The shares that `show` and the guide state; positions of positives among 97 negatives."""
    shares = {}
    for n in (12, 97):
        last = np.arange(n + 1)
        low, middle, high = np.meshgrid(last, last, last, indexing="ij")
        is_ordered = (low <= middle) & (middle <= high)
        low, middle, high = low[is_ordered], middle[is_ordered], high[is_ordered]
        # Concordant pairs, squares by positive, and squares by negative
        sums = [low + middle + high, low**2 + middle**2 + high**2, 5 * low + 3 * middle + high]
        ways = np.unique(np.stack(sums), axis=1, return_counts=True)[1]
        assert ways.max() == 2
        shares[n] = 100 * (ways == 1).sum() / low.size
    assert shares == {12: pytest.approx(85, abs=0.5), 97: pytest.approx(76, abs=0.5)}


@pytest.mark.parametrize("options", [(), ("--group", "sex")])
def test_the_report_of_a_summary_has_what_it_determines(options, frame, counted, printed_by):
    """The report of a summary has the lines of the exact counts that a summary determines."""
    path = counted(frame, "summary", "--disclosure", "summary", *options)
    summary = printed_by("report", path)
    _, _, note, *lines = summary.splitlines()
    unknown = "pooled, cross, cross_difference or bias_score"
    assert note.endswith(f"; a summary by group, which does not determine {unknown}")
    counts = ScoreCounts.load(counted(frame, "exact", *options))
    exact = first_lines_of(GroupAUC(counts, undefined="ignore", min_per_class=10))
    expected = [*exact.answers, *exact.table_lines()]
    assert lines == [line for line in expected if not line.startswith("pooled")]


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_an_audit_needs_scores(option, frame, counted, error_of, tmp_path):
    path = counted(frame, "oslo", "--disclosure", "summary")
    message = error_of(["report", path, option, tmp_path / "page"])
    assert f"{path}: the fairness audit needs disclosure='bins' or 'exact'" in message
    assert "--clusters and --within, the report has what a summary determines" in message
    assert not (tmp_path / "page").exists()


def test_a_threshold_within_a_bin_is_refused(frame, counted, error_of):
    path = counted(frame, "oslo", *OPTIONS)
    message = error_of(["report", path, "--threshold", "0.3"])
    assert "the decisions at --threshold 0.3 are unknown: it is within a bin of scores" in message
    assert message.endswith("edge of a bin, or --threshold none to audit the ranking alone\n")


# Small counts ----------------------------------------------------------------------------

SMALL = ["--disclosure", "bins", "--bins", "scores", "--parts", "2", "--min-count", "10"]


@pytest.fixture
def uneven(frame):
    """Rows with two groups that have few rows of a class."""
    frame["g"] = np.where(frame.index < 7, "tiny", np.where(frame.index < 30, "small", "large"))
    return frame


def count_line(frame, tmp_path, *options):
    frame.to_csv(tmp_path / "p.csv", index=False)
    return ["count", tmp_path / "p.csv", *COLUMNS, "-o", tmp_path / "p.skfa", *options]


def classes_in_words(frame):
    positives = int(frame["y"].sum())
    return f"{positives} positives and {len(frame) - positives} negatives"


@pytest.mark.parametrize("tell", ["number", "rows", "labels"])
@pytest.mark.parametrize("disclosure", ["bins", "summary"])
def test_groups_with_few_rows_are_withheld(uneven, tmp_path, printed_by, disclosure, tell):
    options = SMALL if disclosure == "bins" else ["--disclosure", "summary", "--min-count", "10"]
    printed = printed_by(*count_line(uneven, tmp_path, *options, "--tell-withheld", tell))
    counts = ScoreCounts.load(tmp_path / "p.skfa")
    level = BINS if disclosure == "bins" else "summary"
    assert counts == of_rows(uneven).reduced(rule(level, min_count=10, tell_withheld=tell))
    told = "2 groups"
    if tell != "number":
        assert classes_in_words(uneven[:30]) == "20 positives and 10 negatives"
        told += ", 20 positives and at most 19 negatives"
    if tell == "labels":
        told += ": small; tiny"
    lines = printed.splitlines()
    assert lines[0].endswith(f": 400 rows, {classes_in_words(uneven)}")
    assert lines[1:4] == [
        "3 groups by g",
        "Withheld: 2 groups with 1 to 9 rows of a class: small; tiny",
        f"The file discloses of these groups: {told}",
    ]
    assert lines[4].endswith("; each number of rows in it is 0 or at least 10")
    shown = printed_by("show", tmp_path / "p.skfa").splitlines()
    assert f"Withheld, with few rows of a class: {told}" in shown
    accuracy = "Accuracy: the pooled AUC of the exact scores of the rows that are not withheld is "
    assert any(line.startswith(accuracy) for line in shown) == (disclosure == "bins")
    (sentence,) = (line for line in shown if line.startswith("- The number of groups that are "))
    assert ("rows of each class" in sentence, "labels" in sentence) == (
        tell != "number",
        tell == "labels",
    )
    merged = printed_by("merge", tmp_path / "p.skfa", "-o", tmp_path / "all.skfa").splitlines()
    assert ", 1 group by g, 2 groups withheld, " in merged[1]
    end = " \N{MIDDLE DOT}" if disclosure == "bins" else "; a summary by group, which does not"
    assert f" 2 groups withheld{end}" in printed_by("report", tmp_path / "all.skfa")


def test_groups_with_few_rows_are_joined(uneven, tmp_path, printed_by):
    uneven.loc[uneven.index[40:120], "g"] = "other"
    uneven.loc[:29, "g"] = np.where(uneven.index[:30] % 2, "a", "b")
    printed = printed_by(*count_line(uneven, tmp_path, *SMALL, "--small-groups", "join"))
    counts = ScoreCounts.load(tmp_path / "p.skfa")
    assert counts.groups == ("large", "other", "(missing)")
    assert counts == of_rows(uneven).reduced(rule(BINS, min_count=10, small_groups="join"))
    assert printed.splitlines()[2:4] == [
        "Joined: 2 groups with 1 to 9 rows of a class: a; b",
        "The file holds their rows as the group (missing)",
    ]
    assert "Withheld" not in printed_by("show", tmp_path / "p.skfa")


def test_the_only_group_may_be_withheld(uneven, tmp_path, error_of):
    counts = of_rows(uneven.assign(g="a")).reduced(rule("summary", min_count=1_000))
    counts.save(tmp_path / "p.skfa")
    assert "has no rows: the only group is withheld, " in error_of(["report", tmp_path / "p.skfa"])


def test_what_is_withheld_of_rows_without_a_group(uneven, tmp_path, printed_by):
    uneven.loc[395:, "g"] = None
    path = tmp_path / "p.skfa"
    printed = printed_by(*count_line(uneven, tmp_path, *SMALL, "--missing", "drop"))
    line = "Withheld: the number of rows without a group label, because it is small\n"
    assert "3 groups by g; 5 rows without a group dropped\n" in printed
    assert line in printed
    assert line in printed_by("show", path)
    counts = ScoreCounts.load(path)
    with_n_missing(counts, 30).save(path)
    printed = printed_by("show", path)
    assert "Left out: 30 rows without a group label\n" in printed
    assert "Withheld: the number of more rows without a group label, because it is small" in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--min-count", "5"], "--min-count needs --disclosure bins or summary; pass it as well"),
        (["--disclosure", "exact", "--min-count", "5"], "--min-count needs --disclosure bins or "),
        ([*OPTIONS, "--small-groups", "join"], "--small-groups needs --min-count; pass it as well"),
        ([*OPTIONS, "--tell-withheld", "rows"], "--tell-withheld needs --min-count; pass it as "),
        ([*OPTIONS, "--min-count", "2"], "--min-count: must be a whole number of at least 3; got"),
        ([*OPTIONS, "--min-count", "1.5"], "must be a whole number of at least 3; got '1.5'"),
        (
            [*OPTIONS, "--min-count", "100"],
            "all groups have 1 to 99 rows of a class, so --min-count 100 withholds all 400 rows; "
            "pass --small-groups join, fewer --group columns or a smaller number",
        ),
        (
            [*OPTIONS, "--min-count", "3" + "0" * 12, "--small-groups", "join"],
            "withholds all 400 rows; count the rows of a longer period, pass a smaller number, or",
        ),
    ],
)
def test_options_of_small_counts_that_are_refused(written, tmp_path, error_of, options, message):
    assert message in error_of(["count", written, *COLUMNS, "-o", tmp_path / "p.skfa", *options])
    assert not (tmp_path / "p.skfa").exists()


# Rows whose class is known ---------------------------------------------------------------


def known_by_brute_force(counts):
    """Known classes, from every score at which a range begins or ends, and the next ones."""
    low, high = (
        [counts.cells.scores] * 2 if view_of(counts).ranges is None else view_of(counts).ranges
    )
    groups = counts.cells.groups
    has_rows = counts.cells.negatives > 0, counts.cells.positives > 0
    n_cells = n_rows = n_in_part = 0
    for cell in range(low.size):
        if has_rows[0][cell] and has_rows[1][cell]:
            continue
        others = has_rows[has_rows[0][cell].astype(int)] & (groups == groups[cell])
        ends = np.concatenate([low[others], high[others], [low[cell], high[cell]]])
        ends = np.unique([np.nextafter(ends, -2.0), ends, np.nextafter(ends, 2.0)])
        ends = ends[(low[cell] <= ends) & (ends <= high[cell])]
        is_hidden = [bool(((low <= s) & (s <= high) & others).any()) for s in ends]
        size = int(counts.cells.negatives[cell]) + int(counts.cells.positives[cell])
        n_cells += not any(is_hidden)
        n_rows += size * (not any(is_hidden))
        n_in_part += size * (any(is_hidden) and not all(is_hidden))
    return n_cells, n_rows, n_in_part


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
