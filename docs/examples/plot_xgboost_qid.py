"""
XGBoost's AUC with ``qid`` is far below the AUC of each list
============================================================

``XGBRanker`` ranks four ways to travel for each of 105 travelers, and ranks nearly every chosen way
first. XGBoost reports a low AUC nevertheless, because its AUC with ``qid`` also counts pairs of two
ways that were not chosen.
"""

# %%
# The example uses the data of :doc:`plot_travel`. Each traveler is a list of four ways, one of
# which was chosen. The model is trained on one half of the travelers and evaluated on the other
# half.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xgboost
from statsmodels.datasets import modechoice

from skfedauc import GroupAUC

data = modechoice.load_pandas().data
X = data[["ttme", "invc", "invt", "gc", "hinc", "psize"]].assign(
    **{name: data["mode"] == number for number, name in enumerate(["air", "train", "bus"], 1)}
)
chosen, traveler = data["choice"].astype(int), data["individual"].astype(int)
is_train = traveler <= 105
settings = {"n_estimators": 50, "max_depth": 3, "learning_rate": 0.1, "n_jobs": 1}
ranker = xgboost.XGBRanker(objective="rank:pairwise", eval_metric="auc", **settings)
ranker.fit(
    X[is_train],
    chosen[is_train],
    qid=traveler[is_train],
    eval_set=[(X[~is_train], chosen[~is_train])],
    eval_qid=[traveler[~is_train]],
    verbose=False,
)
score = ranker.predict(X[~is_train])
reported = ranker.evals_result()["validation_0"]["auc"][-1]
y, qid = chosen[~is_train].to_numpy(), traveler[~is_train].to_numpy()
report = GroupAUC.from_predictions(y, score, groups=qid)
first = pd.Series(y, index=score).groupby(qid).apply(lambda of: of.sort_index().iloc[-1])
print(f"AUC that XGBoost reports: {reported:.3f}")
print(f"mean of the travelers' AUCs (macro): {report.average('macro'):.3f}")
print(f"pooled AUC: {report.pooled:.3f}")
print(f"chosen way ranked first: {first.mean():.0%} of the travelers")

# %%
# XGBoost sorts each list by the labels, and computes the share of *all* pairs whose scores have the
# same order. A list of four ways has six pairs, but only three pairs compare the chosen way with
# another way. The order of the other three pairs is the order of the rows in the table. This share,
# averaged over the lists, is XGBoost's value:


def share_of_all_pairs(y, score):
    """Return the share of pairs in order of the labels, with pairs of equal labels."""
    score = score[np.argsort(-y, kind="stable")]
    i, j = np.triu_indices(len(y), k=1)
    return np.mean((score[i] > score[j]) + 0.5 * (score[i] == score[j]))


shares = [share_of_all_pairs(y[qid == one], score[qid == one]) for one in np.unique(qid)]
assert np.isclose(np.mean(shares), reported)

# %%
# Therefore the value depends on the order of the rows. In the next table, the ways of each traveler
# are in four different orders. The model and its scores are the same:

values = {}
for name, order in {
    "plane, train, bus, car": [0, 1, 2, 3],
    "car, bus, train, plane": [3, 2, 1, 0],
    "by score, descending": None,
    "by score, ascending": None,
}.items():
    rows = np.arange(len(y)).reshape(-1, 4)
    if order is not None:
        rows = rows[:, order]
    else:
        sign = -1 if "descending" in name else 1
        rows = np.take_along_axis(rows, np.argsort(sign * score[rows], axis=1), axis=1)
    matrix = xgboost.DMatrix(X[~is_train].iloc[rows.ravel()], y[rows.ravel()], qid=qid)
    values[name] = float(ranker.get_booster().eval(matrix).rpartition(":")[2])
    again = GroupAUC.from_predictions(y[rows.ravel()], score[rows.ravel()], groups=qid)
    assert again.average("macro") == report.average("macro")
print(pd.Series(values).round(3).to_string())
assert max(values.values()) - min(values.values()) > 0.3

fig, ax = plt.subplots(figsize=(5.4, 3), layout="constrained")
ax.barh(list(values), list(values.values()), color="#d55e00", height=0.55)
for name, value in values.items():
    ax.text(value, name, f" {value:.2f}", va="center")
ax.axvline(report.average("macro"), color="#0072b2", linewidth=2)
ax.text(
    report.average("macro"),
    3.75,
    f"mean of the lists' AUCs {report.average('macro'):.2f} ",
    ha="right",
    color="#0072b2",
)
ax.set(xlim=(0, 1.1), ylim=(4.2, -0.6))
ax.set_xlabel("AUC that XGBoost reports")
fig.suptitle("XGBoost's AUC with qid depends on the row order", x=0.02, ha="left")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# To stop training at the best mean of the lists' AUCs, pass an ``XGBoostMetric``, as
# :doc:`/how_to/boosting` shows. :doc:`/reference/which_auc` lists the AUCs of other packages.
