"""Numbers of bins as narwhals expressions, which databases and lazy tables compute exactly.

Expressions use only operations that are exact in float64: comparisons, ``1 - score`` for scores
above 0.5, multiplication by a power of two, and rounding down. Constants are powers of two, whole
numbers and edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skfedauc._words import described
from skfedauc.counts.bin_rules import Edges, Probabilities, Rule, Scores

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

# Result of the expression for scores without a bin
NOT_BINNED = -(1 << 40)
# Exponents of the absolute values from 5.4e-20 to 1.8e19; other scores have no bin
_EXPONENTS = range(-64, 64)


def expression_of(rule: Rule, score: nw.Expr) -> nw.Expr:
    """Return the number of the bin of a score as an int64, or `NOT_BINNED`.

    Parameters
    ----------
    rule : Rule
    score : Expr
        Scores in float64.

    Returns
    -------
    Expr
        The expression is `NOT_BINNED` for missing, NaN and infinite scores and for scores outside
        the domain. The rule `Scores` also leaves out absolute values above 0 and below 2**-64, and
        of 2**64 or more, because an expression for all exponents would be too long.
    """
    import narwhals.stable.v2 as nw

    if not isinstance(score, nw.Expr):
        raise TypeError(
            "score must be an expression, such as narwhals.stable.v2.col('score'); got "
            f"{described(score)}."
        )
    low, high = rule.domain
    # Some engines sort NaN above all numbers, and others do not compare NaN.
    is_valid = (score >= low) & (score <= high)
    match rule:
        case Probabilities(octaves, parts):
            number = _of_probability(score, octaves, parts, rule.last)
        case Scores(parts):
            size = score.abs()
            limits = 2.0 ** _EXPONENTS[0], 2.0 ** _EXPONENTS[-1] * 2
            is_valid = (score == 0) | ((size >= limits[0]) & (size < limits[1]))
            number = _of_score(score, parts)
        case Edges(edges):
            number = _chosen(score, edges, [nw.lit(float(n)) for n in range(len(edges) + 1)])
        case _:
            raise AssertionError(rule)
    number = nw.when(is_valid).then(number).otherwise(nw.lit(float(NOT_BINNED)))
    # PostgreSQL treats constants as decimals, which Ibis does not expect.
    return number.cast(nw.Int64)


def _of_probability(score: nw.Expr, octaves: int, parts: int, last: int) -> nw.Expr:
    import narwhals.stable.v2 as nw

    lowest = [2.0 ** -(octaves + 1 - octave) for octave in range(octaves)]
    factors = [nw.lit(0.0), *(nw.lit(parts / low) for low in lowest)]

    def number(distance: nw.Expr) -> nw.Expr:
        below = nw.when(distance > 0).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
        firsts = [below, *(nw.lit(float(2 + (n - 1) * parts)) for n in range(octaves))]
        return _parts_of(distance, lowest, factors, firsts)

    upper = float(last) - number(1 - score)
    at_least_half = nw.when(score > 0.5).then(upper).otherwise(nw.lit(float(last // 2 + 1)))
    return nw.when(score < 0.5).then(number(score)).otherwise(at_least_half)


def _of_score(score: nw.Expr, parts: int) -> nw.Expr:
    import narwhals.stable.v2 as nw

    lowest = [2.0**exponent for exponent in _EXPONENTS]
    factors = [nw.lit(parts / low) for low in lowest]
    firsts = [nw.lit(float(1 + (exponent + 1022) * parts)) for exponent in _EXPONENTS]
    sign = nw.when(score > 0).then(nw.lit(1.0)).otherwise(nw.lit(-1.0))
    number = _parts_of(score.abs(), lowest[1:], factors, firsts) * sign
    return nw.when(score == 0).then(nw.lit(0.0)).otherwise(number)


def _parts_of(
    value: nw.Expr, edges: Sequence[float], factors: Sequence[nw.Expr], firsts: Sequence[nw.Expr]
) -> nw.Expr:
    """Return the number of a part of equal width, starting from the first part between two edges.

    Each `when` chooses only constants, because Spark takes seconds for a `when` with 128 formulas
    as results.
    """
    return (value * _chosen(value, edges, factors)).floor() + _chosen(value, edges, firsts)


def _chosen(value: nw.Expr, edges: Sequence[float], results: Sequence[nw.Expr]) -> nw.Expr:
    """Return result i for values from edge i - 1 to below edge i, from a balanced tree."""
    import narwhals.stable.v2 as nw

    if not edges:
        return results[0]
    middle = len(edges) // 2
    below = _chosen(value, edges[:middle], results[: middle + 1])
    above = _chosen(value, edges[middle + 1 :], results[middle + 1 :])
    return nw.when(value < edges[middle]).then(below).otherwise(above)
