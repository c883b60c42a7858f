"""Sums of masked counts by Flower's protocol SecAgg+."""

import hashlib
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import secure_app
from flwr.app import ArrayRecord, Context, Error, Message, RecordDict
from flwr.client import NumPyClient
from flwr.client.mod import secaggplus_mod
from flwr.clientapp import ClientApp
from flwr.common import bytes_to_ndarray, ndarray_to_bytes
from flwr.common.secure_aggregation.secaggplus_utils import pseudo_rand_gen
from flwr.server.workflow import SecAggPlusWorkflow
from local_grid import LocalGrid
from processes import run_python
from secure_app import BINS, GROUPS, SITES, counts_of, make_client, merged

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.flower import (
    is_secure_request,
    secure_client,
    secure_group_auc,
    secure_reply,
    secure_server,
)
from skfedauc.flower.secure_client import settings_of

STAGES = ["setup", "share_keys", "collect_masked_vectors", "unmask"]


class SecureGrid(LocalGrid):
    """A grid that keeps what the server receives, and returns the errors of clients as replies.

    `lost_at` maps the number of a client to the first stage of the protocol that the client does
    not answer.
    """

    def __init__(self, client_app=None, n_nodes=5, lost_at=None):
        super().__init__(make_client() if client_app is None else client_app, n_nodes)
        self.lost_at = {} if lost_at is None else lost_at
        self.received = []

    def reply(self, message):
        node = message.metadata.dst_node_id
        stage = message.content["secaggplus_configs"]["stage"]
        lost_at = self.lost_at.get(node - 100)
        if lost_at is not None and STAGES.index(stage) >= STAGES.index(lost_at):
            return Message(Error(code=5, reason="node is offline"), reply_to=message)
        try:
            reply = super().reply(message)
        except Exception as error:
            return Message(Error(code=2, reason=repr(error)), reply_to=message)
        self.received.append((node, stage, reply))
        return reply


def context():
    return Context(run_id=1, node_id=0, node_config={}, state=RecordDict(), run_config={})


def ask(grid=None, **arguments):
    grid = SecureGrid() if grid is None else grid
    return secure_group_auc(grid, context(), **({"bins": BINS, "groups": GROUPS} | arguments))


@pytest.mark.parametrize("most_shares", [101, 3])
def test_the_sum_is_the_merged_state_bit_for_bit(most_shares, monkeypatch):
    monkeypatch.setattr(secure_client, "_MOST_SHARES", most_shares)
    found = ask()
    assert found.report.counts == merged()
    assert found.report.counts.disclosure.bins == BINS
    assert (found.n_clients, found.n_asked, found.failures) == (5, 5, {})
    assert found.report.pooled == GroupAUC(merged()).pooled


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_largest_count_is_exact(n, caplog):
    """The sum is exact up to the largest permitted count, and no client sends a larger count."""
    most = settings_of(n)["clipping_range"]
    assert n * 2 * most < 2**32

    def count(site, more=0):
        return ScoreCounts.from_counts(["all"] * 3, [0, 0.3, 1], [1, 0, most], [most + more, 3, 0])

    found = ask(SecureGrid(make_client(count), n))
    assert found.report.counts == ScoreCounts.merge([count("bern").reduced(BINS)] * n)
    with pytest.raises(RuntimeError, match="because of a ValueError; the log"):
        ask(SecureGrid(make_client(lambda site: count(site, 1)), n))
    assert f"the largest count is {most + 1:,} (positives of group 'all'" in caplog.text


def make_raw_client():
    """Clients that send vectors by Flower's mod, without `secure_reply`."""

    class Site(NumPyClient):
        def __init__(self, site):
            self.site = site

        def fit(self, parameters, config):
            return [counts_of(self.site).to_vector(BINS, GROUPS)], 1, {}

    def client_of(context):
        return Site(SITES[context.node_config["partition-id"]]).to_client()

    return ClientApp(client_of, mods=[secaggplus_mod])


def test_the_server_receives_no_counts_in_the_clear():
    grid = SecureGrid()
    ask(grid)
    assert len(grid.received) == 20
    vectors = {100 + i: counts_of(site).to_vector(BINS, GROUPS) for i, site in enumerate(SITES)}
    for node, stage, reply in grid.received:
        assert all(len(record) == 0 for record in reply.content.array_records.values())
        if stage != "collect_masked_vectors":
            continue
        content = reply.content
        assert dict(content["fitres.num_examples"]) == {"num_examples": 1}
        assert dict(content["fitres.metrics"]) == {}
        _, masked = map(bytes_to_ndarray, content["secaggplus_configs"]["masked_params"])
        assert masked.shape == vectors[node].shape
        # Masked entries are spread over all 32 bits: about half of them have the highest bit.
        assert 0.4 < (masked >= 2**31).mean() < 0.6
        assert np.abs(np.corrcoef(masked, vectors[node])[0, 1]) < 0.2


