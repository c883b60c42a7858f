"""Labels and scores of four sites, whose shares of positives differ."""

import numpy as np

SITES = {"site-1": -1.5, "site-2": -0.5, "site-3": 0.5, "site-4": 1.5}


def rows_of(site):
    """Return the labels and the scores of a site, each of shape (500,)."""
    rng = np.random.default_rng(list(SITES).index(site))
    score = rng.normal(SITES[site], 1.5, size=500)
    y = rng.random(500) < 1 / (1 + np.exp(-score))
    return y.astype(int), score
