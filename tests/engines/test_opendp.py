"""Noise of OpenDP for differential privacy, and the examples of the docstrings and the page."""

import doctest

import numpy as np
import pytest
from scipy.stats import chisquare
from test_coming_from import run_blocks
from test_docs import DOCS, enter

from skfedauc import Bins, ScoreCounts
from skfedauc.cli.main import main
from skfedauc.privacy import PrivateCounts, laplace, private_counts
from skfedauc.privacy.laplace import variance_of, with_noise


def probabilities(values, scale):
    a = np.exp(-1.0 / scale)
    return (1.0 - a) / (1.0 + a) * a ** np.abs(values)


@pytest.mark.parametrize(("epsilon", "rows"), [(0.5, 1), (1.0, 3), (5.0, 1)])
def test_the_noise_has_the_discrete_laplace_distribution(epsilon, rows):
    """Benchmarks and other tests draw the noise as a difference of two geometric variables."""
    n, scale, most = 20_000, rows / epsilon, 12
    success = -np.expm1(-1.0 / scale)
    rng = np.random.default_rng(0)
    samples = (
        with_noise(np.full((2, n // 2), 7), epsilon, rows) - 7,
        rng.geometric(success, (2, n // 2)) - rng.geometric(success, (2, n // 2)),
    )
    values = np.arange(-most, most + 1)
    shares = probabilities(values, scale)
    # The first and the last category include the tails, so no category is rare.
    kept = np.abs(values) <= max(1, int(scale * np.log(n * shares.max() / 50)))
    shares, values = shares[kept], values[kept]
    tail = (1.0 - shares.sum()) / 2.0
    shares[[0, -1]] += tail
    for noise in samples:
        assert noise.shape == (2, n // 2)
        clipped = np.clip(noise.reshape(-1), values[0], values[-1])
        found = np.bincount(clipped - values[0], minlength=values.size)
        # The probability of a failure by chance is 1e-7.
        assert chisquare(found, n * shares).pvalue > 1e-7
        # The kurtosis of the distribution is at most that of rare values, about 1 / P(x != 0).
        spread = variance_of(scale) * np.sqrt((6.0 + 2.0 / variance_of(scale)) / n)
        assert abs(noise.var() - variance_of(scale)) < 6.0 * spread


@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 0.3, 1 / 3, 0.7, 1.0, 5.0, 20.0, 700.0])
def test_opendp_bounds_the_privacy_loss_by_epsilon(epsilon, rows, monkeypatch):
    dp, made = laplace._opendp(), []
    make = dp.m.make_laplace

    def recorded(*space, scale):
        made.append(make(*space, scale=scale))
        return made[-1]

    monkeypatch.setattr(dp.m, "make_laplace", recorded)
    with_noise(np.zeros(1, np.int64), epsilon, rows)
    assert epsilon * (1 - 1e-12) < made[-1].map(rows) <= epsilon


def test_versions_of_opendp_with_another_distribution_are_refused(monkeypatch):
    monkeypatch.setattr(laplace, "version", lambda name: "0.14.1")
    with pytest.raises(ImportError, match=r"OpenDP 0\.14\.1 draws noise of another distribution"):
        with_noise(np.zeros(1, np.int64), 1.0, 1)


def test_every_call_draws_other_noise():
    zeros = np.zeros(200, np.int64)
    assert (with_noise(zeros, 0.1, 1) != with_noise(zeros, 0.1, 1)).any()


def test_private_counts_are_the_counts_with_noise():
    counts = ScoreCounts.from_counts(
        ["a", "b"] * 2, [0.2, 0.2, 0.7, 0.7], [9, 4, 2, 3], [1, 5, 8, 6]
    )
    bins = Bins.at([0.5])
    exact = PrivateCounts.from_counts(counts, bins, ["c", "a", "b"], epsilon=10.0)
    assert exact.negatives.tolist() == [[9, 2], [4, 3], [0, 0]]
    assert exact.positives.tolist() == [[1, 8], [5, 6], [0, 0]]


def test_the_command_hides_whether_there_are_rows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["--label", "y", "--score", "s", "--group", "g", "-o", "a.skfa", "--epsilon", "1"]
    options += ["--disclosure", "bins", "--bins", "0.5", "--agreed-groups", "a"]
    printed = []
    for rows in ("", "0,0.2,a\n"):
        (tmp_path / "rows.csv").write_text(f"y,s,g\n{rows}")
        assert main(["count", "rows.csv", *options]) == 0
        printed.append(capsys.readouterr())
    assert printed[0] == printed[1]


def test_docstrings():
    found = doctest.testmod(private_counts, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 15
    assert found.failed == 0


def test_every_block_of_the_page_gives_what_stands_below_it(monkeypatch, tmp_path):
    enter(tmp_path, monkeypatch)
    run_blocks(DOCS / "how_to" / "differential_privacy.md", {"pycon", "sh"})
