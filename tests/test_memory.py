"""The memory that a process may use, from the files of Linux for control groups."""

import os

import numpy as np
import pytest

from skfedauc import GroupAUC
from skfedauc import pairs as memory

MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
UNLIMITED = 9223372036854771712  # In version 1, this number means that there is no limit


@pytest.fixture
def limits(tmp_path, monkeypatch):
    files = tmp_path / "memory.max", tmp_path / "memory.limit_in_bytes"
    monkeypatch.setattr(memory, "_LIMITS", files)

    def write(*texts):
        for path, text in zip(files, texts, strict=False):
            path.write_text(f"{text}\n")

    return write


@pytest.mark.parametrize(
    ("texts", "limit"),
    [
        ((), MACHINE),
        (("max",), MACHINE),
        (("", UNLIMITED), MACHINE),
        (("4096",), 4096),
        (("max", 700), 700),
        (("many", "\u0663"), MACHINE),
    ],
)
def test_the_least_limit_holds(limits, texts, limit):
    limits(*texts)
    assert memory.usable_memory() == limit


def test_systems_without_a_number_of_pages_have_8_gib(limits, monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    assert memory.usable_memory() == 8 << 30


def test_a_matrix_beyond_the_limit_of_the_container_is_refused(limits):
    groups = np.repeat(np.arange(200), 2)
    limits(2 * 32 * 200**2)
    assert GroupAUC.from_predictions([0, 1] * 200, groups * 0.1, groups=groups).cross_matrix.size
    limits(2 * 32 * 200**2 - 1)
    report = GroupAUC.from_predictions([0, 1] * 200, groups * 0.1, groups=groups)
    refused = r"200 groups needs 0.00119 GiB, more than half of the 0.0.*decomposition\(\)"
    for name in ("cross_auc", "cross_difference"):
        with pytest.raises(ValueError, match=refused):
            _ = report.cross_matrix if name == "cross_auc" else report.statistic(name)
    assert report.decomposition().within == 0.5