def recurrence(bits):
    """Return the shortest linear recurrence of bits by Berlekamp and Massey: order, offsets."""
    polynomial, before, order, since, window = 1, 1, 0, 1, 0
    for i, bit in enumerate(bits):
        window = (window << 1 | bit) & ((1 << 20_001) - 1)
        if (polynomial & window).bit_count() % 2:
            changed = polynomial ^ before << since
            if 2 * order <= i:
                order, before, since = i + 1 - order, polynomial, 0
            polynomial = changed
        since += 1
    return order, np.array([i for i in range(order + 1) if polynomial >> i & 1])


@pytest.fixture(scope="module")
def twister():
    """Order and offsets of the recurrence of the Mersenne Twister's lowest bits."""
    numbers = np.random.RandomState(0).randint(0, 2**32 - 1, 39_900, np.int64)
    return recurrence((numbers & 1).tolist())


def recovered(masked, twister):
    """Return the odd counts of a client, computed from its masked vector alone.

    The masks cancel in sums modulo 2 over the recurrence. The sums of the counts modulo 2 remain,
    and few counts are odd. The function takes odd counts one after the other, and begins with the
    count that is most frequent in odd sums.
    """
    order, offsets = twister
    last = np.arange(order, masked.size)
    is_odd = (masked[last[:, None] - offsets] & 1).sum(axis=1) % 2 == 1
    found = np.zeros(masked.size, bool)
    for _ in range(50):
        votes = np.zeros(masked.size)
        for offset in offsets:
            votes[last - offset] += np.where(is_odd, 1, -1)
        best = int(votes.argmax())
        found[best] ^= True
        sums = best + offsets - order
        is_odd[sums[(sums >= 0) & (sums < is_odd.size)]] ^= True
        if not is_odd.any():
            break
    return found.astype(int)


def test_flowers_masks_disclose_rows_and_ours_do_not(twister):
    """The reason for masks of our own: all 20 rows of a client follow from its masked vector."""
    assert (twister[0], twister[1].size) == (19_937, 135)
    bins, groups, rng = Bins.of_probabilities(), list("abcdefghij"), np.random.default_rng(2)
    own = {"groups": rng.choice(groups, 20)}
    counts = ScoreCounts.from_predictions(rng.integers(0, 2, 20), rng.random(20), **own)
    vector = counts.to_vector(bins, groups)
    assert np.unique(vector).tolist() == [0, 1]
    keys, found = [bytes([number] * 32) for number in range(4)], []
    for masks_of in (pseudo_rand_gen, secure_client.masks_of):
        masks = [masks_of(key, 2**32, [vector.shape])[0] for key in keys]
        found.append(recovered(vector + sum(masks), twister))
    assert np.array_equal(found[0], vector)
    assert (found[1] * vector).sum() < 3


def test_masks_are_uniform_and_follow_from_the_key():
    first, second = secure_client.masks_of(b"key", 2**32, [(1,), (300, 400)])
    assert first.shape == (1,)
    assert second.shape == (300, 400)
    assert second.dtype == np.int64
    assert second.min() < 2**17
    assert second.max() > 2**32 - 2**17
    assert abs(second.mean() / 2**31 - 1) < 0.01
    # Expected bytes: the first bytes of SHAKE-256
    expected = hashlib.shake_256(b"skfedauc masks 1\0key").digest(8)
    assert [first[0], second[0, 0]] == list(struct.unpack("<2I", expected))
    assert (secure_client.masks_of(b"kez", 2**32, [(300, 400)])[0] != second).mean() > 0.99
    with pytest.raises(ValueError, match=r"modulo 2\*\*32; got the modulus 1024"):
        secure_client.masks_of(b"key", 1024, [(1,)])


def test_other_apps_keep_flowers_masks():
    for module in map(secure_client.copied, (secure_client.CLIENT_MOD, secure_client.WORKFLOW)):
        assert module.pseudo_rand_gen is secure_client.masks_of
        assert sys.modules[module.__name__] is not module
        assert sys.modules[module.__name__].pseudo_rand_gen is pseudo_rand_gen


def test_clients_do_not_disclose_both_secrets_of_a_client():
    class Curious(SecureGrid):
        def reply(self, message):
            configs = message.content["secaggplus_configs"]
            if configs["stage"] == "unmask":
                configs["dead_nids"] = [102]
            return super().reply(message)

    grid = Curious()
    with pytest.raises(RuntimeError, match="for both secrets of 1 node"):
        ask(grid)
    assert all(stage != "unmask" for _, stage, _ in grid.received)


