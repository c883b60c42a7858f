"""Images of displays for their API pages, of real data, for the light and the dark theme.

The rows are those of the tutorial "From a CSV file to a signed page". Examples of the gallery show
the displays that are not drawn here.
"""

from pathlib import Path

import gallery_images
import make_held_out

from skfedauc import GroupAUC, plotting

FOLDER = Path(__file__).parents[1] / "generated" / "displays"
SIZE = (5.4, 3.9)  # inches
# How to draw a display of a report on axes, by the name of the class
OF_REPORT = {
    "CrossAUCDisplay": plotting.CrossAUCDisplay.from_report,
    "GroupAUCDisplay": plotting.GroupAUCDisplay.from_report,
    "GroupRocCurveDisplay": plotting.GroupRocCurveDisplay.from_report,
    "GroupScoreDisplay": lambda report, ax: plotting.GroupScoreDisplay.from_report(
        report, bins=20, ax=ax
    ),
    "RankingDisplay": plotting.RankingDisplay.from_report,
    "ReliabilityDisplay": lambda report, ax: plotting.ReliabilityDisplay.from_report(
        report, bins=3, ax=ax
    ),
}


def save():
    """Write NAME.png and NAME_dark.png for each name of `OF_REPORT`."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    FOLDER.mkdir(parents=True, exist_ok=True)
    patients = make_held_out.make_held_out()
    report = GroupAUC.from_predictions(
        patients["progressed"], patients["risk"], groups=patients[["sex", "age"]], pos_label="yes"
    )
    for name, draw in OF_REPORT.items():
        with plt.rc_context(gallery_images.STYLE):
            figure, ax = plt.subplots(figsize=SIZE, layout="constrained")
            draw(report, ax=ax)
            light = FOLDER / f"{name}.png"
            figure.savefig(light, dpi=2 * gallery_images.DPI)
            plt.close(figure)
        gallery_images.save_dark(light)
