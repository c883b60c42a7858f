"""Tolerances: declared limits of gaps, each answered with "met", "not met" or "undecided".

A tolerance is met if the interval of the gap is within the limit, and not met if the interval is
beyond the limit. Otherwise, the rows do not decide. Each limit of the interval fails with a
probability of at most 5 %, so each of the answers "met" and "not met" is wrong with a probability
of at most 5 %. The answer "met" is an equivalence test [1]_, or a test of non-inferiority for a
ratio.

References
----------
.. [1] Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power
   approach for assessing the equivalence of average bioavailability. Journal of Pharmacokinetics
   and Biopharmaceutics 15(6). https://doi.org/10.1007/BF01068419
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from skfedauc import _input, _words
from skfedauc.audit.gaps import LEVEL, GroupComparison
from skfedauc.report import spread_of

Answer = Literal["met", "not met", "undecided"]

ANSWERS: tuple[Answer, ...] = ("met", "not met", "undecided")
# Meaning of the answers
MEANING = (
    "A tolerance is met if both limits are within it, and not met if both are beyond it. Each of "
    "these answers is wrong with a probability of at most 5 %, for each tolerance alone."
)
# Gaps that can have a tolerance: gaps of AUCs and of decisions
_OF_AUCS = ("difference", "ratio", "tau", "xauc_disparity")
_OF_DECISIONS = (
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "true_positive_rate_difference",
    "false_positive_rate_difference",
    "equalized_odds_difference",
    "equalized_odds_ratio",
)
_KNOWN = (*_OF_AUCS, *_OF_DECISIONS)
# Ratios of rates of positive predictions. The ratio of rates of negative predictions differs, while
# the differences are the same.
_RATIOS_OF_RATES = ("demographic_parity_ratio", "equalized_odds_ratio")
# Gaps without an interval that answers a tolerance
_WITHOUT = ("cross_difference", "abroca")


class MissingDecisionsError(ValueError):
    """Error of a tolerance of decisions in an audit without decisions.

    Attributes
    ----------
    gap : str
        Name of the gap.
    """

    def __init__(self, gap: str, message: str = "") -> None:
        self.gap = gap
        super().__init__(
            message
            or f"tolerances has {gap!r}, a gap of decisions, and this audit has none: pass "
            "y_pred=, decisions= or a number as threshold=, or omit this tolerance."
        )

    def of_model(self, model: str) -> MissingDecisionsError:
        """Return the error for one of the models of a comparison."""
        return MissingDecisionsError(
            self.gap,
            f"tolerances has {self.gap!r}, a gap of decisions, and the model {model} has none: "
            "pass y_preds= or a number as threshold=, or omit this tolerance.",
        )


def check_tolerances(tolerances: Any, favorable: Any = None) -> dict[str, float]:
    """Return the limits by name of the gap.

    Parameters
    ----------
    tolerances : mapping of str to float, or None
        Limits by name of the gap.
    favorable : {"positive", "negative"} or None, default=None
        The favorable outcome.

    Raises
    ------
    TypeError
        If `tolerances` is not a mapping.
    ValueError
        If a name is not the name of a gap that can have a tolerance, or if a limit is not between 0
        and 1. If the favorable outcome is negative, and a gap is a ratio of rates of positive
        predictions.
    """
    if tolerances is None:
        return {}
    if not isinstance(tolerances, Mapping):
        raise TypeError(
            "tolerances must be a dict of names of gaps and limits, such as "
            f"{{'demographic_parity_ratio': 0.8}}; got {_words.described(tolerances)}."
        )
    for name in tolerances:
        if name in _WITHOUT:
            raise ValueError(
                f"tolerances has {name!r}, and this gap has no interval that answers a tolerance: "
                f"choose from {_words.enumerated(_KNOWN)}."
            )
        if name not in _KNOWN:
            near = difflib.get_close_matches(str(name), _KNOWN, n=1)
            hint = f"did you mean {near[0]!r}? The" if near else "the"
            raise ValueError(
                f"tolerances has {_words.shortened(name)}, which is not a gap with a tolerance; "
                f"{hint} gaps are {_words.enumerated(_KNOWN)}."
            )
        if name in _RATIOS_OF_RATES and favorable == "negative":
            raise ValueError(
                f"tolerances has {name!r}, a ratio of rates of positive predictions, and "
                "favorable='negative' declares the negative class as the favorable outcome. The "
                "ratio says nothing of the rates of the favorable decision. Pass the favorable "
                "class as pos_label=, with scores that are high for this class, and "
                "favorable='positive'. Or pass a tolerance of "
                f"'{name.removesuffix('ratio')}difference', which is the same for both outcomes."
            )
    return {
        str(name): _input.check_share(limit, f"tolerances[{name!r}]")
        for name, limit in tolerances.items()
    }


def check_has_decisions(tolerances: Mapping[str, float]) -> None:
    """Raise a MissingDecisionsError if an audit without decisions has a tolerance of decisions."""
    for name in tolerances:
        if name in _OF_DECISIONS:
            raise MissingDecisionsError(name)


def is_least(name: str) -> bool:
    """Return whether the limit is the least permitted value, as for a ratio."""
    return name.endswith("ratio")


def in_words(name: str) -> str:
    """Return the name of a gap as text."""
    known = {
        "difference": "AUC difference",
        "ratio": "AUC ratio",
        "xauc_disparity": "largest xAUC disparity",
        "demographic_parity_ratio": "demographic parity ratio (of positive predictions)",
        "equalized_odds_ratio": "equalized odds ratio (of positive predictions)",
    }
    return known.get(name, name.replace("_", " "))


def required(name: str, limit: float) -> str:
    """Return the requirement of a tolerance as text, ``at most 0.05``."""
    return f"at {'least' if is_least(name) else 'most'} {limit:g}"


def table(
    comparison: GroupComparison, gaps: pd.DataFrame, tolerances: Mapping[str, float]
) -> pd.DataFrame:
    """Return the table `FairnessAudit.tolerances`."""
    limits = _limits(comparison, tolerances)
    rows = []
    for name, limit in tolerances.items():
        value = float(gaps["value"].to_numpy()[gaps.index.get_loc(name)])
        if name == "xauc_disparity" and not np.isnan(value):
            # The gap is the clearest disparity with its sign.
            value, _, _ = comparison.cross_gaps.largest(1.0 - LEVEL, 1.0 - LEVEL)
        low, high = (np.nan, np.nan) if np.isnan(value) else limits[name]
        rows.append([value, limit, low, high, _answer(name, limit, low, high)])
    found = pd.DataFrame(
        rows,
        index=pd.Index(list(tolerances), dtype=object, name="gap"),
        columns=["value", "limit", "ci_low", "ci_high", "answer"],
        dtype=object,
    )
    return found.astype(dict.fromkeys(found.columns[:-1], np.float64))


def _limits(
    comparison: GroupComparison, tolerances: Mapping[str, float]
) -> dict[str, tuple[float, float]]:
    """Return limits of the gaps, each of which fails with a probability of at most 5 %."""
    alpha, compared = 1.0 - LEVEL, comparison.compared
    found: dict[str, tuple[float, float]] = {
        name: (low, high) for name, (low, high) in comparison.limits(alpha, alpha).items()
    }
    if compared.n_groups < 2:
        return found
    if "difference" in tolerances:
        test = compared.test_margin(tolerances["difference"], confidence_level=LEVEL)
        found["difference"] = comparison.largest_difference.ci_low, test.limit
    if "tau" in tolerances:
        # In simulations, the limits with an error probability of 5 % miss the true value in up
        # to 8 % of runs.
        spread = spread_of(compared, confidence_level=LEVEL)
        found["tau"] = spread["ci_low"], spread["ci_high"]
    if "xauc_disparity" in tolerances:
        _, low, high = comparison.cross_gaps.largest(alpha, alpha)
        found["xauc_disparity"] = low, high
    return found


def _answer(name: str, limit: float, low: float, high: float) -> Answer:
    is_above, is_below = low > limit, high < limit
    if is_least(name):
        is_above, is_below = is_below, is_above
    if is_above:
        return "not met"
    return "met" if is_below else "undecided"
