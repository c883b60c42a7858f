"""First lines of a report: how good, which group is worst, is the gap more than sampling error.

`first_lines` makes these lines once, for ``print``, notebooks, Markdown and the command line.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _words
from skfedauc.counts.moments import Floats
from skfedauc.counts.score_counts import left_out as without_group
from skfedauc.counts.score_counts import view_of
from skfedauc.counts.state import sources_in_words
from skfedauc.inference.differences import DifferenceTest, null_difference
from skfedauc.inference.intervals import NEW_GROUPS
from skfedauc.report import intervals
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.group_comparisons import difference_test, largest_difference_test
from skfedauc.report.statistics import STATISTICS, across_groups, determined_statistics

# Groups with fewer rows of a class are marked
FEW = 10
# Of more groups, the table shows the lowest and the highest
_MOST_ROWS = 20
# Above this number of groups, the difference that equal groups would show takes too long
_MOST_EXPECTED = 2_000
LEVEL = 0.95
_MORE = "More: report.statistics(), report.ranking(), report.compare_groups()"
_MORE_OF_MEASURES = "More: report.statistics(), report.confidence_intervals()"


@dataclasses.dataclass(frozen=True)
class FirstLines:
    """The first lines of a report.

    The first of `rows` is the header, the first `n_labels` columns hold group labels and the last
    column a remark. `note` says what the table of groups does not show.
    """

    headline: str
    answers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_labels: int
    note: str
    more: str

    def _is_text(self, column: int) -> bool:
        return column < self.n_labels or column == len(self.rows[0]) - 1

    def table_lines(self) -> list[str]:
        """Return the table as aligned lines."""
        widths = [max(map(len, column)) for column in zip(*self.rows, strict=True)]
        lines = []
        for row in self.rows:
            cells = [
                cell.ljust(width) if self._is_text(i) else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append(f"  {'  '.join(cells)}".rstrip())
        return [*lines, self.note] if self.note else lines

    def text(self) -> str:
        """Return the lines for ``print``."""
        table = ["", *self.table_lines()] if self.rows else []
        return "\n".join([self.headline, *self.answers, *table, "", self.more])

    def html(self) -> str:
        """Return the lines as HTML without colors and scripts, for light and dark notebooks."""
        escape, styles = html.escape, ("text-align:right;white-space:nowrap", "text-align:left")

        def line(row: Sequence[str], tag: str) -> str:
            *shown, remark = map(escape, row)
            # Below the label, the remark is seen on a phone too.
            shown[self.n_labels - 1] += f"<br><small>{remark}</small>" if remark else ""
            cells = (
                f"<{tag} style='{styles[self._is_text(i)]};padding:.1em .25em'>{cell}</{tag}>"
                for i, cell in enumerate(shown)
            )
            return f"<tr>{''.join(cells)}</tr>"

        table = ""
        if self.rows:
            header, *body = (line(row, "td" if i else "th") for i, row in enumerate(self.rows))
            table = f"<table><thead>{header}</thead>{''.join(body)}</table>"
        return (
            f"<div><strong>{escape(self.headline)}</strong>"
            f"{''.join(f'<div>{escape(answer)}</div>' for answer in self.answers)}"
            f"<div style='overflow-x:auto'>{table}</div><div>{escape(self.note)}</div>"
            f"<div><small>{self.more}</small></div></div>"
        )

    def markdown(self) -> str:
        """Return the lines in Markdown: a paragraph, a list and a table."""
        lines = [f"**{_escaped(self.headline)}**", ""]
        lines += [f"- {_escaped(line)}" for line in self.answers]
        if self.rows:
            header, *body = ([*map(_escaped, row)] for row in self.rows)
            aligns = [":--" if self._is_text(i) else "--:" for i in range(len(header))]
            lines += ["", *(f"| {' | '.join(row)} |" for row in (header, aligns, *body))]
        return "\n".join([*lines, *(["", _escaped(self.note)] if self.note else [])])


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_[]<>|~$&#" else char for char in text)


class ShownGroups(NamedTuple):
    """What the first lines say of the groups, of a report or of averages over classes.

    `values` are NaN if undefined, and `in_use` those of averages and gaps. `limits` is a table of
    intervals. `sizes` has row counts by noun, and `classes` those of each class by noun and class,
    to remark on the fewest.
    """

    title: str
    labels: pd.Index
    values: Floats
    in_use: Floats
    limits: pd.DataFrame | None
    sizes: Mapping[str, NDArray[Any]]
    classes: Mapping[tuple[str, str], NDArray[Any]]

    def size(self, group: int) -> str:
        """Return a group's row counts in words."""
        return " and ".join(_words.counted(int(of[group]), noun) for noun, of in self.sizes.items())

    def fewest(self, group: int) -> tuple[int, str]:
        """Return the row count of the group's smallest class, and a remark if it is small."""
        (noun, of_class), of = min(self.classes.items(), key=lambda item: item[1][group])
        number = int(of[group])
        remark = f"only {_words.counted(number, noun)}{of_class}" if number < FEW else ""
        return number, remark if number else f"no {noun}s{of_class}"


