"""Limits of a probability from independent trials, by the tails of the binomial distribution.

The limits follow Clopper and Pearson [1]_, for k events among m independent trials. The upper
limit is the largest probability for which k or fewer events have a probability of at least `tail`.
The coverage is at least 1 - `tail` for any number of trials. Langford [2]_ calls the upper limit of
an error rate the test set bound.

References
----------
.. [1] Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits
   illustrated in the case of the binomial. Biometrika 26(4).
   https://doi.org/10.1093/biomet/26.4.404
.. [2] Langford, J. (2005). Tutorial on practical prediction theory for classification. Journal of
   Machine Learning Research 6. https://www.jmlr.org/papers/v6/langford05a.html
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def lower_limit(n_events: ArrayLike, n_trials: ArrayLike, tail: ArrayLike) -> Floats:
    """Return the lower limit of the probability of an event; NaN without trials.

    Parameters
    ----------
    n_events, n_trials : array-like of int or float
        Number of events, and number of independent trials. For weighted rows, the number of trials
        is the effective sample size.
    tail : array-like of float
        Probability, between 0 and 1, with which the limit may exceed the true probability.
    """
    from scipy.special import betaincinv

    events, trials, tails = np.broadcast_arrays(
        np.asarray(n_events, np.float64), np.asarray(n_trials, np.float64), tail
    )
    found = np.where(trials > 0, 0.0, np.nan)
    some = (events > 0) & (trials > 0)
    found[some] = betaincinv(events[some], trials[some] - events[some] + 1.0, tails[some])
    return found


def upper_limit(n_events: ArrayLike, n_trials: ArrayLike, tail: ArrayLike) -> Floats:
    """Return the upper limit of the probability of an event; NaN without trials.

    The limit is 1 minus the lower limit of the probability that the event does not occur.

    Parameters
    ----------
    n_events, n_trials : array-like of int or float
        Number of events, and number of independent trials. For weighted rows, the number of trials
        is the effective sample size.
    tail : array-like of float
        Probability, between 0 and 1, with which the limit may be below the true probability.
    """
    # A difference of unsigned integers could overflow.
    others = np.asarray(n_trials, np.float64) - np.asarray(n_events, np.float64)
    return 1.0 - lower_limit(others, n_trials, tail)
