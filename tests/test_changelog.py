"""The check of the changelog finds a change without a line."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / ".ci").exists(), reason="needs the repository")


def run(*command, folder=ROOT):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_a_change_of_the_package_needs_a_line_in_the_changelog(tmp_path):
    def git(*arguments):
        settings = ("user.name=a", "user.email=a@example.org", "commit.gpgsign=no")
        options = [part for setting in settings for part in ("-c", setting)]
        assert run("git", *options, *arguments, folder=tmp_path)[0] == 0

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
