"""Counts in the replies of Flower clients, and an aggregator for strategies."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from skfedauc import _group_codes, _input, _words
from skfedauc.counts import DisclosureError, Limits, MergeError, ScoreCounts, Source
from skfedauc.counts.files import check_limits
from skfedauc.counts.score_counts import merge_named, view_of
from skfedauc.counts.state import check_name

if TYPE_CHECKING:
    from flwr.app import ConfigRecord, MetricRecord, RecordDict

    from skfedauc.report import GroupAUC
    from skfedauc.report.statistics import StatisticName

# Keys of the ConfigRecord that holds counts
_COUNTS, _SOURCE, _ROUND = "score-counts", "source", "server-round"
# Key of the MetricRecord with the number of rows that the client evaluates
_DECLARED = "num-examples"
_STATISTICS: tuple[StatisticName, ...] = (
    "pooled",
    "macro",
    "samples",
    "positives",
    "negatives",
    "within",
    "worst",
    "difference",
)
# What a client can do about counts that disagree with those of others, by the reason
_MENDS = {
    "repeated": ". Leave out the reply that is replaced, or give each client its own name by "
    "counts_record(counts, source=...).",
    "unnamed": ". Let each client name its model and period by with_source.",
    "model": ". Leave out the replies that evaluate another model.",
}
_MEND = ". Let all clients count with the same pos_label, disclosure and kind of groups."
# Largest reply: 256 MB in memory, which holds 10 million distinct scores
_LIMITS = Limits(max_bytes=1 << 28, max_rows=10**9, max_label_length=1000)


def flwr(module: str) -> Any:
    return _input.imported(f"flwr.{module}", "skfedauc.flower needs Flower", "flower")


def counts_record(
    counts: ScoreCounts, *, source: str | None = None, server_round: int | None = None
) -> ConfigRecord:
    """Return a Flower record with score counts, for the reply of a client.

    Parameters
    ----------
    counts : ScoreCounts
        Counts of the client's rows, with groups.
    source : str, default=None
        The client's name, for messages, and for `expected_groups` of the aggregator.
    server_round : int, default=None
        Round of the request, ``message.content["config"]["server-round"]``, which the aggregator
        compares between replies and gives to its reports.

    Returns
    -------
    flwr.app.ConfigRecord
        Record for the reply, beside the client's MetricRecord, under any key.

    Raises
    ------
    ValueError, TypeError
        If the counts have no groups, or an argument is not as described.
    ImportError
        If Flower or pyarrow is missing.

    See Also
    --------
    GroupAUCAggregator : Merge the counts of all replies.

    Notes
    -----
    The server sees each client's counts, and exact counts of distinct scores disclose the
    group, the score and the class of every row. `ScoreCounts.reduced` returns counts that disclose
    less, and `secure_reply` sends counts that the server does not see.

    Examples
    --------
    >>> from skfedauc import ScoreCounts
    >>> from skfedauc.flower import counts_record
    >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7], groups=["oslo"] * 3)
    >>> sorted(counts_record(counts, source="oslo", server_round=1))
    ['score-counts', 'server-round', 'source']
    """
    _input.check_type(counts, ScoreCounts, "counts must be a ScoreCounts")
    if view_of(counts).labels is None:
        raise ValueError(
            "counts must have groups, so that the server knows whose rows they count; pass "
            "groups= to ScoreCounts.from_predictions, or name the group of all rows by "
            "counts.regroup({None: 'device 7'})."
        )
    entries: dict[str, Any] = {}
    check_name(source, "source")
    if source is not None:
        # The model and the period stay: replies of different models must not be merged.
        known = counts.sources[0] if len(counts.sources) == 1 else Source()
        counts = counts.with_source(
            source, model=known.model, period=known.period, metadata=dict(known.metadata)
        )
        entries[_SOURCE] = source
    if server_round is not None:
        entries[_ROUND] = _input.check_whole_number(server_round, "server_round", 0)
    return flwr("app").ConfigRecord({_COUNTS: counts.to_bytes(), **entries})


class GroupAUCAggregator:
    """Merge the counts in the replies of clients, and compute the AUCs of all rows.

    Pass it to a strategy of Flower as ``evaluate_metrics_aggr_fn``, or call it in your own.

    Parameters
    ----------
    expected_groups : iterable of labels, or mapping of str to iterable of labels, default=None
        Labels of all groups of each round, so that missing ones are noticed: Flower passes on only
        the replies that arrived. A mapping from each client's name, `source` of
        `counts_record`, to its groups also refuses rows in the groups of others, and other names.
    on_missing : {"warn", "raise", "ignore"}, default="warn"
        What to do about missing or unexpected groups; `missing_groups` records the missing ones.
    on_invalid : {"raise", "skip"}, default="raise"
        A reply without counts, with damaged counts, beyond the limits, with other rows than it
        declares, with groups of another source, or with another round, model, level, positive label
        or other metrics than most is an error, or is left out with a warning and recorded in
        `invalid`. So are all replies of a source that contradict each other.
    statistics : sequence of str, default=("pooled", "macro", "samples", "positives", "negatives", \
    "within", "worst", "difference")
        Names as in `GroupAUC.statistic`. Those that the level of disclosure does not determine are
        left out.
    limits : skfedauc.counts.Limits, default=None
        What is accepted of each reply. None accepts 2**28 bytes, also after decompression, 10**9
        rows in a class, and labels of 1,000 characters.

    Attributes
    ----------
    reports : dict of int to GroupAUC
        Report of each round, of the number that clients pass to `counts_record`, else of the number
        of the call. They hold the counts; ``del aggregator.reports[1]`` releases them.
    missing_groups : dict of int to tuple
        Labels of the expected groups that are missing in each round.
    invalid : dict of int to dict
        The reason by the name of each reply that was skipped in each round, such as
        ``"reply 3 of 5, from 'oslo'"``.
    repeated : dict of int to tuple
        Names of the replies that repeat others of the round, and count once.

    See Also
    --------
    counts_record : Put counts into a client's reply.
    GroupAUC : Report of all AUCs, gaps and tables.
    secure_group_auc : Only sums over the clients reach the server.

    Notes
    -----
    The number of counted rows, which have a weight above 0, must be the client's ``num-examples``,
    or less by at most its rows without a group label and in withheld groups. The name is the
    client's own statement, because Flower does not tell its hook which node sent a reply; your own
    strategy can compare ``message.metadata.src_node_id``. Use one aggregator for one hook of one
    strategy.

    Examples
    --------
    >>> from flwr.app import MetricRecord, RecordDict
    >>> from skfedauc import ScoreCounts
    >>> from skfedauc.flower import GroupAUCAggregator, counts_record
    >>> def reply(site, y, score, auc):
    ...     counts = ScoreCounts.from_predictions(y, score, groups=[site] * len(y))
    ...     metrics = MetricRecord({"num-examples": len(y), "auc": auc})
    ...     return RecordDict({"metrics": metrics, "counts": counts_record(counts, source=site)})
    >>> replies = [
    ...     reply("oslo", [0, 1, 0], [0.2, 0.4, 0.3], 1.0),
    ...     reply("lima", [0, 1, 1], [0.6, 0.5, 0.7], 0.5),
    ... ]
    >>> aggregator = GroupAUCAggregator(expected_groups=["lima", "oslo"])
    >>> metrics = aggregator(replies, "num-examples")
    >>> print(round(metrics["auc"], 3), round(metrics["auc-pooled"], 3), metrics["num-clients"])
    0.75 0.778 2
    >>> aggregator.reports[1].by_group
           auc  n_positives  n_negatives
    group
    lima   0.5            2            1
    oslo   1.0            1            2

    In a ServerApp: ``FedAvg(evaluate_metrics_aggr_fn=aggregator)``.
    """

    def __init__(
        self,
        *,
        expected_groups: Iterable[Any] | Mapping[str, Iterable[Any]] | None = None,
        on_missing: Literal["warn", "raise", "ignore"] = "warn",
        on_invalid: Literal["raise", "skip"] = "raise",
        statistics: Sequence[StatisticName] = _STATISTICS,
        limits: Limits | None = None,
    ) -> None:
        # The import is local, because clients need this module without scikit-learn and scipy.
        from skfedauc.report.statistics import check_statistic

        _input.check_type(statistics, Iterable, "statistics must be a list of names")
        for name in statistics:
            check_statistic(name)
        self._groups_of: dict[str, tuple[Any, ...]] | None = None
        if isinstance(expected_groups, Mapping):
            if not all(isinstance(source, str) for source in expected_groups):
                raise TypeError(
                    "the keys of expected_groups must be names of sources; got "
                    f"{_words.listed(expected_groups)}."
                )
            self._groups_of = {source: _labels_in(own) for source, own in expected_groups.items()}
            expected_groups = [label for own in self._groups_of.values() for label in own]
        self.expected_groups = None if expected_groups is None else _labels_in(expected_groups)
        self.on_missing = _input.check_option("on_missing", on_missing, ("warn", "raise", "ignore"))
        self.on_invalid = _input.check_option("on_invalid", on_invalid, ("raise", "skip"))
        self.statistics = tuple(statistics)
        self.limits = _LIMITS if limits is None else check_limits(limits)
        self.reports: dict[int, GroupAUC] = {}
        self.missing_groups: dict[int, tuple[Any, ...]] = {}
        self.invalid: dict[int, dict[str, str]] = {}
        self.repeated: dict[int, tuple[str, ...]] = {}
        self._n_calls = 0

    def __call__(
        self, records: Iterable[RecordDict], weighted_by_key: str = "num-examples"
    ) -> MetricRecord | None:
        """Merge the counts of the replies of one round, and return metrics.

        Parameters
        ----------
        records : iterable of flwr.app.RecordDict
            Contents of the replies, each with one MetricRecord and one record of `counts_record`.
        weighted_by_key : str, default="num-examples"
            Key of the number of examples in the MetricRecords.

        Returns
        -------
        flwr.app.MetricRecord
            Averages of the clients' metrics, as in Flower; then the `statistics` of all rows, such
            as ``auc-pooled``, NaN where undefined, with the ends ``auc-pooled-low`` and
            ``auc-pooled-high`` of the certain interval for binned scores (see `GroupAUC.bounds`);
            then ``num-clients``, ``num-groups``, ``num-undefined-groups`` (which lack a class) and,
            with `expected_groups`, ``num-missing-groups``. None if all replies are skipped, after
            which Flower goes on with the next round.

        Raises
        ------
        ValueError
            If there is no reply, or a reply is not valid with ``on_invalid="raise"``; the message
            names the client. With ``on_missing="raise"``, if groups are missing or unexpected.
        """
        from skfedauc.report import GroupAUC
        from skfedauc.report.group_auc import estimates_of
        from skfedauc.report.intervals import statistic_bounds

        self._n_calls += 1
        contents = list(records)
        if not contents:
            raise ValueError("the aggregator needs at least one reply of a client; got none.")
        numbers = (of.get(_ROUND) for content in contents for of in _records_in(content))
        named = Counter(number for number in numbers if isinstance(number, int))
        server_round = named.most_common(1)[0][0] if named else self._n_calls
        replies, counts = self._merged(contents, weighted_by_key, server_round)
        found = () if counts is None else counts.groups
        missing = self.missing_groups[server_round] = self._check_groups(found or (), server_round)
        if counts is None:
            return None
        report = GroupAUC(counts)
        pairs = estimates_of(report).pairs
        default = flwr("serverapp.strategy").FedAvg().evaluate_metrics_aggr_fn
        try:
            metrics = default(replies, weighted_by_key)
        except ZeroDivisionError as error:
            raise ValueError(
                f"{weighted_by_key!r} is 0 in all {len(replies)} replies; let the clients evaluate "
                "some rows."
            ) from error
        # Reading the report would warn about undefined AUCs. Metrics have NaN instead.
        quiet = GroupAUC(pairs, undefined="ignore")
        own: dict[str, float | int] = {}
        for name in self.statistics:
            key = f"auc-{name.replace('_', '-')}"
            with contextlib.suppress(DisclosureError):
                own[key] = quiet.statistic(name)
                if pairs.is_binned:
                    bounds = statistic_bounds(estimates_of(quiet), name)
                    own |= {f"{key}-low": float(bounds.low), f"{key}-high": float(bounds.high)}
        own["num-clients"] = len(replies)
        own["num-groups"] = report.n_groups
        own["num-undefined-groups"] = pairs.n_undefined
        if self.expected_groups is not None:
            own["num-missing-groups"] = len(missing)
        taken = sorted(own.keys() & metrics.keys())
        if taken:
            message = (
                f"the clients have metrics named {_words.listed(taken)}, as the aggregator has"
            )
            if self.on_invalid == "raise":
                raise ValueError(f"{message}; rename the metrics of the clients.")
            _input.warn(f"{message}, which are left out; rename them.")
        metrics.update(own)
        self.reports[server_round] = report
        return metrics

    def _merged(
        self, contents: list[RecordDict], weighted_by_key: str, server_round: int
    ) -> tuple[list[RecordDict], ScoreCounts | None]:
        """Return the valid replies and their sum, None without any; record the others."""
        replies, invalid = dict[str, _Reply](), dict[str, str]()
        for number, content in enumerate(contents, 1):
            name = _name_of(content, f"reply {number} of {len(contents)}")
            try:
                replies[name] = self._read(content, name, server_round, weighted_by_key)
            except ValueError as error:
                invalid[name] = str(error)
        for reasons_of in (_other_metrics, _of_one_source):
            invalid |= reasons_of([of for name, of in replies.items() if name not in invalid])
        parts = {name: of.counts for name, of in replies.items() if name not in invalid}
        counts, again = None, list[str]()
        if parts:
            counts, again, refused = merge_named(parts, on_invalid="skip")
            invalid |= {name: _reason(error) for name, error in refused}
        self.invalid[server_round], self.repeated[server_round] = invalid, tuple(again)
        if invalid:
            if self.on_invalid == "raise":
                raise ValueError(next(iter(invalid.values())))
            shown = f"{len(invalid)} of {len(contents)} replies left out as invalid. "
            _input.warn(shown + " ".join(invalid.values()))
        left_out = {*again, *invalid}
        return [of.content for name, of in replies.items() if name not in left_out], counts

    def _read(
        self, content: RecordDict, name: str, server_round: int, weighted_by_key: str
    ) -> _Reply:
        """Read and check a reply; a client has its own source name, and its own groups."""
        found = _records_in(content)
        if len(found) != 1:
            raise ValueError(
                f"{name} has {_words.counted(len(found), 'record')} of counts; put one record of "
                "skfedauc.flower.counts_record(counts) into the reply of each client."
            )
        (record,) = found
        source, number, data = record.get(_SOURCE), record.get(_ROUND), record[_COUNTS]
        kinds = (data, bytes), (source, str | None), (number, int | None)
        if not all(isinstance(value, kind) for value, kind in kinds):
            raise ValueError(f"{name} has counts that skfedauc.flower.counts_record did not make.")
        limits = self.limits if source is None else dataclasses.replace(self.limits, source=source)
        if number not in (None, server_round):
            raise ValueError(
                f"{name} is from server round {number}, and most replies of this call are from "
                f"round {server_round}; leave out the replies to earlier requests."
            )
        if self._groups_of is not None:
            if source not in self._groups_of:
                raise ValueError(
                    f"{name} has no source in expected_groups "
                    f"({_words.listed(self._groups_of)}). Pass the name of the client by "
                    "counts_record(counts, source=...)."
                )
            limits = dataclasses.replace(limits, groups=set(self._groups_of[source]))
        try:
            counts = ScoreCounts.from_bytes(data, limits=limits)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        reply = _Reply(counts, name, content)
        _check_metrics(reply, weighted_by_key)
        return reply

    def _check_groups(self, groups: tuple[Any, ...], server_round: int) -> tuple[Any, ...]:
        """Compare the groups with the expected groups, and return the missing groups."""
        if self.expected_groups is None:
            return ()
        known, found = dict.fromkeys(self.expected_groups), dict.fromkeys(groups)
        missing = tuple(label for label in known if label not in found)
        others = [label for label in found if label not in known]
        message = ""
        if missing:
            message = (
                f"{len(missing)} of {_words.counted(len(known), 'expected group')} have no rows "
                f"in round {server_round}: {_words.listed(missing)}. "
            )
        if others:
            message += (
                f"The replies of round {server_round} have "
                f"{_words.counted(len(others), 'group')} not among the expected groups: "
                f"{_words.listed(others)}. "
            )
        if message and self.on_missing == "raise":
            raise ValueError(
                f"{message}Wait for the clients, correct expected_groups, or pass "
                "on_missing='warn' to compute the AUCs of the rows that arrived."
            )
        if message and self.on_missing == "warn":
            _input.warn(f"{message}The AUCs of this round are those of the rows that arrived.")
        return missing


class _Reply(NamedTuple):
    """A client's counts, the client's name in messages, and the content of its reply."""

    counts: ScoreCounts
    name: str
    content: Any


def _name_of(content: RecordDict, name: str) -> str:
    """Return a reply's name in messages, with the source that it names."""
    found = [of.get(_SOURCE) for of in _records_in(content)]
    is_named = len(found) == 1 and isinstance(found[0], str)
    return f"{name}, from {_words.shortened(found[0])}" if is_named else name


