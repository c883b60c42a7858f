"""A grid that runs Flower clients in this process."""

import copy

from flwr.app import Context, Error, Message, RecordDict
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

# Messages carry the identity of the process that sends them.
TaskIdentity.run_id, TaskIdentity.task_id, TaskIdentity.node_id = 1, 1, 1


class LocalGrid(Grid):
    """A grid that calls its nodes one after the other; some nodes do not reply."""

    def __init__(self, client_app, n_nodes):
        self.client_app = client_app
        self.contexts = {
            100 + i: Context(
                run_id=1,
                node_id=100 + i,
                node_config={"partition-id": i, "num-partitions": n_nodes},
                state=RecordDict(),
                run_config={},
            )
            for i in range(n_nodes)
        }
        self.lost = set()
        # By node: function from the reply to an evaluation to what the server gets in its place
        self.strange = {}
        self.sent = set()  # types of the messages that the server sent

    # Methods of grids that nothing here calls
    set_run = run = create_message = push_messages = pull_messages = NotImplemented

    def get_node_ids(self):
        return list(self.contexts)

    def send_and_receive(self, messages, *, timeout=None):
        messages = list(messages)
        self.sent |= {message.metadata.message_type for message in messages}
        return [reply for message in messages for reply in self.replies(message)]

    def replies(self, message):
        reply = self.reply(message)
        strange = self.strange.get(message.metadata.dst_node_id - 100)
        if strange is None or message.metadata.message_type != "evaluate":
            return [reply]
        return strange(reply)

    def reply(self, message):
        node = message.metadata.dst_node_id
        if node - 100 in self.lost:
            return Message(Error(code=5, reason="node is offline"), reply_to=message)
        # A network copies messages.
        return self.client_app(copy.deepcopy(message), self.contexts[node])
