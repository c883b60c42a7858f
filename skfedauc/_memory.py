"""Memory that this process may use, limited by the machine and by its containers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")
_OF_PROCESS = Path("/proc/self/cgroup")
# Files with the memory limit of a Linux control group (cgroup), in bytes: version 2 and version 1
_LIMIT, _LIMIT_V1 = "memory.max", "memory.limit_in_bytes"


def usable_memory() -> int:
    """Return the bytes of memory of the machine, or of the container if the container has less.

    For a machine of unknown size, the function assumes 8 GiB.
    """
    try:
        of_machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        of_machine = 8 << 30
    return min([of_machine, *_limits()])


def _limits() -> Iterator[int]:
    """Yield the readable memory limits of the control groups (cgroups) of this process.

    The limit of a control group applies to its subgroups. In a container, the control group of the
    container is either the root, or has the same path as outside.
    """
    for folder, name in {*_files()}:
        try:
            limit = (folder / name).read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            continue
        if limit.isdecimal() and int(limit) > 0:  # "max" means no limit.
            yield int(limit)


def _files() -> Iterator[tuple[Path, str]]:
    yield from ((_GROUPS, _LIMIT), (_GROUPS / "memory", _LIMIT_V1))
    try:
        lines = _OF_PROCESS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        # Format hierarchy:controllers:path. Version 2 names no controllers.
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "memory" not in controllers.split(","):
            continue
        root, name = (_GROUPS / "memory", _LIMIT_V1) if controllers else (_GROUPS, _LIMIT)
        inside = Path(path.lstrip("/"))
        if ".." not in inside.parts:
            yield from ((root / folder, name) for folder in (inside, *inside.parents))
