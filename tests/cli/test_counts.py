"""Counts between sites: `count`, `merge` and `report`, compared with `audit` on all rows."""

import itertools
import json
import os
import re
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from cli_cases import COLUMNS, WEIGHTED, aucs_of, expected_aucs, predictions, save, with_gaps

from skfedauc import ScoreCounts
from skfedauc.cli import count as command
from skfedauc.cli.main import main
from skfedauc.counts import view_of

BOTH = [*COLUMNS, "--group", "sex"]
NAMED = [*COLUMNS, "--pos-label", "yes"]


@pytest.fixture
def counted(tmp_path, printed_by):
    """Count a table; return the path of the file."""

    def run(frame, name, *options):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        path = tmp_path / f"{name}.skfa"
        options = [*(options or COLUMNS), "--source", name, "-o", path]
        printed_by("count", tmp_path / f"{name}.csv", *options)
        return path

    return run


@pytest.fixture
def sites(frame, counted):
    """Files of the rows of two sites."""
    parts = {"oslo": frame.iloc[:150], "bern": frame.iloc[150:]}
    return [counted(part, name, *BOTH) for name, part in parts.items()]


# The numbers of an audit -----------------------------------------------------------------

CASES = {
    "weights": ([*WEIGHTED, "--group", "sex"], [], []),
    "missing groups dropped": (COLUMNS, ["--missing", "drop"], []),
    "two columns dropped": (BOTH, ["--missing", "drop"], []),
    "missing groups of two columns": (BOTH, ["--missing", "group"], ["--missing", "group"]),
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
    columns, on_rows, on_counts = CASES[case]
    path, counts = tmp_path / "p.csv", tmp_path / "p.skfa"
    frame = with_gaps(predictions()) if on_rows else predictions()
    frame.to_csv(path, index=False)
    assert main(["count", str(path), *columns, *on_rows, "-o", str(counts)]) == 0
    assert capsys.readouterr().err == ""
    of_rows = results_of(["audit", path, *columns, *on_rows], tmp_path, "audit", capsys)
    of_counts = results_of(["report", counts, *on_counts], tmp_path, "report", capsys)
    check_equal(of_counts, of_rows)


@pytest.mark.usefixtures("equal_identifiers")
def test_missing_groups_may_be_dropped_by_the_report(gaps, tmp_path, capsys):
    """The counts keep these rows as groups."""
    counts, columns = tmp_path / "gaps.skfa", [*WEIGHTED, "--group", "sex"]
    assert main(["count", str(gaps), *columns, "--missing", "group", "-o", str(counts)]) == 0
    capsys.readouterr()
    drop = ["--missing", "drop"]
    of_rows = results_of(["audit", gaps, *columns, *drop], tmp_path, "audit", capsys)
    check_equal(results_of(["report", counts, *drop], tmp_path, "report", capsys), of_rows)
    frame = with_gaps(predictions())
    used = frame[frame["w"] > 0]
    n_dropped = int(used[["g", "sex"]].isna().any(axis=1).sum())
    assert [grouping["n_dropped"] for grouping in of_rows[1]["groupings"]] == [n_dropped] * 3


def check_equal(of_counts, of_rows):
    (text, document, page), (expected_text, expected, expected_page) = of_counts, of_rows
    # The texts differ only in the name of the file.
    assert text[1:] == expected_text[1:]
    assert text[0].split(": ")[1].split(", weighted")[0] in expected_text[0]
    for key in ("groupings", "n_positives", "n_negatives", "columns", "tolerances"):
        assert document[key] == expected[key]
    assert page.replace("p.skfa", "p.csv").replace("gaps.skfa", "gaps.csv") == expected_page


def test_merged_sites_are_all_rows(frame, sites, written, tmp_path, capsys, audit):
    path = tmp_path / "all.skfa"
    assert main(["merge", *map(str, sites), "--output", str(path)]) == 0
    printed = capsys.readouterr().out.splitlines()
    positives = int((frame["y"] == 1).sum())
    n_groups = frame[["g", "sex"]].drop_duplicates().shape[0]
    of_all = f"400 rows, {positives} positives and {400 - positives} negatives"
    assert printed[0].startswith(f"{sites[0]}: 'oslo': 150 rows, ")
    assert printed[2:] == [
        f"sum: 'bern' and 'oslo': {of_all}, {n_groups} groups by g \N{MULTIPLICATION SIGN} sex",
        f"The sum is in {path}.",
    ]
    merged = ScoreCounts.load(path)
    assert merged == ScoreCounts.from_predictions(
        frame["y"], frame["s"], groups=frame[["g", "sex"]]
    )
    assert [source.name for source in merged.sources] == ["bern", "oslo"]
    assert main(["report", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    expected = audit(written, *BOTH)
    assert re.fullmatch("[0-9a-f]{32}", document["facts"].pop("identifier"))
    for key in ("groupings", "columns"):
        assert document[key] == expected[key]
    for grouping, by in zip(document["groupings"], ["g", "sex", ["g", "sex"]], strict=True):
        assert aucs_of(grouping) == pytest.approx(expected_aucs(frame, by), abs=1e-12)
    assert document["sources"] == [source.to_dict() for source in merged.sources]
    assert document["weighted"] is False


@pytest.mark.parametrize("sort", [sorted, reversed])
def test_a_site_may_hold_one_class(frame, tmp_path, capsys, sort):
    """Merging compares the names of the classes of both sites."""
    frame["y"] = np.where(frame["y"] == 1, "yes", "no")
    paths = []
    for name, rows in sort(list(frame.groupby("y"))):
        rows.to_csv(tmp_path / "p.csv", index=False)
        paths.append(str(tmp_path / f"{name}.skfa"))
        assert main(["count", str(tmp_path / "p.csv"), *NAMED, "-o", paths[-1]]) == 0
        lacking = "negative" if name == "yes" else "positive"
        warning = f"skfedauc: warning: column 'y' has no {lacking} label among the {len(rows)} rows"
        assert capsys.readouterr().err.startswith(warning)
    assert main(["merge", *paths, "-o", str(tmp_path / "all.skfa")]) == 0
    expected = ScoreCounts.from_predictions(
        frame["y"], frame["s"], groups=frame["g"].astype(str), pos_label="yes"
    )
    merged = ScoreCounts.load(tmp_path / "all.skfa")
    assert merged == expected
    assert view_of(merged).classes == view_of(expected).classes


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


# Merging ---------------------------------------------------------------------------------


def test_a_counting_is_merged_once(frame, sites, tmp_path, error_of, capsys):
    path, again = tmp_path / "all.skfa", tmp_path / "again.skfa"
    assert main(["merge", *map(str, sites), "-o", str(path)]) == 0
    capsys.readouterr()
    assert main(["merge", str(path), str(sites[0]), "-o", str(again)]) == 0
    printed = capsys.readouterr().out
    assert f"{sites[0]}: not added: another file repeats or replaces it\n" in printed
    assert ScoreCounts.load(again) == ScoreCounts.load(path)
    other = tmp_path / "other.skfa"
    both = ScoreCounts.load(sites[0]) + ScoreCounts.load(sites[1]).with_source("bern")
    both.save(other)
    both = ScoreCounts.load(sites[0]) + ScoreCounts.from_predictions(
        frame["y"], frame["s"], groups=frame[["g", "sex"]]
    ).with_source("rome")
    both.save(other)
    message = error_of(["merge", path, other, "-o", again])
    assert f"{path} and {other} both contain the source 'oslo', so rows may count twice" in message
    assert "leave one file out, or pass --replace" in message
    message = error_of(["merge", path, other, "--replace", "-o", again])
    assert "merge the original files, without the sum" in message


def test_groups_must_come_from_the_same_columns(frame, counted, tmp_path, error_of):
    one = counted(frame, "one", *BOTH)
    for options in (["--group", "sex", "--group", "g"], ["--group", "sex"]):
        two = counted(frame, "two", *COLUMNS[:4], *options)
        message = error_of(["merge", one, two, "-o", tmp_path / "all.skfa"])
        found = " and ".join(repr(name) for name in options[1::2])
        shown = f"{one} has groups by 'g' and 'sex', and {two} has groups by {found}; "
        assert f"{shown}count all files with the same --group columns" in message


def test_invalid_files_are_left_out_on_request(sites, tmp_path, error_of, capsys):
    damaged, absent, path = (tmp_path / f"{name}.skfa" for name in ("cut", "absent", "all"))
    damaged.write_bytes(sites[0].read_bytes()[:-100])
    files = [*map(str, sites), str(damaged), str(absent)]
    assert f"{damaged} is damaged" in error_of(["merge", *files, "-o", path])
    assert main(["merge", *files, "-o", str(path), "--skip-invalid"]) == 0
    printed = capsys.readouterr()
    assert re.search(rf"warning: {damaged} is damaged.*; it is left out\n", printed.err)
    assert f"warning: {absent}: no such file; it is left out\n" in printed.err
    assert ScoreCounts.load(path) == ScoreCounts.merge(sites)


def test_groups_of_different_kinds_are_not_merged(frame, counted, tmp_path, error_of, printed_by):
    frame["g"] = frame["g"].map(len)
    one, two = counted(frame, "one", *BOTH), tmp_path / "two.skfa"
    y, scores, groups = frame["y"], frame["s"], frame[["g", "sex"]]
    ScoreCounts.from_predictions(y, scores, groups=groups).save(two)
    for files, found in (((one, two), ("str", "int")), ((two, one), ("int", "str"))):
        message = error_of(["merge", *files, "-o", tmp_path / "all.skfa"])
        kinds = f"it has groups labelled by {found[1]} and str, and {files[0]} has groups"
        assert f"{files[1]}: groups of different kinds cannot be merged: {kinds}" in message
        assert "skfedauc count writes groups as text: count the rows of the other file" in message
        assert "groups.astype(str)" in message
        assert "device 7" not in message
    counts = ScoreCounts.from_predictions(y, scores, groups=groups.astype(str))
    counts.with_source("two").save(two)
    printed_by("merge", one, two, "-o", tmp_path / "all.skfa")
    assert len(ScoreCounts.load(tmp_path / "all.skfa")) == len(ScoreCounts.load(one))


# Labels that differ only in their spelling -----------------------------------------------


def spelled(*labels):
    """Rows of both classes of each group."""
    groups = [label for label in labels for _ in range(2)]
    return pd.DataFrame({"y": [0, 1] * len(labels), "s": np.arange(2 * len(labels)), "g": groups})


def test_at_most_three_pairs_of_labels_are_named(tmp_path, capsys):
    frame = spelled(*"abcdeABCDE", "a ").assign(h="Same", i=lambda rows: rows["g"].str.strip())
    frame.to_csv(tmp_path / "p.csv", index=False)
    options = ["--group", "h", "--group", "i", "-o", str(tmp_path / "p.skfa")]
    assert main(["count", str(tmp_path / "p.csv"), *COLUMNS, *options]) == 0
    of_g, of_i = capsys.readouterr().err.splitlines()
    assert "column 'g' has labels" in of_g
    assert "'A' and 'a', 'B' and 'b', 'C' and 'c', 2 more; " in of_g
    assert "column 'i' has labels" in of_i


def test_a_file_without_rows(sites, tmp_path, printed_by, error_of):
    path = tmp_path / "empty.skfa"
    groups = pd.DataFrame({"g": ["a"], "sex": ["f"]}).iloc[:0]
    ScoreCounts.from_predictions([], [], groups=groups).save(path)
    printed_by("merge", path, *sites, "-o", tmp_path / "all.skfa")
    assert ScoreCounts.load(tmp_path / "all.skfa").n_positives.sum() > 0
    assert "- Nothing: there are no rows.\n" in printed_by("show", path)
    assert "no positive label among the 0 rows" in error_of(["report", path])


def test_counts_without_groups(sites, tmp_path, error_of):
    path = tmp_path / "device.skfa"
    ScoreCounts.from_predictions([0, 1], [0.1, 0.2]).save(path)
    message = error_of(["merge", sites[0], path, "-o", tmp_path / "all.skfa"])
    assert f"{path} has no groups, and {sites[0]} has groups; name the missing group" in message
    assert f"{path}: the counts have no groups; name the group" in error_of(["report", path])


# Reports ---------------------------------------------------------------------------------


def test_a_report_of_one_class(frame, counted, error_of, capsys, tmp_path):
    counts = ScoreCounts.from_predictions([1, 1], [0.1, 0.2], groups=["a", "b"])
    counts.save(tmp_path / "p.skfa")
    message = error_of(["report", tmp_path / "p.skfa"])
    assert "p.skfa has no negative label among the 2 rows; an AUC needs both classes" in message


# Files -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["count", "{file}", *COLUMNS], "required: -o/--output"),
        (["count", "{file}", *COLUMNS, "-o", "{file}"], "{file} would overwrite the predictions"),
        (["count", "{file}", *COLUMNS, "-o", "{folder}"], "cannot be written: Is a directory"),
        (["count", "{file}", *COLUMNS, "-o", "{folder}/no/p.skfa"], "cannot be written: No such"),
        (["merge", "{file}", "-o", "{file}"], "would overwrite one of the files to be merged"),
        (["merge", "-o", "{folder}/all.skfa"], "required: FILE"),
    ],
)
def test_arguments_are_checked_before_files_are_read(
    written, tmp_path, error_of, monkeypatch, arguments, message
):
    monkeypatch.setattr(command, "read_columns", lambda *_: pytest.fail("rows were read"))
    monkeypatch.setattr(command, "read_counts", lambda *_: pytest.fail("counts were read"))
    names = {"folder": tmp_path, "file": written}
    found = error_of([argument.format(**names) for argument in arguments])
    assert message.format(**names) in found
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.skfa", None, "absent.skfa: no such file"),
        ("p.skfa", b"", "p.skfa is damaged or was cut off when it was copied; ask for another"),
        ("p.skfa", b"PAR1", "p.skfa is damaged or was cut off when it was copied; ask for"),
        ("p.skfa", b"PAR1" * 9, "p.skfa is damaged or was cut off when it was copied; ask for"),
        ("p.skfa", b"counts", "p.skfa is not a file that skfedauc count wrote\n"),
        (
            "p.csv",
            b"y,s,g\n0,1,a\n",
            "p.csv is not a file that skfedauc count wrote; skfedauc audit and skfedauc count read "
            "predictions\n",
        ),
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


def test_files_that_were_damaged(sites, tmp_path, error_of):
    path, content = tmp_path / "p.skfa", sites[0].read_bytes()
    # a byte within a page of the file, which has a checksum
    place = content.index(b"\x28\xb5\x2f\xfd") + 10
    flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    for damaged in (content[:-1], content[:100], flipped):
        path.write_bytes(damaged)
        message = "is damaged or was cut off when it was copied; ask for another copy\n"
        assert error_of(["show", path]) == f"skfedauc: error: {path} {message}"
    pd.DataFrame({"score": [0.5]}).to_parquet(path)
    message = error_of(["show", path])
    assert message == f"skfedauc: error: {path} is not a file that skfedauc count wrote\n"


def test_a_file_that_was_changed_has_a_reason(sites, tmp_path, error_of):
    path, table = tmp_path / "p.skfa", pq.read_table(sites[0])
    facts = json.loads(table.schema.metadata[b"skfedauc"]) | {"n_missing": 7}
    pq.write_table(table.replace_schema_metadata({"skfedauc": json.dumps(facts)}), path)
    message = error_of(["show", path])
    assert message.startswith(f"skfedauc: error: {path} is damaged: its ")
    assert message.endswith("; ask for another copy\n")


@pytest.mark.parametrize("command_name", ["show", "report", "merge"])
def test_counts_above_a_limit_are_refused(tmp_path, error_of, command_name):
    path = tmp_path / "p.skfa"
    ScoreCounts.from_predictions([0, 1], [0.1, 0.4], groups=["x" * 10_001] * 2).save(path)
    options = ["-o", tmp_path / "sum.skfa"] if command_name == "merge" else []
    message = error_of([command_name, path, *options])
    assert f"'{path}' is refused: it has a label or name of 10,001 characters, above" in message
    assert message.endswith("to accept it by ScoreCounts.load in Python\n")


@pytest.mark.parametrize("command_name", ["audit", "count"])
def test_counts_are_no_predictions(sites, tmp_path, error_of, command_name):
    options = ["-o", tmp_path / "p.skfa"] if command_name == "count" else []
    message = error_of([command_name, sites[0], *COLUMNS, *options])
    assert "skfedauc report and skfedauc show read counts" in message


def test_a_file_of_counts_is_replaced_or_kept(frame, sites, tmp_path, capsys, monkeypatch):
    before = sites[0].read_bytes()
    frame.to_csv(tmp_path / "p.csv", index=False)
    arguments = ["count", str(tmp_path / "p.csv"), *COLUMNS, "-o", str(sites[0])]

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(ScoreCounts, "save", full)
        assert main(arguments) == 3
    printed = capsys.readouterr()
    message = f"{sites[0]}: cannot be written: No space left on device"
    assert printed.err == f"skfedauc: error: {message}\n"
    assert printed.out.count("\n") == 2
    assert sites[0].read_bytes() == before
    assert main(arguments) == 0
    assert len(ScoreCounts.load(sites[0])) == 6


def test_files_need_pyarrow(written, tmp_path, error_of, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(command, "read_columns", lambda *_: pytest.fail("rows were read"))
    message = error_of(["count", written, *COLUMNS, "-o", tmp_path / "p.skfa"])
    assert 'pip install "skfedauc[files]"' in message


def test_there_is_nothing_to_count(tmp_path, error_of):
    path = save(tmp_path / "p.csv", "y,s,g,w\n0,1,a,0\n1,2,a,0\n")
    message = error_of(["count", path, *WEIGHTED, "-o", tmp_path / "p.skfa"])
    assert f"{path}: there are no rows to count" in message
    assert not (tmp_path / "p.skfa").exists()


# Disclosure of a file --------------------------------------------------------------------


def facts_of(frame, by):
    """Numbers of `show`, from the rows."""
    cells = frame.groupby([*by, "s"])["y"].agg(["size", "nunique"])
    sizes = frame.groupby(by).size()
    numbers = frame.groupby([*by, "s", "y"]).size()
    return {
        "n_cells": len(cells),
        "n_single": int((cells["size"] == 1).sum()),
        "n_one_class": int((cells["nunique"] == 1).sum()),
        "n_known": int(cells.loc[cells["nunique"] == 1, "size"].sum()),
        "n_ones": int((numbers == 1).sum()),
        "n_numbers": numbers.size,
        "smallest": sizes.min(),
        "n_distinct": frame["s"].nunique(),
    }


def test_show_says_what_is_in_the_file(frame, counted, printed_by):
    path = counted(frame, "oslo", *BOTH)
    printed, found = printed_by("show", path), facts_of(frame, ["g", "sex"])
    (source,) = ScoreCounts.load(path).sources
    positives = int((frame["y"] == 1).sum())
    lines = printed.splitlines()
    assert lines[0] == f"{path}: 400 rows, {positives} positives and {400 - positives} negatives"
    for line in (
        f"Source: 'oslo', counting {source.identifier}",
        "Classes: 1 is positive, 0 is negative",
        "Weights: none; each row counts once",
        "- The number of rows of each group, score and class. Only rows that agree in all of these "
        "cannot be distinguished.",
        f"- {found['n_single']} of {found['n_cells']} cells hold a single row: the file gives back "
        f"group, score and class of these {found['n_single']} rows.",
        f"- {found['n_one_class']} of {found['n_cells']} cells hold rows of one class: anyone who "
        f"knows a person's group and score learns the class of {found['n_known']} of 400 rows.",
        f"- {found['n_ones']} of {found['n_numbers']} numbers of rows above 0, by group, score and "
        "class, are 1. Each of these describes a single row.",
    ):
        assert line in lines
    assert f"Scores: {found['n_distinct']} distinct scores from " in printed
    assert f"{os.path.getsize(path):,} bytes" in printed
    assert f", has {found['smallest']} rows: " in printed
    assert "Groups: 12 groups by g \N{MULTIPLICATION SIGN} sex: 007 \N{MIDDLE DOT} f; " in printed
    assert "; ...; " in printed
    assert "does not hold features, identifiers of rows, or the order of the rows" in printed


def test_show_says_what_weighted_and_merged_files_hold(frame, counted, tmp_path, printed_by):
    paths = []
    for i, rows in enumerate(np.array_split(np.arange(400), 8)):
        paths.append(counted(frame.iloc[rows], f"site {i}", *WEIGHTED))
    printed_by("merge", *paths, "-o", tmp_path / "all.skfa")
    printed = printed_by("show", tmp_path / "all.skfa")
    assert printed.count("Source: 'site ") == 6
    assert "Sources: 2 more\n" in printed
    assert "the file gives back group, score, class and weight of these " in printed
    assert "Weights: sums of the rows' weights" in printed


def test_names_in_a_file_cannot_control_the_terminal(tmp_path, capsys):
    counts = ScoreCounts.from_predictions(
        ["n\x1b", "y"], [0.1, 0.2], groups=pd.Series(["\x1b[31m"] * 2, name="g\x1b"), pos_label="y"
    )
    counts.with_source("oslo\x1b[2J").save(tmp_path / "p.skfa")
    for arguments in (["show"], ["report"], ["merge", "-o", str(tmp_path / "all.skfa")]):
        name, *options = arguments
        assert main([name, str(tmp_path / "p.skfa"), *options]) == 0
        printed = capsys.readouterr().out
        assert all(char.isprintable() or char == "\n" for char in printed)


# Clusters --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (
            [("a", "b")] * 2 + [("a", None)] * 2,
            {},
            "rows without a label in the column of clusters",
        ),
        ([("a", "b")] * 4, {"disclosure": "summary"}, "p.skfa: the fairness audit needs"),
        (["b"] * 4, {}, "count by groups and clusters, such as --group site --group patient"),
    ],
)
def test_clusters_of_counts_that_cannot_be(error_of, tmp_path, labels, options, message):
    names = ["patient"] if isinstance(labels[0], str) else ["site", "patient"]
    groups = pd.DataFrame(labels, columns=names)
    counts = ScoreCounts.from_predictions(
        [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], groups=groups, missing="group", **options
    )
    counts.save(tmp_path / "p.skfa")
    assert message in error_of(["report", tmp_path / "p.skfa", "--clusters", "patient"])


# Hints -----------------------------------------------------------------------------------


def test_every_command_has_help(capsys):
    for name in ("audit", "count", "merge", "report", "show"):
        with pytest.raises(SystemExit):
            main([name, "--help"])
        printed = capsys.readouterr().out
        assert f"  skfedauc {name} " in printed
        assert max(itertools.chain([0], map(len, printed.splitlines()))) <= 110