def test_the_arrays_of_the_server_reach_the_clients():
    arrays = ArrayRecord([np.array([0.5, 2.0]), np.array(3)])
    seen = []
    app = ClientApp()

    @app.train()
    def train(message, context):
        def count(received):
            seen.append(received)
            return counts_of("bern")

        return secure_reply(message, context, count, bins=BINS, groups=GROUPS)

    ask(SecureGrid(app), arrays=arrays)
    assert len(seen) == 5  # each client counts once in a round
    assert [array.tolist() for array in seen[0]] == [[0.5, 2.0], 3]


def test_a_client_answers_several_rounds_whatever_the_order_of_its_groups():
    grid = SecureGrid(make_client(groups=GROUPS[::-1]))
    assert ask(grid).report.counts == ask(grid).report.counts == merged()


@pytest.mark.parametrize("stage", STAGES[:2])
def test_a_client_lost_before_keys_are_shared_stops_the_round(stage):
    grid = SecureGrid(lost_at={3: stage})
    with pytest.raises(RuntimeError, match=r"before a client sent counts.*node 103: node is off"):
        ask(grid, min_clients=4)
    assert grid_sent_no_vector(grid)
    found = ask(SecureGrid(lost_at={3: stage}), node_ids=[100, 101, 102, 104])
    assert found.report.counts == merged(WITHOUT_OSLO)


WITHOUT_OSLO = [site for site in SITES if site != "oslo"]


def grid_sent_no_vector(grid):
    return all(stage != "collect_masked_vectors" for _, stage, _ in grid.received)


@pytest.mark.parametrize(
    ("stage", "sites"), [("collect_masked_vectors", WITHOUT_OSLO), ("unmask", SITES)]
)
def test_a_client_is_part_of_the_sum_if_it_sent_its_counts(stage, sites):
    found = ask(SecureGrid(lost_at={3: stage}), min_clients=4)
    assert found.report.counts == merged(sites)
    assert (found.n_clients, found.n_asked) == (len(sites), 5)
    assert found.failures == {103: "node is offline"}
    if stage == "unmask":
        assert ask(SecureGrid(lost_at={3: stage})).n_clients == 5
        return
    # All clients are required by default.
    with pytest.raises(ValueError, match=r"of 4 of 5 clients \(1 failure: node 103.*min_clients"):
        ask(SecureGrid(lost_at={3: stage}))
    with pytest.raises(RuntimeError, match=r"2 failures.*At least 4 of 5 clients"):
        ask(SecureGrid(lost_at={1: stage, 3: stage}), min_clients=3)


def test_there_is_no_sum_of_two_clients():
    """The clients refuse, too: the server would know the sum although it reports none."""
    grid = SecureGrid(n_nodes=3, lost_at={1: "collect_masked_vectors"})
    with pytest.raises(RuntimeError, match=r"node 100: .*asks for the sum of 2 clients that share"):
        ask(grid)
    assert all(stage != "unmask" for _, stage, _ in grid.received)
    after = SecureGrid(n_nodes=3, lost_at={1: "unmask"})
    assert ask(after, min_clients=3).n_clients == 3


def test_clients_without_a_reply_are_named():
    class Silent(SecureGrid):
        def send_and_receive(self, messages, *, timeout=None):
            assert timeout == 7.0
            replies = super().send_and_receive(messages, timeout=timeout)
            return [reply for reply in replies if not reply.has_error()]

    found = ask(Silent(lost_at={0: "unmask"}), timeout=7.0)
    assert found.failures == {100: "no reply"}


@pytest.mark.parametrize(
    "client",
    [
        {"bins": Bins.of_probabilities(octaves=6, parts=16)},
        {"groups": [*GROUPS, "Oslo"]},
        {"groups": [*GROUPS[:-1], "Rome"]},
    ],
)
def test_clients_that_do_not_agree_send_no_counts(client):
    grid = SecureGrid(make_client(**client))
    with pytest.raises(RuntimeError, match="the bins or the groups of this client differ"):
        ask(grid)
    assert grid_sent_no_vector(grid)


def fail(site):
    raise KeyError("patient 1234")


@pytest.mark.parametrize(
    ("count", "kind", "reason"),
    [
        (lambda site: counts_of(site).regroup(str.upper), "ValueError", "groups: 'ALL'"),
        (lambda site: 1234, "TypeError", "count must return a ScoreCounts; got int 1234"),
        (fail, "KeyError", "patient 1234"),
    ],
)
def test_errors_of_counts_stay_in_the_log_of_the_client(count, kind, reason, caplog):
    """Flower sends the text of an error to the server."""
    grid = SecureGrid(make_client(count))
    with pytest.raises(RuntimeError, match=f"not sent, because of a {kind}; the log") as raised:
        ask(grid)
    assert grid_sent_no_vector(grid)
    assert reason in caplog.text
    assert "1234" not in str(raised.value)
    assert "ALL" not in str(raised.value)


