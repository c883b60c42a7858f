"""Adding and subtracting score counts, each counting of rows once."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _group_codes, _input, _labels
from skfedauc._kernel import merge_cells, number_cells
from skfedauc._words import counted, described, enumerated, listed, shortened, shortened_label
from skfedauc.counts.disclosure import (
    Disclosure,
    DisclosureError,
    check_rule,
    level_in_words,
    merged_rules,
)
from skfedauc.counts.files import Limits, check_limits
from skfedauc.counts.moments import merged_summaries, weights_of
from skfedauc.counts.reducing import at_level, regrouped, with_groups
from skfedauc.counts.state import Source, State, are_weight_sums, check_n_rows, hull, in_order

# A round of files ends once its parts have this number of cells, and as many as the merged counts.
# Each part takes as much memory as its cells and another _CELLS_PER_PART cells.
_ROUND, _CELLS_PER_PART = 1 << 16, 1 << 7
# Cells of files that a merge keeps in memory after the check of all files, and bytes of a file that
# is read once rather than its sources first
_MOST_KEPT, _SMALL = 1 << 22, 1 << 16

# Names of the parts that a merge leaves out, and why
Invalid: TypeAlias = "list[tuple[str, ValueError | OSError]]"


class MergeError(ValueError):
    """Merged parts that contradict each other.

    `fact` is what they disagree on, with their names, and `reason` a word for it: the positive
    label "pos_label", more than two class "labels", "groups", their "columns" or "kinds",
    "disclosure", "model", "period", "summaries" of one group, "repeated" rows, or an "unnamed"
    model or period, so that rows may be repeated. The message is the fact and the remedy, or
    `message`.
    """

    def __init__(self, fact: str, mend: str = "", reason: str = "", message: str = "") -> None:
        super().__init__(message or (f"{fact}. {mend}" if mend else fact))
        self.fact, self.reason = fact, reason


class MergeTypeError(MergeError, TypeError):
    """Parts whose group labels differ in kind."""


class MergeDisclosureError(MergeError, DisclosureError):
    """Parts whose disclosure levels prevent merging."""


def sum_of(parts: Sequence[State]) -> State:
    """Add up score counts that agree, in one pass."""
    if len(parts) == 1:
        return parts[0]
    numbers, labels = united_labels(parts)
    n_groups = max(part.n_groups for part in parts) if labels is None else labels.size
    negatives, positives = zip(*(part.n_rows for part in parts), strict=True)
    n_missing = [part.n_missing for part in parts]
    check_n_rows(negatives=negatives, positives=positives, rows_left_out=n_missing)
    # Parts with different names have none, so that the order of merging has no effect.
    names, orders = {part.group_names for part in parts}, {part.orders for part in parts}
    facts: dict[str, Any] = {
        "labels": labels,
        "disclosure": merged_rules([part.disclosure for part in parts]),
        "group_names": names.pop() if len(names) == 1 else (),
        "classes": _labels.Classes.merged(part.classes for part in parts),
        "n_missing": sum(n_missing),
        "sources": in_order(source for part in parts for source in part.sources),
        "is_complete": all(part.is_complete for part in parts),
        "orders": orders.pop() if len(orders) == 1 else (),
    }
    summaries = [part.summary for part in parts if part.summary is not None]
    if summaries:
        return State(merged_summaries(summaries, numbers, n_groups), **facts)
    cells = [part.cells for part in parts]
    if any(of.weights is not None for of in cells):
        cells = [of._replace(weights=weights_of(of)) for of in cells]
    merged = merge_cells(cells, numbers, n_groups)
    ranges = [part.ranges for part in parts if part.ranges is not None]
    if ranges:
        scores = np.concatenate([of.scores for of in cells])
        codes = np.concatenate([own[of.groups] for of, own in zip(cells, numbers, strict=True)])
        facts["ranges"] = hull(scores, np.concatenate(ranges, axis=1), codes, merged)
    return State(merged, **facts)


def united_labels(parts: Sequence[Any]) -> tuple[list[NDArray[np.intp]], NDArray[Any] | None]:
    """Number the groups of all parts by common labels."""
    tables = [part.labels for part in parts if part.labels is not None]
    if len(tables) == len(parts):
        return _group_codes.unite_labels(tables)
    # Parts that do not lack groups have no rows here.
    return [np.arange(part.n_groups) for part in parts], None


class Part:
    """A merge's part: counts in memory, or a file whose `counts` are read when they are needed."""

    def __init__(
        self, name: str, counts: State | Callable[[], State], known: State | tuple[Source, ...]
    ) -> None:
        self.name, self._counts = name, counts
        self.is_in_memory = isinstance(counts, State)
        self.sources = self._sources_read = known.sources if isinstance(known, State) else known
        self.facts = _facts_of(known) if isinstance(known, State) else None
        self.is_named = all(source.name is not None for source in self.sources)
        # Rows without a source are as in a file, where they have an identifier of their own.
        has_own = bool(self.sources) and isinstance(known, State) and not known.is_complete
        self.own = frozenset({(f"rows without a source {id(known)}",)} if has_own else ())
        self.keys = self.own.union(source.key for source in self.sources)

    @functools.cached_property
    def content(self) -> tuple[Any, ...]:
        """All that is equal in a retry, which may read the file."""
        state = self.state()
        facts = state.disclosure, state.group_names, state.classes, state.n_missing
        return state.digest(), _labels.kind_of(state.labels), *facts

    def state(self) -> State:
        """Return the counts; a ValueError if the file changed since its sources were read."""
        state = self._counts if isinstance(self._counts, State) else self._counts()
        if state.sources != self._sources_read:
            raise ValueError(f"{self.name} has changed while it was read.")
        return state


