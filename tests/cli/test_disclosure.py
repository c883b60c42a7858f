"""What the files of `count` and `merge` disclose: options, reports and the words of `show`."""

import json
import re

import numpy as np
import pytest
from cli_cases import COLUMNS

from skfedauc import Bins, ScoreCounts
from skfedauc.cli.main import main

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


@pytest.mark.parametrize(
    ("options", "bins"),
    [
        (OPTIONS, BINS),
        (["--disclosure", "bins", "--edges=-1,0.5,2"], Bins.at([-1, 0.5, 2])),
        (["--disclosure", "bins", "--bins", "scores"], Bins.of_scores()),
        (["--disclosure", "exact"], None),
    ],
)
def test_counts_of_bins(frame, counted, options, bins):
    counts = ScoreCounts.load(counted(frame, "oslo", *options))
    assert counts == of_rows(frame, bins or "exact")
    assert counts.bins == bins


def test_bins_of_probabilities(frame, counted, error_of, tmp_path):
    probabilities = frame.assign(s=frame["s"].rank(pct=True).round(3))
    few = ["--disclosure", "bins", "--octaves", "3", "--parts", "4"]
    expected = of_rows(probabilities, Bins.of_probabilities(3, 4))
    assert ScoreCounts.load(counted(probabilities, "few", *few)) == expected
    loaded = ScoreCounts.load(counted(probabilities, "all", "--disclosure", "bins"))
    assert loaded.bins == Bins.of_probabilities()
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
    assert f"{exact} is exact, and {binned} is of {BINS!r}; pass " in message
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
    of_rows(frame[150:], BINS).reduced(min_count=3).save(joined)
    message = error_of(["merge", exact, joined, "-o", path])
    assert f"{exact} is exact, and {joined} is of ranges of scores; pass --disclosure" in message
    printed_by("merge", exact, joined, "-o", path, *OPTIONS)
    expected = [ScoreCounts.load(exact).reduced(BINS), ScoreCounts.load(joined)]
    assert ScoreCounts.load(path) == ScoreCounts.merge(expected)


def test_show_says_what_bins_disclose(frame, counted, printed_by):
    frame["s"] = frame["s"].where(frame["s"] > 0, 0)
    path = counted(frame, "oslo", *OPTIONS)
    lines = printed_by("show", path).splitlines()
    number = BINS.numbers_of(frame["s"].to_numpy())
    cells = frame.assign(s=number).groupby(["g", "s"])["y"].agg(["size", "nunique"])
    low, high = BINS.ranges_of(number)
    median = np.sort(high - low)[frame.shape[0] // 2 - 1]
    n_single, n_known = (cells["size"] == 1).sum(), cells.loc[cells["nunique"] == 1, "size"].sum()
    for line in (
        "Level of disclosure: bins of scores, by Bins.of_scores(parts=2)",
        "- The number of rows of each group, bin and class. Only rows that agree in all of these "
        "cannot be distinguished.",
        f"- {n_single} of {len(cells)} cells hold a single row: the file gives back group, bin "
        f"and class of these {n_single} rows.",
        f"- {(cells['nunique'] == 1).sum()} of {len(cells)} cells hold rows of one class: anyone "
        f"who knows a person's group and score learns the class of {n_known} of 400 rows.",
        f"- The file narrows down the score of a row to a bin, which is {median:.2g} wide for the "
        f"median row and {(high - low).max():.2g} wide for the row with the widest one.",
        f"- The bin is a single score, such as 0 or 1, for {(frame['s'] == 0).sum()} rows: the "
        "file gives back their score.",
    ):
        assert line in lines
    bins = f"Scores: {np.unique(number).size} bins from about 0 to "
    assert any(line.startswith(bins) for line in lines)


def test_show_of_other_levels(frame, counted, tmp_path, printed_by):
    printed = printed_by("show", counted(frame, "exact"))
    assert "Level of disclosure: exact scores\n" in printed
    assert "narrows down" not in printed
    printed = printed_by("show", counted(frame, "open", "--disclosure", "bins", "--edges", "0"))
    assert "- No bin is a single score, so the file gives back no score.\n" in printed
    assert "without a limit on one side for the row with the widest one.\n" in printed
    ranges = ScoreCounts.from_counts(**of_rows(frame, BINS).to_counts())
    ranges.save(tmp_path / "ranges.skfa")
    printed = printed_by("show", tmp_path / "ranges.skfa")
    assert "Level of disclosure: ranges of scores, which are not bins of one rule\n" in printed
    assert " cells of a group and a range, " in printed
    of_rows(frame[:0], BINS).save(tmp_path / "empty.skfa")
    assert "Scores: 0 bins\n" in printed_by("show", tmp_path / "empty.skfa")


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
        "of these rows among the rows of the other class. In other small groups, the sums often "
        "give back such ranks as well.",
        "- 1 of 3 groups hold rows of one class: anyone who knows a person's group learns the "
        f"class of 1 of {n_rows} rows.",
    ):
        assert line in lines
    assert not any(line.startswith("Scores: ") for line in lines)
    printed_by("merge", *paths, "-o", tmp_path / "all.skfa")
    merged = ScoreCounts.load(tmp_path / "all.skfa")
    assert (len(merged), merged.disclosure) == (8, "summary")
    exact = counted(parts[1], "exact")
    message = error_of(["merge", paths[0], exact, "-o", tmp_path / "x"])
    assert f"{paths[0]} is a summary, and {exact} is exact; pass --disclosure summary to" in message
    printed_by("merge", paths[0], exact, "-o", tmp_path / "x", "--disclosure", "summary")
    assert ScoreCounts.load(tmp_path / "x") == merged
    message = error_of(["merge", *paths, counted(parts[1][:50], "again", "--disclosure", "summary"),
                        "-o", tmp_path / "y"])  # fmt: skip
    assert f"{paths[1]} and {tmp_path / 'again.skfa'} are summaries with rows of the" in message