def _records_in(content: RecordDict) -> list[ConfigRecord]:
    """Return a reply's records of counts, of which a valid reply has one."""
    return [record for record in content.config_records.values() if _COUNTS in record]


def _reason(error: Exception) -> str:
    """Return why counts are left out of the sum, and what the clients can do about it."""
    if not isinstance(error, MergeError):
        return str(error)
    fact = error.fact.replace("the parts have", "the replies have")
    return f"{fact}{_MENDS.get(error.reason, _MEND)}"


def _of_one_source(replies: list[_Reply]) -> dict[str, str]:
    """Return the reason by name of replies that contradict others of their source.

    Nobody knows which of them the source sent, so none of them counts.
    """
    by_source, found = defaultdict[str, dict[str, ScoreCounts]](dict), dict[str, str]()
    for reply in replies:
        for source in reply.counts.sources:
            by_source[source.key[0]][reply.name] = reply.counts
    for parts in by_source.values():
        try:
            merge_named(parts)
        except MergeError as error:
            found |= dict.fromkeys(parts, _reason(error))
    return found


def _other_metrics(replies: list[_Reply]) -> dict[str, str]:
    """Return the reason by name of replies whose metrics Flower cannot average with most others."""
    names = []
    for (record,) in (reply.content.metric_records.values() for reply in replies):
        lengths = {of: len(v) for of, v in record.items() if isinstance(v, list)}
        shown = {of: f"{of} of length {n}" for of, n in lengths.items()}
        names.append(", ".join(shown.get(of, of) for of in sorted(record)))
    most = max(names, key=names.count, default="")
    return {
        reply.name: f"{reply.name} has the metrics {own}, and {replies[names.index(most)].name} "
        f"has {most}. Let all clients send numbers, or lists of one length, of the same names."
        for reply, own in zip(replies, names, strict=True)
        if own != most
    }