def _facts_of(state: State) -> tuple[Any, ...]:
    """Return what all parts share."""
    models = frozenset(source.model for source in state.sources)
    rule, kind = state.disclosure, _labels.kind_of(state.labels)
    return rule.level, rule.bins, state.classes.pos_label, state.group_names, kind, models


class _Errors(dict[Part, ValueError | OSError]):
    """Errors of the parts that a merge leaves out; if it skips none, the first one is raised."""

    def __init__(self, is_skipping: bool) -> None:
        self.is_skipping = is_skipping

    @contextlib.contextmanager
    def leaving_out(self, part: Part) -> Iterator[None]:
        try:
            yield
        except (ValueError, OSError) as error:
            if not self.is_skipping:
                raise
            self[part] = error


def _each_once(
    parts: Sequence[Part], is_replacing: bool, refused: _Errors
) -> tuple[dict[Part, None], _Errors]:
    """Return the parts to add, each counting once, and the errors of those that overlap with them.

    `refused` gets the errors of parts that may have the rows of others, or can no longer be read.
    """
    retries = _retries_of(parts, refused)
    overlapping = _Errors(refused.is_skipping)
    kept, holders = dict[Part, None](), dict[Any, Part]()
    place = {part: number for number, part in enumerate(parts)}
    for part in parts:
        roots = () if part in retries else (source.root for source in part.sources)
        marks = part.keys.union(roots)
        holding = {holders[mark] for mark in marks & holders.keys()} & kept.keys()
        earlier = sorted(holding, key=place.__getitem__)
        with overlapping.leaving_out(part):
            is_displaced = [_is_displaced(first, part, is_replacing) for first in earlier]
            if all(is_displaced):
                for first in earlier:
                    del kept[first]
                kept[part] = None
                holders.update(dict.fromkeys(marks, part))
            elif any(is_displaced):
                raise _overlap(earlier[0], part)
    kept = {part: None for part in kept if part not in retries}
    _refuse_unclear(kept, refused)
    return kept, overlapping


