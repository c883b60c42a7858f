"""A site: counts the scores of its rows, and sends the counts as bytes."""

import nvflare.client as flare
from site_rows import rows_of

from skfedauc import ScoreCounts

flare.init()
site = flare.get_site_name()
while flare.is_running():
    flare.receive()
    y, score = rows_of(site)
    counts = ScoreCounts.from_predictions(y, score, groups=[site] * len(y))
    flare.send(flare.FLModel(params={"counts": counts.with_source(site).to_bytes()}))
