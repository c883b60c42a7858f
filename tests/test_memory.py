"""The memory that a process may use, from the files of Linux for control groups."""

import os

import numpy as np
import pytest

from skfedauc import GroupAUC
from skfedauc import pairs as memory

MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
UNLIMITED = 9223372036854771712  # In version 1, this number means that there is no limit

# Lines of /proc/self/cgroup, files with limits, and the expected limit
CASES = {
    "none": ("", {}, None),
    "version 2, without a limit": ("0::/", {"memory.max": "max"}, None),
    "version 2, as a container sees it": ("0::/", {"memory.max": "4096"}, 4096),
    "version 2, as outside": ("0::/docker/a1", {"docker/a1/memory.max": "8192"}, 8192),
    "version 2, of a group around": (
        "0::/user/a/b",
        {"user/memory.max": "500", "user/a/memory.max": "900", "user/a/b/memory.max": "max"},
        500,
    ),
    "version 2, beyond the namespace": ("0::/../../other", {"memory.max": "77"}, 77),
    "version 2, another group": ("0::/a", {"b/memory.max": "1"}, None),
    "version 1": (
        "9:name=systemd:/\n4:cpu,memory:/docker/a1\n0::/",
        {"memory/docker/a1/memory.limit_in_bytes": "600", "docker/a1/memory.max": "5"},
        600,
    ),
    "version 1, as a container sees it": (
        "4:memory:/docker/a1",
        {"memory/memory.limit_in_bytes": "700"},
        700,
    ),
    "version 1, without a limit": (
        "4:memory:/a",
        {"memory/a/memory.limit_in_bytes": str(UNLIMITED)},
        None,
    ),
    "version 1, another controller": (
        "4:cpuset:/a",
        {"memory/a/memory.limit_in_bytes": "9"},
        None,
    ),
    "a path with colons": ("0::/a:b:c", {"a:b:c/memory.max": "66"}, 66),
    "no bytes, an empty file and a negative limit": (
        "0::/a/b",
        {"memory.max": "", "a/memory.max": "-1", "a/b/memory.max": "0"},
        None,
    ),
    "a limit that is no ASCII": ("0::/a", {"memory.max": "\u0663\u0663", "a/memory.max": "90"}, 90),
    "nonsense": ("0\n\n::\nx", {"memory.max": "many"}, None),
}


@pytest.fixture
def system(tmp_path, monkeypatch):
    def make(lines, files):
        for name, text in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
        (tmp_path / "cgroup").write_text(f"{lines}\n")
        monkeypatch.setattr(memory, "_GROUPS", tmp_path / "groups")
        monkeypatch.setattr(memory, "_OF_PROCESS", tmp_path / "cgroup")

    return make


@pytest.mark.parametrize("name", CASES)
def test_the_least_limit_holds(system, name):
    lines, files, limit = CASES[name]
    system(lines, files)
    assert memory.usable_memory() == (MACHINE if limit is None else limit)


def test_other_systems(tmp_path, monkeypatch):
    """The size is 8 GiB without files of Linux and without a number of pages."""
    monkeypatch.setattr(memory, "_GROUPS", tmp_path / "absent")
    monkeypatch.setattr(memory, "_OF_PROCESS", tmp_path / "absent")
    assert memory.usable_memory() == MACHINE
    monkeypatch.delattr(os, "sysconf")
    assert memory.usable_memory() == 8 << 30


def test_a_matrix_beyond_the_limit_of_the_container_is_refused(system):
    groups = np.repeat(np.arange(200), 2)
    system("0::/", {"memory.max": str(2 * 32 * 200**2)})
    assert GroupAUC.from_predictions([0, 1] * 200, groups * 0.1, groups=groups).cross_matrix.size
    system("0::/", {"memory.max": str(2 * 32 * 200**2 - 1)})
    report = GroupAUC.from_predictions([0, 1] * 200, groups * 0.1, groups=groups)
    with pytest.raises(
        ValueError, match=r"200 groups needs 0.00119 GiB, more than half of the 0.0"
    ):
        _ = report.cross_matrix
