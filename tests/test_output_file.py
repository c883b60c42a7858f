"""Files are written completely or left unchanged."""

import errno
import os
import stat
from unittest import mock

import pytest

from skfedauc import FairnessAudit, ScoreCounts
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
@pytest.mark.parametrize("step", ["_write_all", "os.replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step, error):
    path = tmp_path / "a.html"
    path.write_text("old")

    def failing(*_):
        raise error

    owner = output_file.os if step == "os.replace" else output_file
    monkeypatch.setattr(owner, step.rpartition(".")[2], failing)
    with pytest.raises(type(error)):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.html"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_errors_of_a_full_disk_name_the_path():
    counts = ScoreCounts.from_predictions([0, 1], [0.1, 0.4])
    for write in (counts.save, lambda path: write_whole(path, "text")):
        with pytest.raises(OSError, match="/dev/full") as caught:
            write("/dev/full")
        assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")


def test_errors_of_a_full_disk_name_the_file_and_not_the_one_beside(tmp_path, monkeypatch):
    path = tmp_path / "a.html"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(output_file, "_write_all", mock.Mock(side_effect=full))
    with pytest.raises(OSError, match=r"a\.html'$") as caught:
        write_whole(path, "text")
    assert caught.value.filename == str(path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_devices_are_written_as_they_are():
    write_whole(os.devnull, "text")
    assert not os.path.isfile(os.devnull)
    with pytest.raises(OSError, match="No space left"):
        write_whole("/dev/full", "text")


def test_targets(tmp_path):
    check_target(tmp_path / "new.html")
    check_target(os.devnull)
    (tmp_path / "file").write_text("old")
    check_target(tmp_path / "file")
    for path, error in (
        (tmp_path, IsADirectoryError),
        (tmp_path / "absent" / "a.html", FileNotFoundError),
        (tmp_path / "file" / "a.html", NotADirectoryError),
    ):
        with pytest.raises(error) as raised:
            check_target(path)
        assert raised.value.filename == str(path)


def test_targets_that_must_not_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(output_file.os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError):
        check_target(tmp_path / "new.html")


def test_an_audit_is_not_made_for_a_folder_that_is_absent(tmp_path, monkeypatch):
    audit = FairnessAudit.from_predictions([0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=[1, 1, 2, 2])
    monkeypatch.setattr("skfedauc.audit.output.rendered", lambda *_: pytest.fail("it was made"))
    with pytest.raises(FileNotFoundError):
        audit.to_html(tmp_path / "absent" / "a.html")
