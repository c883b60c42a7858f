"""Counts with noise for differential privacy, and AUCs with intervals that cover the noise.

A site draws discrete Laplace noise once for the counts of each bin of scores, and sends the counts
with noise as `PrivateCounts`. Merged `PrivateCounts` give AUCs with intervals.

Drawing noise needs OpenDP: ``pip install "skfedauc[privacy]"``. Reading, merging and evaluating
`PrivateCounts` do not need OpenDP.
"""

from skfedauc.privacy.private_counts import PrivateCounts

__all__ = ["PrivateCounts"]
