"""Coverage of intervals and error rates of tests, simulated: ``docs/reference/calibration.md``.

Each module simulates what its name says and lists its tables: a table names the function that
simulates a line, and the arguments of each line.
"""

from benchmarks.calibration import (
    audits,
    averages,
    classes,
    clusters,
    equal_groups,
    margins,
    measures,
    models,
    one_auc,
    probabilities,
    rates,
    search,
    spread,
)

# The site has a page of each topic.
PAGES = {
    "A search for bad designs": search.TABLES,
    "AUC of one group": one_auc.TABLES,
    "Other measures and classes": [*measures.TABLES, *classes.TABLES],
    "Tests of equal groups": equal_groups.TABLES,
    "Gaps between groups": equal_groups.GAPS,
    "Averages and the pooled AUC": averages.TABLES,
    "Spread and ranks of groups": spread.TABLES,
    "Clustered rows": clusters.TABLES,
    "Margins and planned numbers of rows": margins.TABLES,
    "Comparisons of models": models.TABLES,
    "Audits": audits.TABLES,
    "Rates of decisions and probabilities": [*rates.TABLES, *probabilities.TABLES],
}
TABLES = [table for tables in PAGES.values() for table in tables]
