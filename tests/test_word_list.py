"""The checks of words and of the changelog find violations."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / ".ci").exists(), reason="needs the repository")


def run(*command, folder=ROOT):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def words(*paths):
    return run(sys.executable, str(ROOT / ".ci" / "words.py"), *map(str, paths))


def test_words_to_avoid_are_found(tmp_path):
    code = tmp_path / "code.py"
    code.write_text(
        '"""Return the AUC less\nthe pooled AUC."""\n\n'
        "lots = 3  # equal but\n# for rounding\n"
        'name, message = "noise", "only noise"\n'
    )
    page = tmp_path / "page.md"
    page.write_text("One.\n\nGroups that score\nalike.\n")
    failed, printed = words(code, page)
    assert failed
    assert [line.partition(": ")[0].rpartition("/")[2] for line in printed.splitlines()] == [
        "code.py:1",
        "code.py:6",
        "code.py:4",
        "page.md:3",
    ]


def test_terms_pass(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("The plot takes less than a second. Allotted weights; the ballot.\n")
    private = tmp_path / "private.md"
    private.write_text("Differential\nprivacy adds noise.\n")
    linked = tmp_path / "linked.md"
    linked.write_text("Counts with noise: {doc}`differential_privacy`\n")
    assert words(page, private, linked) == (0, "")


def test_a_change_of_the_package_needs_a_line_in_the_changelog(tmp_path):
    def git(*arguments):
        settings = (
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "commit.gpgsign=no",
        )
        assert run("git", *settings, *arguments, folder=tmp_path)[0] == 0

    def commit(name):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(os.urandom(4).hex())
        git("add", "-A")
        git("commit", "-q", "-m", "a change")

    def check():
        return run(str(ROOT / ".ci" / "changelog"), "base", folder=tmp_path)[0]

    git("init", "-q")
    commit("README.md")
    git("branch", "base")
    commit("docs/index.md")
    assert check() == 0
    commit("skfedauc/pairs.py")
    assert check() == 1
    commit("CHANGELOG.md")
    assert check() == 0
