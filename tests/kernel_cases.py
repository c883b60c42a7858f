"""Random rows for the kernel, and a bitwise comparison of the compiled and the numpy kernel.

``python tests/kernel_cases.py 100000`` compares 100,000 cases; the tests compare some of them.
"""

import sys

import numpy as np

from skfedauc import _kernel as kernel
from skfedauc._kernel import _numpy

TINY = np.nextafter(0.0, 1.0)
LARGEST = np.finfo(float).max


def neighbours(centre, rng, n, reach=3):
    """Return floats that are at most `reach` floats away from `centre`."""
    places = rng.integers(-reach, reach + 1, n)
    return (np.asarray(centre).view(np.int64) + np.sign(centre).astype(np.int64) * places).view(
        np.float64
    )


SCORES = {
    "probabilities": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "rounded": lambda rng, n: rng.normal(size=n).round(1),
    "six digits": lambda rng, n: (rng.normal(size=n) * 1000).round(6),
    "large integers": lambda rng, n: rng.integers(-(2**52), 2**52, n).astype(float),
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "float32 votes": lambda rng, n: rng.choice([-2.0, -0.0, 0.0, 1.5], n).astype(np.float32),
    "votes": lambda rng, n: rng.choice([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0], n),
    "powers of two": lambda rng, n: rng.choice([-1, 1], n) * 2.0 ** rng.integers(-9, 9, n),
    "one value": lambda rng, n: np.full(n, 0.3),
    "zeros of both signs": lambda rng, n: rng.choice([-0.0, 0.0], n),
    "around zero": lambda rng, n: rng.choice([-0.0, 0.0, TINY, -TINY, 1e-300, -1e-300], n),
    "denormal": lambda rng, n: rng.integers(-9, 9, n) * TINY,
    "extremes": lambda rng, n: rng.choice([-LARGEST, -1.0, -TINY, 0.0, TINY, 1.0, LARGEST], n),
    "all magnitudes": lambda rng, n: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-300, 300, n),
    "one place apart": lambda rng, n: neighbours(1.5, rng, n),
    "two far clusters": lambda rng, n: neighbours(rng.choice([-1e9, 1e-9], n), rng, n, 2 * n),
    "six far clusters": lambda rng, n: neighbours(10.0 ** (9 * rng.integers(-3, 3, n)), rng, n, n),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "reversed": lambda rng, n: np.sort(rng.normal(size=n))[::-1].copy(),
    # Each pass of a radix sort separates few of these scores.
    "clusters within clusters": lambda rng, n: np.cumprod(rng.choice([0.5, 1.0], n)) + 0.0,
    "outliers of outliers": lambda rng, n: outliers(rng, n, 11, 22, 0.0),
    "shares of outliers": lambda rng, n: outliers(rng, n, 5, 10, 0.03),
    "one of four at each bit": lambda rng, n: outliers(rng, n, 6, 2, 0.75),
}


def outliers(rng, n, step, low, share):
    """Return scores of random low bits; each `step` bits above, set a bit of a share of scores.

    Without a share, the bit of one score is set.
    """
    bits = rng.integers(0, 1 << low, n).astype(np.uint64)
    for bit in range(low + step, 62, step):
        chosen = rng.random(n) < share if share else rng.integers(n, size=1)
        bits[chosen] |= np.uint64(1 << bit)
    return bits.view(np.float64)


def make_rows(rng, n_groups, scores, n):
    """Return scores, labels, groups and weights; every group has rows."""
    groups = np.append(np.arange(n_groups), rng.integers(0, n_groups, n - n_groups))
    if rng.random() < 0.2:  # nearly all rows are in one group
        groups[n_groups:] = np.where(rng.random(n - n_groups) < 0.99, 0, groups[n_groups:])
    positive = rng.random(n) < rng.choice([0.0, 0.1, 0.5, 1.0], p=[0.05, 0.3, 0.6, 0.05])
    weights = rng.choice([rng.uniform(0.1, 3.0, n), 10.0 ** rng.uniform(-9, 9, n)])
    return SCORES[scores](rng, n), positive, rng.permutation(groups), weights


def random_rows(rng):
    n = int(rng.choice([1, 5, 30, 300, 3000], p=[0.1, 0.3, 0.3, 0.25, 0.05]))
    n_groups = int(rng.integers(1, 1 + min(n, int(rng.choice([1, 2, 20, 5000])))))
    return make_rows(rng, n_groups, str(rng.choice(list(SCORES))), n), n_groups


def same_bits(found, expected):
    return len(found) == len(expected) and all(
        a is b is None or (a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes())
        for a, b in zip(found, expected, strict=True)
    )


def both(call):
    """Return the results of a call by the compiled and by the numpy kernel."""
    compiled = call()
    before, kernel._implementation = kernel._implementation, _numpy
    try:
        return compiled, call()
    finally:
        kernel._implementation = before


def compare(rows, n_groups, rng):
    """Assert that both kernels give bit-identical results for all functions."""
    scores, positive, groups, weights = rows
    of_groups = None if n_groups == 1 and rng.random() < 0.5 else groups
    for of_row in (None, weights):
        arguments = scores, positive, of_groups, n_groups, of_row
        cells, expected = both(lambda arguments=arguments: kernel.count_rows(*arguments))
        assert same_bits(cells, expected)
        for among_all in (False, True):
            sums = both(lambda c=cells, a=among_all: kernel.placement_sums(c, among_all=a))
            assert all(map(same_bits, *sums))
        for function in (kernel.concordance, lambda c: [kernel.cross_concordance(c)]):
            assert n_groups > 50 or same_bits(*both(lambda c=cells, f=function: f(c)))
        # The other sign: cells in another order, and no zero with a sign
        turned = kernel.add_cells(cells._replace(scores=-cells.scores), cells.groups, n_groups)
        assert same_bits(turned, kernel.count_rows(-scores, *arguments[1:]))
        # New groups, each with cells
        new = np.unique(rng.integers(0, n_groups, n_groups)[cells.groups], return_inverse=True)[1]
        n_new = int(new.max()) + 1
        assert same_bits(*both(lambda c=cells, g=new, n=n_new: kernel.add_cells(c, g, n)))
        # Merge parts of the rows
        part = rng.integers(0, int(rng.choice([2, 5])), scores.size)
        parts, numbers = [], []
        for mine in (part == number for number in np.unique(part)):
            number, codes = np.unique(groups[mine], return_inverse=True)
            w = None if of_row is None else of_row[mine]
            parts.append(kernel.count_rows(scores[mine], positive[mine], codes, number.size, w))
            numbers.append(number)
        if len(parts) > 1:
            merged, expected = both(lambda p=parts, m=numbers: kernel.merge_cells(p, m, n_groups))
            assert same_bits(merged, expected)
            assert of_row is not None or same_bits(merged, cells)
    scores = scores.astype(np.float64)
    assert same_bits(*both(lambda: kernel.number_cells(scores, of_groups, n_groups)))
    for of_row in (None, weights):
        of_rows = scores, positive, groups, n_groups, of_row
        assert same_bits(*both(lambda of_rows=of_rows: kernel.placements(*of_rows)))


def main(n_cases, seed=0):
    for case in range(n_cases):
        rng = np.random.default_rng([seed, case])
        rows, n_groups = random_rows(rng)
        try:
            compare(rows, n_groups, rng)
        except AssertionError as error:
            raise AssertionError(f"case {case} of seed {seed}") from error
    print(f"{n_cases:,} cases: the same bits")


if __name__ == "__main__":
    assert kernel.name() == "compiled"
    main(*(int(argument) for argument in sys.argv[1:]))
