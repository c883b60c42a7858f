"""P values from simulated statistics, compared with their definition and their level."""

import numpy as np
import pytest

from skfedauc.audit.decisions import sequential_pvalue


def pvalue(observed, drawn, at_once, enough, most_draws):
    rest = iter(drawn)
    return sequential_pvalue(
        observed,
        lambda n: np.array([next(rest) for _ in range(n)]),
        at_once=at_once,
        enough=enough,
        most_draws=most_draws,
    )


@pytest.mark.parametrize("at_once", [1, 7, 50])
def test_draws_end_at_enough_large_statistics_or_at_the_last_draw(at_once):
    drawn = np.random.default_rng(0).normal(size=1_000)
    for observed in (-1.0, 0.5, 2.0, 9.0):
        is_large = drawn[:700] >= observed
        ends = np.flatnonzero(np.cumsum(is_large) == 20)
        expected = 20 / (ends[0] + 1) if ends.size else (1 + is_large.sum()) / 701
        assert pvalue(observed, drawn, at_once, 20, 700) == pytest.approx(expected)


def test_statistics_that_differ_by_rounding_are_ties():
    assert pvalue(0.3, [0.1 + 0.2, 0.3 - 1e-16, 0.29], 3, 9, 3) == 3 / 4


def test_the_level_is_kept():
    rng, n = np.random.default_rng(1), 2_000
    pvalues = [
        sequential_pvalue(
            rng.normal(), lambda k: rng.normal(size=k), at_once=20, enough=10, most_draws=400
        )
        for _ in range(n)
    ]
    for level in (0.05, 0.2, 0.5):
        error = np.sqrt(level * (1 - level) / n)
        assert abs(np.mean(np.array(pvalues) <= level) - level) < 4 * error
