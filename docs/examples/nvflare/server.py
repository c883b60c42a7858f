"""The server: merges the counts of all sites."""

from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.workflows.model_controller import ModelController

from skfedauc import ScoreCounts
from skfedauc.counts import Limits


class MergeCounts(ModelController):
    """Ask all sites for their counts, merge the counts and save them in a file.

    Parameters
    ----------
    sites : list of str
        Names of the sites, which are also the labels of their groups.
    path : str
        File of the merged counts.
    """

    def __init__(self, sites, path):
        super().__init__(persistor_id="")  # there is no model to keep
        self.sites, self.path = sites, path

    def run(self):
        """Ask the sites once."""
        request = FLModel(params={"request": "counts"})
        replies = self.send_model_and_wait(targets=self.sites, data=request, timeout=120)
        counts = ScoreCounts.merge([self.counts_of(reply) for reply in replies])
        missing = sorted(set(self.sites) - set(counts.groups))
        if missing:
            raise ValueError(f"no counts came from {', '.join(missing)}")
        counts.save(self.path)

    def counts_of(self, reply):
        """Read the counts of a site, which may only have rows of its own group."""
        site = reply.meta["client_name"]  # the server knows this name, not from the reply
        counts = ScoreCounts.from_bytes(reply.params["counts"], limits=Limits(max_bytes=10**8))
        if counts.groups != (site,):
            raise ValueError(f"{site} sent rows of the groups {counts.groups}")
        return counts
