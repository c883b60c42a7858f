"""Write files completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from typing import Any

from skfedauc._words import described


def check_path(path: Any) -> Any:
    """Return a file's path; refuse integers, which Python would take as open files."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"path must be the path of a file; got {described(path)}.")
    if not os.fspath(path):
        raise ValueError("path must be the path of a file; got an empty path.")
    return path


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise an error if a path is not writable, before the computation of the content."""
    target = os.path.realpath(check_path(path))
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        code = errno.EISDIR
    elif not os.path.isdir(folder):
        code = errno.ENOTDIR if os.path.exists(folder) else errno.ENOENT
    elif not os.access(target if os.path.exists(target) else folder, os.W_OK):
        code = errno.EACCES
    else:
        return
    raise OSError(code, os.strerror(code), os.fspath(path))


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file beside the target and rename it.

    A reader sees either the old or the new content; a full disk or an interrupt leaves the old
    content. The new file gets the permissions of the old one. Text is UTF-8 with line feeds. Pipes
    and devices are written directly.
    """
    data = content.encode() if isinstance(content, str) else content
    check_path(path)
    try:
        _write(os.path.realpath(path), data)
    except OSError as error:
        # The system names the path of opening a file, but not of writing to it.
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


def _write(target: str, data: bytes) -> None:
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb", buffering=0) as file:
            _write_all(file, data)
        return
    folder = os.path.dirname(target)
    beside = os.path.join(folder, f".skfedauc-{secrets.token_hex(8)}.tmp")
    # Mode x never overwrites an existing file.
    with contextlib.ExitStack() as on_failure:
        with open(beside, "xb", buffering=0) as file:
            on_failure.callback(_remove, beside)
            _write_all(file, data)
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(beside, os.stat(target).st_mode & 0o777)
        os.replace(beside, target)
        on_failure.pop_all()


def _write_all(file: Any, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