def first_lines(estimates: GroupEstimates, left_out: str) -> FirstLines:
    """Return the first lines of a report, with the sentence on groups that are left out."""
    quiet = estimates.quiet()
    counts, measure = quiet.pairs.counts, quiet.measure
    answers = list(_quality(quiet, "of these groups" if left_out else "together"))
    values, used = quiet.group_values
    limits = None
    if quiet.has_intervals:
        limits = intervals.group_intervals(quiet, LEVEL, measure.methods[0])
    sizes = {"positive": counts.n_positives, "negative": counts.n_negatives}
    of_groups = quiet.by_group, np.where(used, values, np.nan), limits, sizes
    classes = {(noun, ""): of for noun, of in sizes.items()}
    groups = ShownGroups(measure.title, quiet.labels, *of_groups, classes)
    if used.sum() > 1:
        answers += across_groups(quiet)
    if used.any():
        answers.append(worst_line(groups, "worst", _certain(quiet, "worst")))
    if used.sum() > 1:
        answers += _gap(quiet, groups)
    known = sources_in_words(view_of(quiet.pairs.counts))
    answers += filter(None, [left_out, known and f"Counted by {known}."])
    more = _MORE if measure.is_auc else _MORE_OF_MEASURES
    return with_table(_headline(quiet), answers, groups, more)


def _headline(estimates: GroupEstimates) -> str:
    pairs, counts = estimates.pairs, estimates.pairs.counts
    n_positives, n_negatives = int(counts.n_positives.sum()), int(counts.n_negatives.sum())
    note = intervals.binned_note(estimates)
    title = estimates.measure.title
    return (
        f"{title[0].upper()}{title[1:]} over {counted_groups(estimates.labels)}"
        f"{f' ({pairs.n_undefined:,} undefined)' if pairs.n_undefined else ''}: "
        f"{_words.counted(n_positives + n_negatives, 'row')}, "
        f"{_words.counted(n_positives, 'positive')} and "
        f"{_words.counted(n_negatives, 'negative')}"
        f"{_clusters_note(estimates)}{without_group(counts.n_missing)}{counts.disclosure.withheld.in_words()}"
        f"{f'; {note}' if note else ''}{summary_note(estimates)}"
    )


def counted_groups(labels: pd.Index) -> str:
    """Return the number of groups, and their columns unless they are unnamed."""
    names = [str(name) for name in labels.names if name not in (None, "group")]
    columns = " \N{MULTIPLICATION SIGN} ".join(map(_words.shortened_label, names))
    return f"{_words.counted(labels.size, 'group')}{f' by {columns}' if columns else ''}"


