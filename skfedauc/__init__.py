"""AUC over groups for scikit-learn: devices, hospitals, shops, folds, people.

`skfedauc.plotting` holds the displays. `skfedauc.boosting` holds metrics for XGBoost and LightGBM.
`skfedauc.measures` holds measures in place of the AUC. `skfedauc.error_bounds` bounds error rates
of classifiers that learn from few rows. `skfedauc.periods` finds changes over time.
`skfedauc.flower` connects to Flower, `skfedauc.privacy` adds noise for differential privacy, and
`skfedauc.datasets` simulates data with known AUCs.

The first use of a name imports its module. Therefore, a device needs only numpy to count rows, not
scikit-learn. Labels that are neither integers nor booleans also need pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Type checkers take an import under its own name for a public name.
if TYPE_CHECKING:
    from skfedauc.audit import FairnessAudit as FairnessAudit
    from skfedauc.comparison import compare_models as compare_models
    from skfedauc.counts import Bins as Bins
    from skfedauc.counts import Disclosure as Disclosure
    from skfedauc.counts import DisclosureError as DisclosureError
    from skfedauc.counts import MulticlassCounts as MulticlassCounts
    from skfedauc.counts import ScoreCounts as ScoreCounts
    from skfedauc.metrics import group_roc_auc_score as group_roc_auc_score
    from skfedauc.mitigation import MitigatedClassifier as MitigatedClassifier
    from skfedauc.model_selection import (
        RepeatedWithinGroupStratifiedKFold as RepeatedWithinGroupStratifiedKFold,
    )
    from skfedauc.model_selection import SelectSimplest as SelectSimplest
    from skfedauc.model_selection import SelectWithinGap as SelectWithinGap
    from skfedauc.model_selection import WithinGroupStratifiedKFold as WithinGroupStratifiedKFold
    from skfedauc.model_selection import compare_candidates as compare_candidates
    from skfedauc.model_selection import cross_validate_group_auc as cross_validate_group_auc
    from skfedauc.planning import auc_critical_difference as auc_critical_difference
    from skfedauc.planning import rows_needed as rows_needed
    from skfedauc.report import GroupAUC as GroupAUC
    from skfedauc.report import MulticlassGroupAUC as MulticlassGroupAUC
    from skfedauc.scoring import group_auc_scoring as group_auc_scoring
    from skfedauc.scoring import make_group_auc_scorer as make_group_auc_scorer

__version__: str

_MODULES = {
    "Bins": "counts",
    "Disclosure": "counts",
    "DisclosureError": "counts",
    "FairnessAudit": "audit",
    "GroupAUC": "report",
    "MitigatedClassifier": "mitigation",
    "MulticlassCounts": "counts",
    "MulticlassGroupAUC": "report",
    "RepeatedWithinGroupStratifiedKFold": "model_selection",
    "ScoreCounts": "counts",
    "WithinGroupStratifiedKFold": "model_selection",
    "auc_critical_difference": "planning",
    "compare_candidates": "model_selection",
    "compare_models": "comparison",
    "cross_validate_group_auc": "model_selection",
    "group_auc_scoring": "scoring",
    "group_roc_auc_score": "metrics",
    "make_group_auc_scorer": "scoring",
    "rows_needed": "planning",
    "SelectSimplest": "model_selection",
    "SelectWithinGap": "model_selection",
}

if not TYPE_CHECKING:  # which reads the imports above
    __all__ = sorted([*_MODULES, "show_versions"])

_PUBLIC_MODULES = (
    "boosting",
    "datasets",
    "error_bounds",
    "flower",
    "measures",
    "periods",
    "plotting",
    "privacy",
)


def show_versions() -> None:
    """Print the versions of skfedauc and its dependencies, and the kernel in use.

    The kernel is "numpy" after an installation without a compiler, or if the environment variable
    ``SKFEDAUC_KERNEL`` is "numpy"; otherwise it is "compiled".

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
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from skfedauc import _kernel as kernel

    print(f"skfedauc: {version('skfedauc')}")
    print(f"kernel: {kernel.name()}")
    print(f"python: {platform.python_version()}")
    print(f"platform: {platform.platform()}")
    for package in ("numpy", "scipy", "scikit-learn", "pandas", "narwhals", "fairlearn", "polars"):
        try:
            found = version(package)
        except PackageNotFoundError:
            found = "not installed"
        print(f"{package}: {found}")


def __getattr__(name: str) -> Any:
    if name == "__version__":  # The import of importlib.metadata is slow.
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("skfedauc")
        except PackageNotFoundError:  # a cluster may send its workers the package as a plain folder
            return "unknown"
    if name in _PUBLIC_MODULES:
        return import_module(f"skfedauc.{name}")
    if name not in _MODULES:
        hint = "; import displays from skfedauc.plotting" if name.endswith("Display") else ""
        hint = "; import it from skfedauc.datasets" if name.startswith("make_group_s") else hint
        raise AttributeError(f"module 'skfedauc' has no attribute {name!r}{hint}")
    return getattr(import_module(f"skfedauc.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_PUBLIC_MODULES})
