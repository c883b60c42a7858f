"""Files are written completely or left unchanged."""

import errno
import os
import stat

import pytest

from skfedauc import _output_file as output_file
from skfedauc._output_file import check_target, write_whole


def names(folder):
    return sorted(os.listdir(folder))


def test_new_and_replaced_files(tmp_path):
    path = tmp_path / "a.html"
    write_whole(path, "caf\u00e9\n")
    assert path.read_bytes() == b"caf\xc3\xa9\n"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    write_whole(str(path), b"more")
    assert path.read_bytes() == b"more"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(tmp_path) == ["a.html"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step, error):
    path = tmp_path / "a.html"
    path.write_text("old")

    def failing(*_):
        raise error

    monkeypatch.setattr(output_file.os, step, failing)
    with pytest.raises(type(error)):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.html"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_devices_are_written_as_they_are():
    write_whole(os.devnull, "text")
    assert not os.path.isfile(os.devnull)
    with pytest.raises(OSError, match="No space left"):
        write_whole("/dev/full", "text")


def test_targets_that_must_not_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(output_file.os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError):
        check_target(tmp_path / "new.html")
