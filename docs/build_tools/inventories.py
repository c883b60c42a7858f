"""Inventories of other projects' documentation, written from the list below.

Sphinx links to another project with the inventory of that project, which it downloads during the
build. Such a build fails without a network and may differ from day to day. The pages refer to few
names of other projects, so these names are listed here. The address of each project is followed by
lines with a name, its kind and the page that documents it. The name replaces `$` in the page. If
the pages refer to a name that is not listed, the build fails (`sphinx -n -W`). With a network,
``sphinx -b linkcheck`` checks that the pages still exist.
"""

import zlib
from pathlib import Path

PROJECTS = {
    "python": (
        "https://docs.python.org/3/",
        """
        dict class library/stdtypes.html#$
        list class library/stdtypes.html#$
        tuple class library/stdtypes.html#$
        str class library/stdtypes.html#$
        int class library/functions.html#$
        float class library/functions.html#$
        callable function library/functions.html#$
        enum.Enum class library/enum.html#$
        None data library/constants.html#$
        True data library/constants.html#$
        False data library/constants.html#$
        bltin-boolean-values std:label library/stdtypes.html#$
        iterable std:term glossary.html#term-$
        sequence std:term glossary.html#term-$
        """,
    ),
    "numpy": (
        "https://numpy.org/doc/stable/",
        """
        numpy.ndarray class reference/generated/$.html#$
        numpy.random.RandomState class reference/random/legacy.html#$
        array_like std:term glossary.html#term-$
        """,
    ),
    "pandas": (
        "https://pandas.pydata.org/docs/",
        """
        pandas.DataFrame class reference/api/$.html#$
        pandas.Series class reference/api/$.html#$
        pandas.cut function reference/api/$.html#$
        """,
    ),
    "scipy": (
        "https://docs.scipy.org/doc/scipy/",
        """
        scipy.stats.ks_2samp function reference/generated/$.html#$
        """,
    ),
    "sklearn": (
        "https://scikit-learn.org/stable/",
        """
        sklearn.base.clone function modules/generated/$.html#$
        sklearn.calibration.CalibrationDisplay class modules/generated/$.html#$
        sklearn.frozen.FrozenEstimator class modules/generated/$.html#$
        sklearn.inspection module api/$.html#module-$
        sklearn.metrics.RocCurveDisplay class modules/generated/$.html#$
        sklearn.metrics.average_precision_score function modules/generated/$.html#$
        sklearn.metrics.make_scorer function modules/generated/$.html#$
        sklearn.metrics.roc_auc_score function modules/generated/$.html#$
        sklearn.metrics.roc_curve function modules/generated/$.html#$
        sklearn.model_selection.FixedThresholdClassifier class modules/generated/$.html#$
        sklearn.model_selection.RepeatedStratifiedKFold class modules/generated/$.html#$
        sklearn.model_selection.StratifiedKFold class modules/generated/$.html#$
        sklearn.model_selection.StratifiedGroupKFold class modules/generated/$.html#$
        sklearn.preprocessing.QuantileTransformer class modules/generated/$.html#$
        sklearn.set_config function modules/generated/$.html#$
        sklearn.show_versions function modules/generated/$.html#$
        sklearn.utils.Bunch class modules/generated/$.html#$
        """,
    ),
    "joblib": (
        "https://joblib.readthedocs.io/en/stable/",
        """
        joblib.parallel_config class generated/$.html#$
        """,
    ),
}


def write(folder: Path) -> dict[str, tuple[str, str]]:
    """Write each project's inventory and return the mapping for ``sphinx.ext.intersphinx``."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, (address, lines) in PROJECTS.items():
        path = folder / f"{project}.inv"
        path.write_bytes(_inventory(project, lines))
        mapping[project] = (address, str(path))
    return mapping


def _inventory(project: str, lines: str) -> bytes:
    """Return an inventory of version 2: four lines of text and the compressed entries."""
    head = (
        f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    entries = ""
    for line in filter(None, map(str.strip, lines.splitlines())):
        name, kind, page = line.split()
        # Sphinx replaces `$` only at the end.
        page = page.replace("$", name)
        role = kind if ":" in kind else f"py:{kind}"
        shown = name if role.startswith("std:") else "-"
        entries += f"{name} {role} 1 {page} {shown}\n"
    return head.encode() + zlib.compress(entries.encode())
