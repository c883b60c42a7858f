"""Clients that answer requests of `secure_group_auc`: five sites and their counts.

``python secure_app.py FILE`` runs one round in Flower's simulation, and saves the sum. The
simulation runs in a process of its own, because Ray leaves processes and open files behind.
"""

import sys

import numpy as np
from flwr.clientapp import ClientApp

from skfedauc import Bins, ScoreCounts
from skfedauc.flower import is_secure_request, secure_group_auc, secure_reply

SITES = ["bern", "kyiv", "lima", "oslo", "rome"]
GROUPS = ["all", *SITES]
BINS = Bins.of_probabilities(octaves=6, parts=8)


def counts_of(site):
    """Return the counts of a site, with rows of a group that all sites have.

    The largest counts are nearly 20,000. All counts of a site are odd if the number of the site is
    odd, and even otherwise.
    """
    number = SITES.index(site)
    rng = np.random.default_rng(number)
    y = rng.integers(0, 2, 500)
    score = np.round(rng.beta(1 + y, 2), 2)
    own = ScoreCounts.from_predictions(y, score, groups=[site] * 500)
    most = 20_000 - number
    return own + ScoreCounts.from_counts(["all"] * 2, [0.25, 0.75], [most, 1], [17, most])


def merged(sites=SITES):
    return ScoreCounts.merge([counts_of(site).reduced(BINS) for site in sites])


def make_client(count=counts_of, bins=BINS, groups=GROUPS):
    """Return the app of the clients; `count` returns the counts of a site."""
    app = ClientApp()

    @app.train()
    def train(message, context):
        assert is_secure_request(message)
        site = SITES[context.node_config["partition-id"]]
        return secure_reply(message, context, lambda _: count(site), bins=bins, groups=groups)

    return app


if __name__ == "__main__":
    from flwr.serverapp import ServerApp
    from flwr.simulation import run_simulation

    server = ServerApp()

    @server.main()
    def main(grid, context):
        found = secure_group_auc(grid, context, bins=BINS, groups=GROUPS, timeout=600)
        assert found.n_clients == found.n_asked == len(SITES)
        np.save(sys.argv[1], found.report.counts.to_vector(BINS, GROUPS))

    run_simulation(server, make_client(), num_supernodes=len(SITES))