def _clusters_note(estimates: GroupEstimates) -> str:
    clusters = estimates.pairs.clusters
    if clusters is None:
        return ""
    shared = f" ({clusters.n_shared:,} in several groups)" if clusters.n_shared else ""
    return f", in {_words.counted(clusters.n_clusters, 'cluster')}{shared}"


def summary_note(estimates: GroupEstimates) -> str:
    """Return a note on the omitted statistics; empty if the counts have scores."""
    if estimates.pairs.has_scores:
        return ""
    absent = [name for name in STATISTICS if name not in determined_statistics(estimates)]
    return f"; a summary by group, which does not determine {_words.enumerated(absent, 'or')}"


def _quality(estimates: GroupEstimates, which: str) -> Iterator[str]:
    of_fold = " in the same fold" if estimates.pairs.is_within_folds else ""
    within = f"pairs of rows of the same group{of_fold}"
    if not estimates.measure.is_auc:
        within = "groups weighted by their pairs of rows"
    words = {"pooled": f"all rows {which}{of_fold}", "within": within}
    known = [name for name in words if name in determined_statistics(estimates)]
    if estimates.pairs.n_groups < 2:
        known = known[:1]
    ends: dict[Any, Any] = {}
    if estimates.has_intervals:
        method = estimates.measure.methods[0]
        table = intervals.statistic_intervals(estimates, LEVEL, method, None, names=known)
        ends = table[["ci_low", "ci_high", "estimand"]].T.to_dict("list")
    for name in known:
        value = estimates.value_of(STATISTICS[name].compute)
        low, high, estimand = ends.get(name, (np.nan, np.nan, ""))
        is_new = estimand == NEW_GROUPS and not np.isnan(low)
        shown = number_with(value, low, high, _certain(estimates, name))
        yield f"{name} {shown}: {words[name]}{' (interval over new groups)' * is_new}"


def _certain(estimates: GroupEstimates, name: str) -> list[str]:
    """Return the certain interval of a statistic of binned scores in words, if there is one."""
    if not estimates.pairs.is_binned:
        return []
    bounds = intervals.statistic_bounds(estimates, name)
    return [] if np.isnan(bounds.low) else [f"certainly {intervals.certain_range(bounds, 3)}"]


def worst_line(groups: ShownGroups, name: str, certain: Sequence[str] = ()) -> str:
    worst = int(np.nanargmin(groups.in_use))
    few = ", few rows" if groups.fewest(worst)[0] < FEW else ""
    if np.isnan(groups.values[worst]):
        few = ", which has no AUC"
    label = _words.shortened_label(groups.labels[worst])
    value = number_with(groups.in_use[worst], further=certain)
    return f"{name} {value}: {label}, {groups.size(worst)}{few}"


def _gap(estimates: GroupEstimates, groups: ShownGroups) -> Iterator[str]:
    if not estimates.has_intervals:
        test = largest_difference_test(None, groups.in_use, groups.labels, LEVEL)
        yield from gap_lines(groups, test, "difference")
        return
    test, why, expected = difference_test(estimates, LEVEL), "", np.nan
    if estimates.n_replaced:
        without = f"{_words.counted(estimates.n_replaced, 'group')} without an AUC"
        why = f"no test, with {estimates.policy.replacement:g} for {without}"
    is_large = estimates.pairs.is_within_folds or estimates.pairs.n_groups > _MOST_EXPECTED
    has_expected = estimates.measure.is_auc and not (
        is_large or estimates.variances.shares_clusters
    )
    if has_expected and test.pvalue >= 1 - LEVEL:
        expected = null_difference(estimates.variances)
    certain = _certain(estimates, "difference")
    yield from gap_lines(groups, test, "difference", certain, why, expected)