def _check_metrics(reply: _Reply, weighted_by_key: str) -> None:
    """Check the weight of a reply, and compare the rows it counts with the rows it declares."""
    records = list(reply.content.metric_records.values())
    if len(records) != 1 or weighted_by_key not in records[0]:
        raise ValueError(
            f"{reply.name} needs one MetricRecord with the key {weighted_by_key!r}, the number of "
            f"examples; got {_words.counted(len(records), 'MetricRecord')}."
        )
    (record,) = records
    for key in {weighted_by_key, _DECLARED} & record.keys():
        number = record[key]
        if isinstance(number, list) or not 0 <= number < math.inf:
            raise ValueError(
                f"{reply.name} has {_words.shortened(number)} as {key!r}, which must be a finite "
                "number of 0 or more."
            )
    counts = reply.counts
    least = int(counts.n_negatives.sum() + counts.n_positives.sum())
    rule, withheld = counts.disclosure, counts.disclosure.withheld
    most = least + counts.n_missing
    most += (withheld.most_negatives or 0) + (withheld.most_positives or 0)
    if withheld.is_n_missing_low and rule.min_count:
        most += rule.min_count - 1
    declared = record.get(_DECLARED, least)
    if not least <= declared <= most:
        raise ValueError(
            f"{reply.name} declares {declared:,} rows as {_DECLARED!r}, and its counts have "
            f"{least:,}. Let the client declare the rows that it counts, without those of weight 0 "
            "and in withheld groups of unknown size."
        )


def _labels_in(expected_groups: Any) -> tuple[Any, ...]:
    """Return the sorted distinct labels of the expected groups as Python objects."""
    _input.check_type(expected_groups, Iterable, "expected_groups must be a list of group labels")
    distinct = _group_codes.encode_groups(list(expected_groups), "expected_groups").labels
    if not distinct.size:
        raise ValueError("expected_groups has no labels; pass None if the groups are unknown.")
    return tuple(distinct.tolist())