def _retries_of(parts: Sequence[Part], refused: _Errors) -> set[Part]:
    """Return parts that lack facts of a source which another part with their counts has.

    Countings of the same sources with equal counts get the same identifiers, also in sums.
    """
    n_alike = Counter(part.keys for part in parts)
    same, first, retries = dict[str, str](), dict[Any, Part](), set[Part]()

    def known(identifier: str) -> str:
        while identifier in same:
            identifier = same[identifier]
        return identifier

    def link(identifier: str, other: str) -> None:
        if known(identifier) != known(other):
            same[known(identifier)] = known(other)

    for part in parts:
        if n_alike[part.keys] > 1:
            with refused.leaving_out(part):
                like = first.setdefault((part.keys, part.content), part)
                by_key = {source.key: source.identifier for source in like.sources}
                for source in part.sources:
                    link(source.identifier, by_key[source.key])
    for one, other in _unclear_pairs(parts):
        with refused.leaving_out(other):
            if less := _retry_of(one, other):
                retries.add(less)
                (source,), (named,) = less.sources, (other if less is one else one).sources
                if source.identifier not in same:  # two periods may have equal counts
                    link(source.identifier, named.identifier)
    for part in parts if same else ():
        part.sources = tuple(of._replace(identifier=known(of.identifier)) for of in part.sources)
    return retries


def _is_displaced(first: Part, second: Part, is_replacing: bool) -> bool:
    """Return whether the second part takes the place of the first, rather than repeats its rows."""
    if first.keys == second.keys:
        if first.content == second.content:
            return False
        if is_replacing:
            return True
    elif _is_within(second, first):  # the sum has the part already
        return False
    elif _is_within(first, second) or (is_replacing and first.keys < second.keys):
        return True
    raise _overlap(first, second)


def _is_within(part: Part, whole: Part) -> bool:
    keys = {source.identifier: source.key for source in whole.sources}
    is_smaller = len(part.keys) < len(whole.keys) and part.own <= whole.own
    return is_smaller and all(
        of.identifier in keys and agree(of.key, keys[of.identifier]) for of in part.sources
    )


def _retry_of(first: Part, second: Part) -> Part | None:
    """Return the one of two parts with equal counts that lacks facts of the other's source."""
    if len(first.sources) == len(second.sources) == 1 and first.content == second.content:
        one, other = (_named_by(part.sources[0]) for part in (first, second))
        if one < other or other < one:
            return first if one < other else second
    return None


def _refuse_unclear(kept: dict[Part, None], refused: _Errors) -> None:
    """Take out parts that lack the model or the period of a source, and may have another's rows."""
    for first, second in list(_unclear_pairs(kept)):
        if {first, second} <= kept.keys():
            one, other = map(_named_by, _shared(first, second))
            less = first if len(one) < len(other) else second
            del kept[less]
            with refused.leaving_out(less):
                raise _overlap(first, second)


def _named_by(source: Source) -> set[tuple[int, str]]:
    """Return the name, the model and the period of a source, as far as it has them."""
    return {(place, fact) for place, fact in enumerate(source.key) if fact is not None}


def _unclear_pairs(parts: Iterable[Part]) -> Iterator[tuple[Part, Part]]:
    """Yield parts with sources that agree, of which one lacks a fact that the other has."""
    # By the facts that a source has, and by those that it shares with others
    known = defaultdict[Any, list[Part]](list)
    for part, source in ((of, source) for of in parts for source in of.sources):
        name, *facts = source.key
        own = tuple(fact is not None for fact in facts)
        for has in itertools.product((False, True), repeat=len(facts)):
            pairs = zip(facts, has, strict=True)
            shared = name, *(fact if is_known else None for fact, is_known in pairs)
            if has != own:
                yield from ((first, part) for first in known[has, shared] if first is not part)
            known[own, shared].append(part)


