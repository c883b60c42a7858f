"""Counts between sites: `count`, `merge` and `report`, compared with `audit` on all rows."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from cli_cases import COLUMNS, WEIGHTED, predictions, save, with_gaps

from skfedauc import ScoreCounts
from skfedauc.cli import counts as command
from skfedauc.cli.main import main

BOTH = [*COLUMNS, "--group", "sex"]
NAMED = [*COLUMNS, "--pos-label", "yes"]


@pytest.fixture
def sites(frame, counted):
    """Files of the rows of two sites."""
    parts = {"oslo": frame.iloc[:150], "bern": frame.iloc[150:]}
    return [counted(part, name, *BOTH) for name, part in parts.items()]


CASES = {
    "weights": ([*WEIGHTED, "--group", "sex"], []),
    "missing groups dropped": (COLUMNS, ["--missing", "drop"]),
    "two columns dropped": (BOTH, ["--missing", "drop"]),
    "missing groups of two columns": (BOTH, ["--missing", "group"]),
}


def results_of(command_line, tmp_path, name, capsys):
    """Printed lines, document and page of a command."""
    page, document = tmp_path / f"{name}.html", tmp_path / f"{name}.json"
    options = ["--favorable", "negative", "--threshold", "0.5", "--html", page, "--json", document]
    assert main([*map(str, command_line), *map(str, options)]) == 0
    text = capsys.readouterr().out.splitlines()[:-2]
    return text, json.loads(document.read_text()), page.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("equal_identifiers")
def test_a_report_is_the_audit_of_the_rows(case, tmp_path, capsys):
    columns, on_rows = CASES[case]
    path, counts = tmp_path / "p.csv", tmp_path / "p.skfa"
    frame = with_gaps(predictions()) if on_rows else predictions()
    frame.to_csv(path, index=False)
    assert main(["count", str(path), *columns, *on_rows, "-o", str(counts)]) == 0
    assert capsys.readouterr().err == ""
    text, expected, page = results_of(
        ["audit", path, *columns, *on_rows], tmp_path, "audit", capsys
    )
    own_text, document, own_page = results_of(["report", counts], tmp_path, "report", capsys)
    assert [line.replace("p.skfa", "p.csv") for line in own_text] == text
    for key in ("groupings", "n_positives", "n_negatives", "columns", "tolerances"):
        assert document[key] == expected[key]
    assert own_page.replace("p.skfa", "p.csv") == page


def test_merged_sites_are_all_rows(frame, sites, written, tmp_path, printed_by, audit):
    path = tmp_path / "all.skfa"
    printed = printed_by("merge", *sites, "--output", path).splitlines()
    merged = ScoreCounts.load(path)
    assert printed[0].startswith(f"{sites[0]}: 'oslo': ")
    words = repr(merged).removeprefix("ScoreCounts(")[:-1]
    assert printed[2:] == [f"sum: 'bern', 'oslo': {words}", f"The sum is in {path}."]
    assert merged == ScoreCounts.from_predictions(
        frame["y"], frame["s"], groups=frame[["g", "sex"]]
    )
    assert [source.name for source in merged.sources] == ["bern", "oslo"]
    document, expected = json.loads(printed_by("report", path, "--json")), audit(written, *BOTH)
    for key in ("groupings", "columns"):
        assert document[key] == expected[key]
    assert [grouping["by"] for grouping in document["groupings"]] == [["g"], ["sex"], ["g", "sex"]]
    assert document["sources"] == [source.to_dict() for source in merged.sources]
    assert document["weighted"] is False


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (["no", "yes"], ["no"], "2 positive labels, 'yes' in {one} and 'no' in {two}; count them"),
        (["No", "yes"], ["yes"], "3 class labels, 'no' in {one}, 'yes' in {one} and 'No' in {two}"),
    ],
)
def test_sites_that_name_classes_differently_are_not_merged(
    frame, counted, tmp_path, error_of, words, options, message
):
    one = counted(frame.assign(y=np.array(["no", "yes"])[frame["y"]]), "one", *NAMED)
    two = frame.assign(y=np.array(words)[frame["y"]])
    two = counted(two, "two", *COLUMNS, "--pos-label", *options)
    found = error_of(["merge", one, two, "-o", tmp_path / "all.skfa"])
    assert f"error: the files have {message.format(one=one, two=two)}" in found
    assert not (tmp_path / "all.skfa").exists()


def test_a_counting_is_merged_once(frame, sites, tmp_path, error_of, printed_by):
    path, again, other = (tmp_path / f"{name}.skfa" for name in ("all", "again", "other"))
    printed_by("merge", *sites, "-o", path)
    printed = printed_by("merge", path, sites[0], "-o", again)
    assert f"{sites[0]}: not added: another file repeats or replaces it\n" in printed
    assert ScoreCounts.load(again) == ScoreCounts.load(path)
    more = ScoreCounts.from_predictions(frame["y"], frame["s"], groups=frame[["g", "sex"]])
    printed = printed_by("merge", "--replace", path, sites[0], path, "-o", again)
    assert printed.count("not added") == 2
    assert ScoreCounts.load(again) == ScoreCounts.load(path)
    (ScoreCounts.load(sites[0]) + more.with_source("rome")).save(other)
    for options in ([], ["--replace"]):
        message = error_of(["merge", path, other, *options, "-o", again])
        assert f"{path} and {other} both contain the source 'oslo', so rows may count" in message
        assert "leave one file out, or pass --replace" in message
    ScoreCounts.load(sites[1]).with_source("oslo", model="m1").save(other)
    message = error_of(["merge", sites[0], other, "--replace", "-o", again])
    assert (
        f"{sites[0]} has the source 'oslo', and {other} has the source 'oslo', model 'm1'"
        in message
    )
    assert message.endswith("leave one file out, or count both with --model and --period\n")


def test_a_site_withdraws(sites, tmp_path, printed_by, error_of):
    path, rest = tmp_path / "all.skfa", tmp_path / "rest.skfa"
    printed_by("merge", *sites, "-o", path)
    printed = printed_by("merge", path, "--without", sites[0], "-o", rest)
    assert f"{sites[0]}: taken out\nsum: 'bern': " in printed
    assert ScoreCounts.load(rest) == ScoreCounts.load(sites[1])
    message = error_of(["merge", rest, "--without", sites[0], "-o", path])
    assert f"{sites[0]} cannot be taken out: the counts do not contain the source 'osl" in message
    assert "would overwrite" in error_of(["merge", path, "--without", rest, "-o", rest])
    # It may send others in the same command, also to a merge at another level or by period.
    one, other = (ScoreCounts.load(site) for site in sites[:2])
    corrected = tmp_path / "corrected.skfa"
    again = ScoreCounts.from_counts(**one.to_counts()).map_scores(np.square)
    again.with_source("oslo").save(corrected)
    printed_by("merge", path, corrected, "--without", sites[0], "-o", rest)
    assert ScoreCounts.load(rest) == again + other
    for number, site in enumerate((one, other)):
        site.with_source(f"site {number}", period="2026-10").save(tmp_path / f"{number}.skfa")
    files = tmp_path / "0.skfa", tmp_path / "1.skfa", "--without", tmp_path / "0.skfa"
    printed_by("merge", *files, "--by-period", "--disclosure", "summary", "-o", rest)
    expected = ScoreCounts.merge([files[1]], by_period=True, disclosure="summary")
    assert ScoreCounts.load(rest) == expected


def test_invalid_files_are_left_out_on_request(sites, tmp_path, error_of, capsys):
    """Damaged and absent files, and one without the groups that the others have."""
    names = ("cut", "absent", "other", "all")
    damaged, absent, other, path = (tmp_path / f"{name}.skfa" for name in names)
    ScoreCounts.from_predictions([0, 1], [0.1, 0.2]).save(other)
    damaged.write_bytes(sites[0].read_bytes()[:-100])
    files = [*map(str, [other, *sites, damaged, absent])]
    assert "is damaged" in error_of(["merge", *files, "-o", path])
    assert main(["merge", *files, "-o", str(path), "--skip-invalid"]) == 0
    cut, lost, odd = capsys.readouterr().err.splitlines()
    assert "is damaged" in cut
    assert lost == f"skfedauc: warning: {absent}: no such file; it is left out"
    assert odd.startswith(f"skfedauc: warning: {other} is left out: {other} has no groups, and ")
    assert ScoreCounts.load(path) == ScoreCounts.merge(sites)
    assert main(["merge", str(damaged), "-o", str(path), "--skip-invalid"]) == 2
    assert "error: there are no valid files to merge" in capsys.readouterr().err


def test_files_that_do_not_fit_together(frame, counted, tmp_path, error_of):
    one, path = counted(frame, "one", *BOTH), tmp_path / "two.skfa"
    for options in (["--group", "sex", "--group", "g"], ["--group", "sex"]):
        two = counted(frame, "two", *COLUMNS[:4], *options)
        message = error_of(["merge", one, two, "-o", tmp_path / "all.skfa"])
        assert f"{one} has groups by 'g' and 'sex', and {two} has groups by " in message
        assert "; count all files with the same --group columns" in message
    ScoreCounts.from_predictions([0, 1], [0.1, 0.2]).save(path)
    message = error_of(["merge", one, path, "-o", tmp_path / "all.skfa"])
    assert f"{path} has no groups, and {one} has groups; name the missing group" in message


def test_files_of_models_and_periods(frame, counted, tmp_path, error_of, printed_by):
    paths = []
    for i, rows in enumerate((frame[:200], frame[200:])):
        options = ["--model", f"m{i}", "--period", f"2026-0{i + 1}"]
        paths.append(counted(rows, f"site {i}", *COLUMNS, *options))
    path = tmp_path / "all.skfa"
    assert "pass --any-model if the scores" in error_of(["merge", *paths, "-o", path])
    printed_by("merge", *paths, "--any-model", "--by-period", "-o", path)
    assert ScoreCounts.load(path).group_names == ("g", "period")
    assert {label[1] for label in ScoreCounts.load(path).groups} == {"2026-01", "2026-02"}


def test_at_most_six_pairs_of_labels_are_named(tmp_path, capsys):
    labels = [*"abcdefgABCDEFG", "a "]
    frame = pd.DataFrame({"y": [0, 1] * 15, "s": np.arange(30), "g": np.repeat(labels, 2)})
    frame.assign(h="Same", i=frame["g"].str.strip()).to_csv(tmp_path / "p.csv", index=False)
    options = ["--group", "h", "--group", "i", "-o", str(tmp_path / "p.skfa")]
    assert main(["count", str(tmp_path / "p.csv"), *COLUMNS, *options]) == 0
    of_g, of_i = capsys.readouterr().err.splitlines()
    assert "column 'g' has labels" in of_g
    assert "'A' and 'a', 'B' and 'b', 'C' and 'c', ... (7 in all), " in of_g
    assert "column 'i' has labels" in of_i


def test_a_file_without_rows(sites, tmp_path, printed_by, error_of):
    path = tmp_path / "empty.skfa"
    groups = pd.DataFrame({"g": ["a"], "sex": ["f"]}).iloc[:0]
    ScoreCounts.from_predictions([], [], groups=groups).save(path)
    printed_by("merge", path, *sites, "-o", tmp_path / "all.skfa")
    assert ScoreCounts.load(tmp_path / "all.skfa").n_positives.sum() > 0
    assert "- There are no rows.\n" in printed_by("show", path)
    assert "needs rows of both classes; got 0 groups" in error_of(["report", path])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.skfa", None, "absent.skfa: no such file"),
        ("", None, ": is no file"),
        ("p.skfa", b"PAR1" * 9, "is damaged: "),
        ("p.skfa", b"counts", "begins with b'PAR1'; got b'coun'. Pass what skfedauc count or mer"),
    ],
)
@pytest.mark.parametrize("command_name", ["report", "show", "merge"])
def test_files_that_hold_no_counts(tmp_path, error_of, command_name, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    options = ["-o", tmp_path / "all.skfa"] if command_name == "merge" else []
    found = error_of([command_name, tmp_path / name, *options])
    assert message in found
    assert str(tmp_path / name) in found
    assert not (tmp_path / "all.skfa").exists()


def test_files_without_rows_to_count(sites, tmp_path, error_of):
    empty, output = save(tmp_path / "p.csv", "y,s,g,w\n0,1,a,0\n1,2,a,0\n"), tmp_path / "p.skfa"
    for path, message in (
        (empty, f"{empty}: there are no rows to count"),
        (sites[0], "skfedauc report and skfedauc show read counts"),
    ):
        assert message in error_of(["count", path, *WEIGHTED, "-o", output])
        assert not output.exists()


def test_files_need_pyarrow(written, tmp_path, error_of, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(command, "read_columns", lambda *_: pytest.fail("rows were read"))
    message = error_of(["count", written, *COLUMNS, "-o", tmp_path / "p.skfa"])
    assert 'pip install "skfedauc[files]"' in message


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ({"g": "a", "patient": ["b", None] * 2}, {}, "rows without a label in the column of clust"),
        (
            {"g": "a", "patient": ["b"] * 4},
            {"disclosure": "summary"},
            "clusters needs --disclosure",
        ),
        ({"patient": ["b"] * 4}, {}, "leave no --group column to be compared"),
        ({"g": ["a"] * 4}, {}, "--clusters must be a group column of the file"),
        (None, {}, "the counts have no groups"),
    ],
)
def test_clusters_of_counts_that_cannot_be(error_of, tmp_path, labels, options, message):
    groups = None if labels is None else pd.DataFrame(labels)
    counts = ScoreCounts.from_predictions(
        [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], groups=groups, missing="group", **options
    )
    counts.save(tmp_path / "p.skfa")
    assert message in error_of(["report", tmp_path / "p.skfa", "--clusters", "patient"])
