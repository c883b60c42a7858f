"""Coverage of intervals and error rates of tests, simulated: ``docs/reference/calibration.md``.

Each module simulates what its name says and lists its tables: a table names the function that
simulates a line, and the arguments of each line.
"""

from benchmarks.calibration import (
    audits,
    averages,
    classes,
    clusters,
    comparisons,
    equal_groups,
    flags,
    margins,
    measures,
    models,
    one_auc,
    percentiles,
    probabilities,
    rates,
    spread,
    without_asymptotics,
)

# In the order of the page
TABLES = [
    *one_auc.TABLES,
    *without_asymptotics.TABLES,
    *measures.TABLES,
    *equal_groups.TABLES,
    *averages.TABLES,
    *spread.TABLES,
    *clusters.TABLES,
    *classes.TABLES,
    *margins.TABLES,
    *models.TABLES,
    *percentiles.TABLES,
    *audits.TABLES,
    *comparisons.TABLES,
    *rates.TABLES,
    *probabilities.TABLES,
    *flags.TABLES,
]
