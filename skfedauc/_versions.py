"""Versions of the package and of what it uses, for reports of bugs."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from skfedauc import _kernel as kernel

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "narwhals", "fairlearn", "polars")


def show_versions() -> None:
    """Print the versions of skfedauc and its dependencies, and which kernel counts rows.

    The kernel is "compiled", or "numpy" where skfedauc was installed without a compiler, or where
    the environment variable ``SKFEDAUC_KERNEL`` is "numpy".

    See Also
    --------
    sklearn.show_versions : Versions of scikit-learn's own dependencies.

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