@pytest.mark.parametrize(
    "setting",
    [
        {"max_weight": 1000.0},
        {"clipping_range": 8.0},
        {"quantization_range": 2**22},
        {"modulus_range": 2**30},
        {"reconstruction_threshold": 2},
    ],
)
def test_clients_refuse_settings_that_are_not_exact_or_not_safe(setting, monkeypatch):
    class Other(SecAggPlusWorkflow):
        def __init__(self, num_shares, threshold, **settings):
            settings |= {"reconstruction_threshold": threshold} | setting
            super().__init__(num_shares, **settings)

    monkeypatch.setattr(secure_client.copied(secure_client.WORKFLOW), "SecAggPlusWorkflow", Other)
    grid = SecureGrid()
    with pytest.raises(RuntimeError, match="settings of SecAgg\\+ that are not exact"):
        ask(grid)
    assert grid_sent_no_vector(grid)


def test_a_client_without_secure_reply_is_named():
    app = ClientApp()

    @app.train()
    def train(message, context):
        return Message(RecordDict(), reply_to=message)

    with pytest.raises(ValueError, match=r"node 100 did not answer by SecAgg\+.*secure_reply"):
        ask(SecureGrid(app))


def test_other_weights_are_refused(monkeypatch):
    monkeypatch.setattr(secure_server, "GRID", "grid")

    class Heavy(SecureGrid):
        def reply(self, message):
            reply = super().reply(message)
            if "fitres.num_examples" in reply.content:
                reply.content["fitres.num_examples"]["num_examples"] = 500
            return reply

    with pytest.raises(ValueError, match=r"clients sent the weights \[500\] in place of 1"):
        ask(Heavy(make_raw_client()))


def test_masks_that_remain_are_noticed():
    class Tampering(SecureGrid):
        def reply(self, message):
            reply = super().reply(message)
            records = reply.content.config_records.get("secaggplus_configs", {})
            if "masked_params" in records and message.metadata.dst_node_id == 102:
                factor, masked = map(bytes_to_ndarray, records["masked_params"])
                mask = np.random.default_rng(0).integers(2**32, size=masked.size)
                changed = (masked + mask) % 2**32
                records["masked_params"] = [ndarray_to_bytes(a) for a in (factor, changed)]
            return reply

    with pytest.raises(ValueError, match=r"not a sum of counts.*Masks remain in the sum"):
        ask(Tampering())


@pytest.mark.parametrize(
    ("n_clients", "shares", "threshold", "most"),
    [
        (3, 3, 2, 2**29),
        (4, 4, 3, 2**28),
        (10, 10, 7, 2**27),
        (100, 100, 67, 2**24),
        (300, 101, 68, 2**22),
    ],
)
def test_settings_follow_from_the_number_of_clients(n_clients, shares, threshold, most):
    settings = settings_of(n_clients)
    found = [settings[name] for name in ("share_num", "threshold", "clipping_range")]
    assert found == [shares, threshold, most]
    assert settings["target_range"] == 2 * most
    # The next power of two would wrap around, or not fit in 32 bits.
    assert n_clients * 4 * most >= 2**32 or most == 2**29


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"min_clients": 6}, ValueError, "min_clients is 6, and only 5 clients are asked"),
        ({"min_clients": 2}, ValueError, "min_clients must be a whole number of at least 3"),
        ({"bins": Bins.of_scores()}, ValueError, "fixed number of bins"),
        ({"groups": ["a", "a"]}, ValueError, "each label once"),
        ({"node_ids": [100, 101]}, ValueError, "at least 3 clients; got 2"),
    ],
)
def test_wrong_arguments_of_the_server_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        ask(**arguments)


def test_count_is_a_function():
    message = Message(RecordDict(), dst_node_id=1, message_type="train")
    with pytest.raises(TypeError, match="count must be a function"):
        secure_reply(message, context(), counts_of("bern"), bins=BINS, groups=GROUPS)
    assert not is_secure_request(message)


def test_five_sites_in_a_simulation(tmp_path):
    file = tmp_path / "sum.npy"
    options = {"env": {"FLWR_TELEMETRY_ENABLED": "0"}, "timeout": 900}
    done = run_python(secure_app.__file__, file, cwd=Path(__file__).parent, **options)
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(file), merged().to_vector(BINS, GROUPS))