def test_small_counts(frame, tmp_path, printed_by, error_of):
    frame.loc[:2, "g"], frame.loc[:2, "y"] = "small", [0, 1, 1]
    frame.to_csv(tmp_path / "p.csv", index=False)
    path = tmp_path / "p.skfa"
    arguments = ["count", tmp_path / "p.csv", *COLUMNS, "-o", path, *OPTIONS]
    printed = printed_by(*arguments, "--min-count", 5)
    expected = of_rows(frame).reduced(BINS, min_count=5)
    assert ScoreCounts.load(path) == expected
    assert "6 groups by g, 1 group withheld\n" in printed
    lines = printed_by("show", path).splitlines()
    assert "Small numbers: 1 group withheld" in lines
    assert "- The smallest cell has 5 rows." in lines
    n_cells, n_rows = n_known_by_pairs(expected)
    assert 0 < n_cells < expected.cells.scores.size
    assert (
        f"- {n_cells} of {expected.cells.scores.size} cells hold rows of one class and overlap no "
        "range of the other class: anyone who knows a person's group and score learns the class of "
        f"{n_rows} of 397 rows."
    ) in lines
    printed_by(*arguments, "--min-count", 2, "--small-groups", "join")
    joined = of_rows(frame).reduced(BINS, min_count=2, small_groups="join")
    assert ScoreCounts.load(path) == joined
    message = error_of([*arguments, "--min-count", 500])
    assert "each group has fewer than 500 rows of a class, so no rows are left" in message


def n_known_by_pairs(counts):
    """Cells without rows of the other class in their range, by comparison of all pairs of cells."""
    cells, (low, high) = counts.cells, counts.ranges
    n_cells = n_rows = 0
    for i in range(low.size):
        own, other = (
            (cells.negatives, cells.positives)
            if cells.positives[i] == 0
            else (cells.positives, cells.negatives)
        )
        overlaps = any(
            cells.groups[j] == cells.groups[i] and low[j] <= high[i] and low[i] <= high[j]
            for j in range(low.size)
            if other[j]
        )
        n_cells += not overlaps
        n_rows += 0 if overlaps else int(own[i])
    return n_cells, n_rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--min-count", 3], "--min-count needs --disclosure bins or summary"),
        (["--min-count", 3, "--disclosure", "exact"], "--min-count needs --disclosure bins or su"),
        ([*OPTIONS, "--small-groups", "join"], "--small-groups needs --min-count; pass it as well"),
        ([*OPTIONS, "--min-count", 0], "min_count"),
    ],
)
def test_options_of_small_counts(written, tmp_path, error_of, options, message):
    assert message in error_of(["count", written, *COLUMNS, "-o", tmp_path / "p.skfa", *options])


def test_a_report_says_that_scores_are_binned(frame, counted, printed_by, capsys):
    path = counted(frame, "oslo", *OPTIONS)
    first = printed_by("report", path).splitlines()[0]
    assert first.endswith(" negatives, bins of scores, by Bins.of_scores(parts=2)")
    assert main(["report", str(path), "--json", "--threshold", "none"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["disclosure"] == "bins"
    assert Bins.from_dict(document["bins"]) == BINS


@pytest.mark.parametrize("options", [(), ("--group", "sex")])
def test_the_report_of_a_summary_has_what_it_determines(options, frame, counted, printed_by):
    """The lines of a summary are those of the exact file, without the statistics that it lacks."""
    exact, summary = (
        printed_by("report", counted(frame, level, "--disclosure", level, *options))
        for level in ("exact", "summary")
    )
    by_all = exact[exact.rindex("\nBy ") :].splitlines()
    lines = summary[summary.rindex("\nBy ") :].splitlines()
    unknown = "A summary by group does not determine pooled, cross, cross_difference or bias_score."
    assert unknown in lines
    assert summary.count("\nBy ") == 1

    def plain(of_lines):
        joined = re.sub("; from sampling error alone [0-9.]+ on average", "", "\n".join(of_lines))
        return [" ".join(line.split()) for line in joined.splitlines()]

    names = ("pooled", "cross", "bias_score", "Pairs of the pooled AUC", "If all true AUCs")
    expected = [line for line in plain(by_all) if not line.startswith(names)]
    assert plain(line for line in lines if line != unknown) == expected


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_an_audit_needs_scores(option, frame, counted, error_of, tmp_path):
    path = counted(frame, "oslo", "--disclosure", "summary")
    message = error_of(["report", path, option, tmp_path / "page"])
    assert f"{path}: the fairness audit needs disclosure='bins' or 'exact'" in message
    assert "without --html and --json, the report has what a summary determines" in message
    assert not (tmp_path / "page").exists()