def agree(key: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Return whether two sources may have the same rows: they agree in all that both name."""
    return all(a == b or None in (a, b) for a, b in zip(key, other, strict=False))


def _shared(first: Part, second: Part) -> tuple[Source, Source]:
    """Return sources of both parts that may be of the same rows."""
    return next(
        (one, other)
        for other in second.sources
        for one in first.sources
        if one.root == other.root or agree(one.key, other.key)
    )


def _overlap(first: Part, second: Part) -> MergeError:
    one, other = _shared(first, second)
    names, what = f"{first.name} and {second.name}", other.in_words()
    mend = "Leave one of them out, or take the source out of one: whole - part."
    reason = "repeated"
    if first.keys == second.keys and len(first.sources) == 1:
        fact = f"{names} both are {what}, with different counts"
        if first.content[0] == second.content[0]:
            fact = f"{names} both are {what}, with different labels or rows left out"
        mend = (
            "Pass repeated='replace' to keep the last, or name them by with_source if both are to "
            "count, for instance with different periods."
        )
    elif one.key != other.key and one.root != other.root:
        fact = f"{first.name} has {one.in_words()}, and {second.name} has {what}"
        mend = "Name the model and the period of both by with_source, or leave one out."
        reason = "unnamed"
    else:
        if one.key != other.key:
            what = f"the same rows, as {one.in_words()} and as {what}"
        fact = f"{names} both contain {what}"
    return MergeError(f"{fact}, so rows may count twice", mend, reason)


def merged(
    parts: Any,
    repeated: str = "raise",
    models: str = "same",
    on_invalid: str = "raise",
    disclosure: Any = None,
    by_period: bool = False,
    limits: Limits | None = None,
) -> tuple[State, list[str], Invalid]:
    """Merge parts by the options of `ScoreCounts.merge`.

    Also return the names of parts that others repeat or replace, and the errors of invalid ones.
    """
    rule = None if disclosure is None else check_rule(disclosure)
    if rule is not None and rule.min_count is not None:
        raise ValueError(
            "merge takes no min_count: each site applies it once, before it sends counts."
        )
    is_replacing = _input.check_option("repeated", repeated, ("raise", "replace")) == "replace"
    of_models = _input.check_option("models", models, ("same", "any"))
    with_periods = _input.check_flag(by_period, "by_period")
    read = functools.partial(_at_one_level, rule=rule, with_periods=with_periods)
    is_skipping = _input.check_option("on_invalid", on_invalid, ("raise", "skip")) == "skip"
    invalid: Invalid = []
    found = list(_parts_of(parts, check_limits(limits), invalid if is_skipping else None))
    refused, order = _Errors(is_skipping), found
    if is_skipping:
        # Parts that agree with most go first, so that a single one cannot make all others invalid.
        n_alike = Counter(part.facts for part in found)
        order = sorted(found[::-1] if is_replacing else found, key=lambda of: -n_alike[of.facts])
        # A part that contradicts the others must not replace its own parts or an earlier one.
        agreement = Agreement(models=of_models)
        for part in order:
            with refused.leaving_out(part):
                _, state = read(part)
                agreement.admit(part.name, state, has_own_rows=False)
    total = None
    while total is None:  # What a refused part has replaced counts again.
        in_turn = found if is_replacing else order
        valid, n_refused = [part for part in in_turn if part not in refused], len(refused)
        if not valid:
            invalid += [(part.name, error) for part, error in refused.items()]
            reasons = f" {words_of_invalid(invalid)}" if invalid else ""
            raise ValueError(f"parts must have at least one ScoreCounts; got none.{reasons}")
        kept, overlapping = _each_once(valid, is_replacing, refused)
        if len(refused) == n_refused:
            added = [part for part in order if part in kept]
            total = _sum_of_files(added, Agreement(models=of_models), read, refused)
    errors = refused | overlapping
    invalid += [(part.name, errors[part]) for part in found if part in errors]
    again = [part.name for part in found if part not in kept and part not in errors]
    return total, again, invalid


def words_of_invalid(invalid: Invalid) -> str:
    """Return a sentence on parts that are left out as invalid, which names six of them."""
    shown = "; ".join(f"{name}: {str(error).rstrip('.')}" for name, error in invalid[:6])
    more = f"; and {len(invalid) - 6:,} more" if len(invalid) > 6 else ""
    return f"{counted(len(invalid), 'part')} left out as invalid. {shown}{more}."


def _parts_of(parts: Any, limits: Limits, invalid: Invalid | None) -> Iterator[Part]:
    """Yield the parts of a merge; `invalid` gets the errors of files to leave out, None raises."""
    is_table = hasattr(parts, "columns") or hasattr(parts, "column_names")
    state = getattr(parts, "_state", None)  # the class of score counts uses this module
    is_single = isinstance(parts, str | bytes | os.PathLike) or isinstance(state, State)
    if is_table or is_single or not isinstance(parts, Iterable):
        raise _wrong_parts(type(parts).__name__ if is_table else described(parts))
    named = parts.items() if isinstance(parts, Mapping) else ((None, part) for part in parts)
    n_kept = 0
    for number, (name, part) in enumerate(named):
        if isinstance(parts, Mapping) and not (isinstance(name, str) and name):
            raise _wrong_parts(f"the name {described(name)}")
        state = getattr(part, "_state", None)
        if isinstance(state, State):
            yield Part(name or f"part {number}", state, state)
            continue
        if not isinstance(part, str | os.PathLike):
            raise _wrong_parts(f"a part of type {type(part).__name__}")
        from skfedauc.counts import file_format

        name = name or repr(os.fspath(part))
        read = functools.partial(file_format.read_path, part, limits)
        is_small = n_kept <= _MOST_KEPT and os.path.isfile(part) and os.path.getsize(part) <= _SMALL
        if invalid is None and not is_small:
            yield Part(name, read, file_format.read_sources(part))
            continue
        try:  # Which files are damaged is known before adding.
            state = read()
        except (ValueError, OSError) as error:
            if invalid is None:
                raise
            invalid.append((name, error))
            continue
        n_kept += state.n_cells
        yield Part(name, state if n_kept <= _MOST_KEPT else read, state)


def _wrong_parts(got: str) -> TypeError:
    return TypeError(
        "parts must be an iterable of score counts or paths, such as a list or the column "
        f"table['counts'] of a table, or a mapping from names to these; got {got}. "
        "ScoreCounts.from_bytes reads bytes, and PrivateCounts.merge adds up score counts and "
        "private counts."
    )


def _sum_of_files(
    kept: Sequence[Part], agreement: Agreement, read: Callable[[Part], Any], refused: _Errors
) -> State | None:
    """Add up parts at one level, reading files one at a time; None if a part is refused."""
    sent, alike = dict[bytes, Part](), list[tuple[str, str]]()
    has_unnamed = not all(part.is_named for part in kept)
    waiting: list[State] = []
    size, n_refused = 0, len(refused)
    for part in kept:
        with refused.leaving_out(part):
            whole, state = read(part)
            agreement.admit(part.name, state)
            waiting.append(state)
            if not part.is_in_memory:
                size += state.n_cells + _CELLS_PER_PART
            if has_unnamed and whole.sources and whole.n_groups:
                first = sent.setdefault(whole.digest(), part)
                # Small countings with different names may be equal by coincidence.
                if first is not part and not (first.is_named and part.is_named):
                    alike.append((first.name, part.name))
        if waiting and size >= max(_ROUND, waiting[0].n_cells):
            waiting, size = [sum_of(waiting)], 0
    if len(refused) > n_refused:
        return None
    _warn_of_alike(alike)
    return sum_of(waiting)


def _at_one_level(part: Part, rule: Disclosure | None, with_periods: bool) -> tuple[State, State]:
    """Return a part's counts, with their period as a group on request, as sent and at a level."""
    whole = part.state()
    if with_periods:
        whole = _by_period(whole, part.name)
    if rule is None:
        return whole, whole
    try:
        return whole, at_level(whole, rule, widen=True)
    except ValueError as error:
        raise MergeError(f"{part.name}: {error}") from error


def _by_period(state: State, name: str) -> State:
    """Return one period's counts with it as the last group column, unless they have this column."""
    periods = {source.period for source in state.sources}
    if state.group_names[-1:] == ("period",) and state.labels is not None:
        labels = {label[-1] if isinstance(label, tuple) else label for label in state.labels}
        if not state.is_complete or None in periods or labels <= periods:
            return state  # rather than a column of this name that has other facts
    if state.n_groups and (len(periods) != 1 or None in periods or not state.is_complete):
        known = sorted(period for period in periods if period is not None)
        found = f"the periods {listed(known, ' and ')}" if known else "no period"
        raise MergeError(
            f"{name} has {found}, and by_period=True needs one",
            "Name each part before merging, by counts.with_source(name, period='2026-10').",
            "period",
        )
    period = next(iter(periods), "")  # none without rows

    def with_period(label: Any) -> Any:
        if label is None:
            return period
        return (*label, period) if isinstance(label, tuple) else (label, period)

    names: tuple[str, ...] = ()
    if state.labels is not None:
        names = _labels.column_names(state.labels.tolist(), state.group_names)
    orders = (*state.orders, ()) if state.orders else ()
    state = regrouped(state, with_period)
    return state._replace(group_names=(*names, "period"), orders=orders)


def _warn_of_alike(alike: Sequence[tuple[str, str]]) -> None:
    """Warn once about parts with equal counts, perhaps from the same rows, that lack a name."""
    if not alike:
        return
    (first, second), *others = alike
    more = f" This holds for {counted(len(others), 'other part')} as well." if others else ""
    _input.warn(
        f"{first} and {second} are different countings with equal counts, so rows may count twice. "
        "If one repeats the other, leave it out; otherwise name both by counts.with_source(name)."
        f"{more}",
    )


class Agreement:
    """Class labels, groups and disclosure level that all parts must share.

    Errors name the first part that differs, and the earlier part that it contradicts; they call
    the parts `parts`, and say `when` to change labels, such as " before drawing the noise".
    """

    def __init__(self, parts: str = "parts", when: str = "", models: str = "any") -> None:
        self._parts, self._when, self._models = parts, when, models
        self._classes = _labels.Classes()
        # The first part with each value of a fact, which a method gives its name
        self._first: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
        self._first_of_group: dict[Any, str] = {}  # among summaries

    def admit(self, name: str, state: State, *, has_own_rows: bool = True) -> None:
        """Check a part and its level; a part that is refused leaves no trace.

        Without rows of its own, it may be a summary of groups that another part has.
        """
        first = {fact: dict(known) for fact, known in self._first.items()}
        classes = self._classes
        try:
            self.check(name, state)
            self.check_level(name, state, has_own_rows=has_own_rows)
        except MergeError:
            self._first, self._classes = defaultdict(dict, first), classes
            raise

    def check(self, name: str, state: State) -> None:
        """Raise a MergeError for a part with other classes, groups or label kinds."""
        self._check_columns(name, state)
        self._check_classes(name, state)
        self._check_kinds(name, state)
        if self._models == "same":
            self._check_models(name, state)

    def _check_models(self, name: str, state: State) -> None:
        seen = self._first["model"]
        for source in state.sources:
            if source.model is not None:
                seen.setdefault(source.model, f"{name} ({source.in_words()})")
        if len(seen) > 1:
            first, second, *_ = seen.values()
            raise MergeError(
                f"{first} and {second} were scored by different models",
                "Leave one out, or pass models='any' if the scores are comparable.",
                "model",
            )

    def check_level(self, name: str, state: State, *, has_own_rows: bool = True) -> None:
        """Raise a MergeError for a part with another disclosure level or other bins.

        Ranges that are not bins of one rule agree with any bins. Summaries agree if their groups
        differ.
        """
        rule = state.disclosure
        level = rule.bins if rule.level == "bins" else rule.level
        self._first["level"].setdefault(level, (name, rule))
        levels = dict(self._first["level"])
        if not levels.keys() & {"exact", "summary"}:
            levels.pop(None, None)
        if len(levels) > 1:
            (first, one), *_, (second, other) = levels.values()
            mend = (
                "Pass disclosure='summary' to ScoreCounts.merge, which reduces all parts first, if "
                "no group is in two parts; otherwise count the summary's rows again."
                if "summary" in levels
                else "Pass disclosure= to ScoreCounts.merge, which reduces all parts first, to "
                "Bins that are unions of the bins of all parts. If there are none, pass 'summary' "
                "if no group is in two parts, or count one of them again."
            )
            fact = f"{first} is {level_in_words(one)}, and {second} is {level_in_words(other)}"
            raise MergeDisclosureError(fact, mend, "disclosure")
        if rule.level == "summary" and has_own_rows:
            self._check_groups_of_summary(name, state)

    def _check_groups_of_summary(self, name: str, state: State) -> None:
        labels = [None] if state.labels is None else state.labels.tolist()
        labels, known = labels if state.n_groups else [], self._first_of_group
        for label in filter(known.__contains__, labels):
            first = known[label]
            group = "without groups" if label is None else f"of the group {shortened_label(label)}"
            raise MergeDisclosureError(
                f"{first} and {name} are summaries with rows {group}",
                "The pairs of a row of one part and a row of the other are unknown. Merge the "
                "parts with disclosure='bins' or 'exact', and reduce the result to a summary.",
                "summaries",
            )
        known.update(dict.fromkeys(labels, name))

    def _check_classes(self, name: str, state: State) -> None:
        positive = state.classes.pos_label
        for label in (*state.classes.seen, positive):
            if label is not None:
                self._first["label"].setdefault(label, name)
        if positive is not None:
            self._first["positive"].setdefault(positive, name)
        try:
            self._classes = _labels.Classes.merged([self._classes, state.classes])
        except ValueError as error:
            noun, reason, found = "class labels", "labels", self._first["label"]
            if len(self._first["positive"]) > 1:
                noun, reason, found = "positive labels", "pos_label", self._first["positive"]
            holders = [f"{shortened(label)} in {part}" for label, part in [*found.items()][:4]]
            raise MergeError(
                f"the {self._parts} have {len(found)} {noun}, {enumerated(holders)}",
                reason=reason,
                message=f"{name}: with the {self._parts} before, {error}",
            ) from error

    def _check_columns(self, name: str, state: State) -> None:
        columns, known = state.group_names, self._first["columns"]
        # Counts without rows have no group labels.
        if not columns or columns in known or not state.n_groups:
            return
        for others, first in known.items():
            differ = (
                f"{first} has groups by {listed(others, ' and ')}, and {name} has groups by "
                f"{listed(columns, ' and ')}"
            )
            if len(columns) != len(others) or set(columns) & set(others):
                raise MergeError(
                    differ,
                    f"Count all {self._parts} with the same group columns in the same order.",
                    "columns",
                )
            if len(known) == 1:
                _input.warn(
                    f"{differ}; the merged counts have no names of group columns. Give the columns "
                    "the same names if they hold the same labels.",
                )
        known[columns] = name

    def _check_kinds(self, name: str, state: State) -> None:
        kind = () if state.labels is None else _labels.kind_of(state.labels)
        if kind is None:  # counts without rows agree with counts of any groups
            return
        kinds = kind if isinstance(kind, tuple) else (kind,)
        for others, first in self._first["kinds"].items():
            if _labels.unite_kinds(others, kinds) is not None:
                continue
            if not kinds or not others:
                without, having = (first, name) if kinds else (name, first)
                raise MergeError(
                    f"{without} has no groups, and {having} has groups; name the missing group, "
                    f"for instance by counts.regroup({{None: 'device 7'}}){self._when}, or count "
                    f"all {self._parts} with groups, or all without",
                    reason="groups",
                )
            own, of_first = (
                " and ".join("absent values" if kind == "any" else kind for kind in of)
                for of in (kinds, others)
            )
            raise MergeTypeError(
                f"{name}: groups of different kinds cannot be merged: it has groups labelled by "
                f"{own}, and {first} has groups labelled by {of_first}",
                "All need groups of one kind, for instance text by .regroup(str) of the counts"
                f"{self._when}, or by .astype(str) of the labels.",
                "kinds",
            )
        self._first["kinds"].setdefault(kinds, name)


def difference(whole: State, part: State) -> State:
    sources = _without_sources(whole, part)
    agreement = Agreement()
    try:
        for name, state in (("the whole", whole), ("the part", part)):
            agreement.check(name, state)
            if whole.summary is None or part.summary is None:
                agreement.check_level(name, state)
    except MergeError as error:
        mend = "Subtract the part as it was merged, with these groups, labels and scores or bins: "
        mend += "for instance ScoreCounts.merge([part], by_period=True), or the part reduced."
        raise type(error)(error.fact, mend, error.reason) from None
    withheld = whole.disclosure.withheld.without(part.disclosure.withheld)
    n_missing = whole.n_missing - part.n_missing
    if withheld is None or n_missing < 0:
        raise MergeError(
            "the part leaves out or withholds more rows or groups than the whole, so it is not a "
            "part of these counts."
        )
    remaining = _without_cells if whole.summary is None else _without_groups
    state = remaining(whole, part)._replace(
        n_missing=n_missing, sources=sources, is_complete=whole.is_complete and bool(sources)
    )
    return state.with_disclosure(withheld=withheld)


def _without_sources(whole: State, part: State) -> tuple[Source, ...]:
    left = {source.identifier: source for source in whole.sources}
    mend = "Subtract the counts or the file that was merged. A recount is known as these counts if "
    mend += "both were named by with_source(..., secret=) with one secret."
    for source in part.sources:
        if left.pop(source.identifier, None) is None:
            fact = f"the counts do not contain {source.in_words()}"
            if source.key in {of.key for of in whole.sources}:
                fact = f"the counts contain another counting of {source.in_words()}, so the part "
                fact += "is a recount or has other groups or scores than what was merged"
            raise MergeError(fact, mend)
    if whole.is_complete and not part.sources:
        raise MergeError(
            "the part has no source, and all rows of the counts have one, so it was not merged",
            mend,
        )
    return tuple(left.values())


def _places(whole: State, part: State) -> NDArray[np.intp]:
    if whole.labels is None or part.labels is None:
        return np.zeros(part.n_groups, np.intp)
    place = _group_codes.places_of(part.labels, whole.labels)
    if (place < 0).any():
        raise MergeError("the part has groups that the counts do not have.")
    return place


# Largest ratios of the sums of weights and of squared weights of both classes to what remains: sums
# then keep seven digits, and sums of squares five.
_LARGEST_RATIOS = np.array([[1e8], [1e8], [1e10], [1e10]])


def _without_cells(whole: State, part: State) -> State:
    ours, theirs = whole.cells, part.cells
    strange = MergeError(
        "the part has rows that the counts do not have, so it was never merged into them."
    )
    codes = np.r_[ours.groups, _places(whole, part)[theirs.groups]]
    numbers, starts = number_cells(np.r_[ours.scores, theirs.scores], codes, whole.n_groups)
    if starts[-1] > ours.scores.size:
        raise strange
    place = numbers[ours.scores.size :]
    counts = np.stack(ours[2:4]).astype(np.int64)
    counts[:, place] -= np.stack(theirs[2:4]).astype(np.int64)
    if (counts < 0).any():
        raise strange
    weights = None
    if ours.weights is not None:
        weights = ours.weights.copy()
        weights[:, place] -= weights_of(theirs)
        weights[np.tile(counts == 0, (2, 1))] = 0.0
        # The sums keep the rounding error of the whole.
        is_rounded = (ours.weights > _LARGEST_RATIOS * weights) & (weights > 0.0)
        if is_rounded.any() or not are_weight_sums(weights, *counts).all():
            raise MergeError(
                "the weights of the part are too large to be taken out without rounding, or are "
                "not those of the merged part; merge the other parts again."
            )
    kept = (counts[0] > 0) | (counts[1] > 0)
    sizes = np.bincount(ours.groups[kept], minlength=whole.n_groups)
    cells = ours._replace(negatives=counts[0], positives=counts[1], weights=weights)
    cells = cells.take(kept, np.append(0, np.cumsum(sizes)))
    ranges = None if whole.ranges is None else whole.ranges[:, kept]
    return with_groups(whole._replace(content=cells, ranges=ranges), np.flatnonzero(sizes))


def _without_groups(whole: State, part: State) -> State:
    """Subtract a summary's groups; no group is in two summaries."""
    place = _places(whole, part)
    taken = with_groups(whole, place)
    if not all(map(np.array_equal, taken.arrays, part.arrays)):
        raise MergeError("the groups of the part have other sums in these counts.")
    return with_groups(whole, np.setdiff1d(np.arange(whole.n_groups), place))
