"""AUCs by other packages' bins: ``python benchmarks/bins_peers.py keras|spark ROWS.npz``.

`benchmarks.bins` runs this file by the interpreter of an environment that has the package, which
needs no skfedauc. It prints a JSON list of AUCs, one for each number of bins.
"""

from __future__ import annotations

import json
import os
import sys

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def keras(y: Floats, scores: Floats, numbers: list[int]) -> list[float]:
    """AUC of Keras: Riemann sums over equally spaced thresholds, by interpolation."""
    os.environ.setdefault("KERAS_BACKEND", "numpy")
    from keras.metrics import AUC

    found = []
    for n_thresholds in numbers:
        metric = AUC(num_thresholds=n_thresholds, curve="ROC", summation_method="interpolation")
        metric.update_state(y, scores)
        found.append(float(metric.result()))
    return found


def spark(y: Floats, scores: Floats, numbers: list[int]) -> list[float]:
    """AUC of Spark's BinaryClassificationMetrics, which joins neighboring distinct scores."""
    import pandas as pd
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    rows = session.createDataFrame(pd.DataFrame({"label": y, "score": scores})).cache()
    try:
        return [
            BinaryClassificationEvaluator(
                rawPredictionCol="score", labelCol="label", numBins=n_bins
            ).evaluate(rows)
            for n_bins in numbers
        ]
    finally:
        session.stop()


if __name__ == "__main__":
    content = np.load(sys.argv[2])
    compute = {"keras": keras, "spark": spark}[sys.argv[1]]
    print(json.dumps(compute(content["y"], content["scores"], content["numbers"].tolist())))
