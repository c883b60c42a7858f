"""Versions of the package and its dependencies, for bug reports."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from skfedauc import _kernel as kernel

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "narwhals", "fairlearn", "polars")


def show_versions() -> None:
    """Print the versions of skfedauc and its dependencies, and the kernel in use.

    The kernel is "compiled" or "numpy". The kernel is "numpy" after an installation without a
    compiler, or if the environment variable ``SKFEDAUC_KERNEL`` is "numpy".

    See Also
    --------
    sklearn.show_versions : Print the versions of scikit-learn and its dependencies.

    Examples
    --------
    >>> import skfedauc
    >>> skfedauc.show_versions()  # doctest: +ELLIPSIS
    skfedauc: ...
    kernel: ...
    """
    print(f"skfedauc: {version('skfedauc')}")
    print(f"kernel: {kernel.name()}")
    print(f"python: {platform.python_version()}")
    print(f"platform: {platform.platform()}")
    for package in _PACKAGES:
        try:
            found = version(package)
        except PackageNotFoundError:
            found = "not installed"
        print(f"{package}: {found}")
