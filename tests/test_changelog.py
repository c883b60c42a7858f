"""The check of the changelog finds a change without a line."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SETTINGS = ("user.name=a", "user.email=a@example.org", "commit.gpgsign=no")
GIT = ["git", *(part for setting in SETTINGS for part in ("-c", setting))]


@pytest.mark.skipif(not (ROOT / ".ci").exists(), reason="needs the repository")
def test_a_change_of_the_package_needs_a_line_in_the_changelog(tmp_path):
    def git(*arguments):
        subprocess.run([*GIT, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "base")
    git("commit", "-q", "--allow-empty", "-m", "base")
    git("checkout", "-q", "-b", "change")
    for name, code in (("docs/index.md", 0), ("skfedauc/pairs.py", 1), ("CHANGELOG.md", 0)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(os.urandom(4).hex())
        git("add", "-A")
        git("commit", "-q", "-m", "a change")
        command = [str(ROOT / ".ci" / "changelog"), "base"]
        done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
        assert done.returncode == code, name