def gap_lines(
    groups: ShownGroups,
    test: DifferenceTest,
    name: str,
    certain: Sequence[str] = (),
    why_no_test: str = "",
    expected: float = np.nan,
) -> Iterator[str]:
    """Yield whose the largest difference is, called `name`, and what its test says.

    The clearest pair need not be the furthest apart. Equal groups would show the `expected`
    difference.
    """
    numbers = {label: g for g, label in enumerate(groups.labels.tolist())}

    def minus(*pair: Any) -> str:
        told = []
        for label in pair:
            few = groups.fewest(numbers[label])[1]
            told.append(f"{_words.shortened_label(label)}{f' ({few})' if few else ''}")
        return " minus ".join(told)

    furthest = test.highest, test.lowest
    shown = number_with(test.estimate, test.ci_low, test.ci_high, certain)
    if test.n_groups > 2:
        # The limits are those of the largest true difference, whichever groups have it.
        name, shown = f"largest {name}", shown.replace("(", "(true: ", 1)
    if np.isnan(test.pvalue):
        yield f"{name} {shown}: {minus(*furthest)}{f'; {why_no_test}' if why_no_test else ''}"
        return
    yield f"{name} {shown}: {minus(*furthest)}"
    said = "The groups differ" if test.pvalue < 1 - LEVEL else "No difference is established"
    said += f", {_words.pvalue_text(test.pvalue)}"
    if test.pvalue < 1 - LEVEL and test.clearest not in (None, furthest):
        difference, low, high, _ = test.table.iloc[0]
        said += f": most clearly {minus(*test.clearest)}, {number_with(difference, low, high)}"
    if expected > 0.0:  # known, and some variation
        said += f": equal groups show about {expected:.2g} by chance"
    yield f"{said}."


def with_table(headline: str, answers: list[str], groups: ShownGroups, more: str) -> FirstLines:
    """Return the lines with the table of groups, the lowest AUC first."""
    index, defined, note = groups.labels, ~np.isnan(groups.values), ""
    names = [_words.shortened_label("" if name is None else str(name)) for name in index.names]
    order = np.argsort(np.where(defined, groups.values, np.inf), kind="stable")
    n_groups = order.size
    if n_groups > _MOST_ROWS:
        # Undefined groups come last, and are left out.
        lowest, _, highest = _words.ends(order[: int(defined.sum())], _MOST_ROWS)
        order = np.append(lowest, highest)
        note = (
            f"Shown: the {lowest.size} lowest and the {highest.size} highest of {n_groups:,} "
            "groups."
        )
    low, high = np.full((2, n_groups), np.nan)
    if groups.limits is not None:
        low, high = groups.limits[["ci_low", "ci_high"]].to_numpy().T
    nouns = (f"{noun}s" for noun in groups.sizes)
    rows = [(*names, groups.title, "95 % interval", *nouns, "")] if n_groups else []
    for g in order.tolist():
        label = index[g] if isinstance(index[g], tuple) and index.nlevels > 1 else (index[g],)
        interval = "" if np.isnan(low[g]) else _interval(low[g], high[g])
        sizes = [f"{int(of[g]):,}" for of in groups.sizes.values()]
        shown = _number(groups.values[g]), interval, *sizes, groups.fewest(g)[1]
        rows.append((*map(_words.shortened_label, label), *shown))
    return FirstLines(headline, tuple(answers), tuple(rows), index.nlevels, note, more)


def number_with(
    value: float, low: float = np.nan, high: float = np.nan, further: Sequence[str] = ()
) -> str:
    """Return a number with its interval, unless this is NaN, and further ones in words."""
    told = [*([] if np.isnan(low) else [_interval(low, high)]), *further]
    return f"{_number(value)} ({'; '.join(told)})" if told else _number(value)


def _number(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.3f}"


def _interval(low: float, high: float) -> str:
    return f"{_limit(low)} to {_limit(high)}"


def _limit(value: float) -> str:
    """Return a limit with three decimals; 0 and 1 are exact."""
    if 0 < value < 5e-4:
        return f"{value:.1g}"
    return "0.999" if 0.9995 <= value < 1 else f"{value:.3f}"
