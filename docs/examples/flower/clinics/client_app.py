"""A clinic: trains the model, evaluates it, and sends the counts of its scores."""

from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from sklearn.metrics import roc_auc_score

from clinics import task
from skfedauc import ScoreCounts
from skfedauc.flower import counts_record, is_secure_request, secure_reply

app = ClientApp()


@app.train()
def train(message, context):
    clinic = task.NAMES[context.node_config["partition-id"]]
    if is_secure_request(message):

        def count(arrays):
            X, y = task.load(clinic, "test")
            return ScoreCounts.from_predictions(y, task.predict(arrays, X))

        return secure_reply(message, context, count, bins=task.BINS, groups=None)

    X, y = task.load(clinic, "train")
    arrays = task.fit(message.content["arrays"].to_numpy_ndarrays(), X, y)
    metrics = MetricRecord({"num-examples": len(y)})
    content = RecordDict({"arrays": ArrayRecord(arrays), "metrics": metrics})
    return Message(content=content, reply_to=message)


@app.evaluate()
def evaluate(message, context):
    clinic = task.NAMES[context.node_config["partition-id"]]
    X, y = task.load(clinic, "test")
    score = task.predict(message.content["arrays"].to_numpy_ndarrays(), X)

    counts = ScoreCounts.from_predictions(y, score, groups=[clinic] * len(y))
    server_round = message.content["config"]["server-round"]
    content = RecordDict(
        {
            "metrics": MetricRecord({"num-examples": len(y), "auc": roc_auc_score(y, score)}),
            "counts": counts_record(counts, source=clinic, server_round=server_round),
        }
    )
    return Message(content=content, reply_to=message)
