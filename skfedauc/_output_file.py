"""Write files completely or not at all, plain values as JSON, and the date of a document."""

from __future__ import annotations

import contextlib
import datetime
import errno
import json
import math
import os
import time
from collections.abc import Callable
from typing import Any

from skfedauc._words import described, label_text, shortened


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
    target = os.path.realpath(check_path(path))
    try:
        if os.path.isfile(target) or not os.path.exists(target):
            _replace(target, data)
        else:
            with open(target, "wb") as file:
                file.write(data)
    except OSError as error:
        # The system names the path of opening a file, but not of writing to it.
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


def _replace(target: str, data: bytes) -> None:
    import secrets  # late: it takes a good part of the start of the command line

    beside = os.path.join(os.path.dirname(target), f".skfedauc-{secrets.token_hex(8)}.tmp")
    try:
        # Mode x never overwrites an existing file.
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(beside, os.stat(target).st_mode & 0o777)
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def as_json(document: dict[str, Any], *, is_printed: bool = False) -> str:
    """Return nested plain values as JSON, without NaN or infinite numbers; ASCII if printed."""
    return json.dumps(document, indent=2, ensure_ascii=is_printed, allow_nan=False)


def text_or_file(make: Callable[[], str], path: str | os.PathLike[str] | None) -> str | None:
    """Return the text, or write it; a path that cannot be written is refused first."""
    if path is None:
        return make()
    check_target(path)
    write_whole(path, make())
    return None


def plain_label(label: Any) -> str | int | list[Any]:
    """Return a group's label for JSON: text, an integer or boolean, or a list for several columns.

    Other kinds of labels, such as dates, become text.
    """
    if isinstance(label, tuple):
        return [plain_label(part) for part in label]
    return label if isinstance(label, str | int) else label_text(label)


def plain_number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def date_of_now() -> str:
    """Return the date and time in UTC by ISO 8601, ``2026-01-31T09:30:00Z``."""
    # https://reproducible-builds.org/specs/source-date-epoch/
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        seconds = time.time() if epoch is None else int(epoch)
        moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            "the environment variable SOURCE_DATE_EPOCH must be a whole number of seconds "
            f"since 1970; got {shortened(epoch)}. Correct it, or unset it."
        ) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
