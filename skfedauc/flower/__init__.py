"""AUC over groups in Flower, from counts in the replies of clients or from masked counts.

A client puts the `ScoreCounts` of its rows into its reply with `counts_record`. On the server, a
`GroupAUCAggregator` merges the counts of all replies and computes the AUCs of all rows together.

Use `secure_group_auc` on the server and `secure_reply` on the clients if the server must not see
a client's counts. These functions add up counts by Flower's protocol SecAgg+.

This module needs Flower: ``pip install "skfedauc[flower]"``.
"""

from skfedauc.flower.aggregator import GroupAUCAggregator, counts_record
from skfedauc.flower.secure_client import is_secure_request, secure_reply
from skfedauc.flower.secure_server import SecureReport, secure_group_auc

__all__ = [
    "GroupAUCAggregator",
    "SecureReport",
    "counts_record",
    "is_secure_request",
    "secure_group_auc",
    "secure_reply",
]
