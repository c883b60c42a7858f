"""The command line: the main job on real data, and `audit` for a file of predictions.

Heavy imports are made where they are used, so that ``--help`` answers at once.
"""

from __future__ import annotations

import os
import signal
import sys

if __name__ == "__main__":
    # An interrupt while modules are imported ends the program without a traceback, too.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))

import argparse
import contextlib
import io
import json
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import skfedauc
from skfedauc import _kernel as kernel
from skfedauc._output_file import check_target, write_whole
from skfedauc._predictions_file import (
    ENDINGS,
    STDIN,
    CommandError,
    OutputError,
    Rows,
    name_of,
    read_columns,
    rows_of,
    text_encoding,
)
from skfedauc._words import counted, ends, listed, shortened, shortened_label

if TYPE_CHECKING:
    import pandas as pd

    from skfedauc import FairnessAudit, GroupAUC, ScoreCounts

PROG = "skfedauc"
# The command line shows this many of the lowest and of the highest groups.
N_ENDS = 10
# Groups with fewer rows of a class are small: gaps are told without them, too.
SMALL = 10
# Characters of a group's label that tables show; --json has all.
MOST_SHOWN = 80

_DESCRIPTION = """\
AUC over groups: pooled, averaged, worst and gaps.

Without a command it runs the main job on data that scikit-learn carries: a grid search
that selects on a group statistic, and a report on held-out rows."""

_EXAMPLE = """\
example:
  skfedauc audit predictions.csv --label died --score risk --group hospital --group sex

exit codes:
  0    all went well
  2    the arguments, or the predictions, are not as they must be
  3    standard output or a file could not be written; what else was asked for was
  4    there is not enough memory
  130  interrupted
  141  the reader of the output stopped reading
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments after the name of the program; None takes those of the process.

    Returns
    -------
    int
        Exit code, as ``--help`` lists them.
    """
    # A group's name must not fail to print where the terminal lacks a character.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        return _run(argv)


def _run(argv: Sequence[str] | None) -> int:
    try:
        if __name__ == "__main__":
            # From here on an interrupt cleans up.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        arguments = _parser().parse_args(argv)
        for lines in [demo()] if arguments.command is None else audit(arguments):
            _print(lines)
    except CommandError as error:
        return _failed(str(error), error.exit_code)
    except MemoryError:
        return _failed(
            "there is not enough memory; count the rows in parts, with ScoreCounts.from_batches "
            "in Python",
            4,
        )
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141
    return 0


def _print(lines: Iterable[str]) -> None:
    """Print to standard output; names from files cannot act on the terminal."""
    try:
        print("\n".join(map(_escaped, lines)), flush=True)
    except OSError as error:
        # What is still buffered would raise again when Python exits.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise OutputError(f"standard output: cannot be written: {error.strerror}") from None


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning in one line, without the place in the code that it comes from."""
    print(f"{PROG}: warning: {_escaped(str(message))}", file=sys.stderr)


def _failed(message: str, exit_code: int) -> int:
    print(f"{PROG}: error: {_escaped(message)}", file=sys.stderr)
    return exit_code


def _escaped(line: str) -> str:
    """A line in which what is no printable character is written as an escape."""
    if line.isprintable():
        return line
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in line
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        if message.endswith("required: FILE"):
            message += ", before the options; what follows --json is the file it writes"
        raise CommandError(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    layout: dict[str, Any] = {
        "epilog": _EXAMPLE,
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }
    parser = _Parser(prog=PROG, description=_DESCRIPTION, **layout)
    version = f"{PROG} {skfedauc.__version__} ({kernel.name()} kernel)"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    about = "Report the AUC over groups of the predictions in a file."
    audit = commands.add_parser("audit", help=about, description=about, **layout)
    add = audit.add_argument
    add(
        "file",
        metavar="FILE",
        help=f"predictions, one per row: {', '.join(ENDINGS)}; {STDIN} reads CSV from standard "
        "input; CSV may be separated by commas, semicolons or tabs",
    )
    add("--label", metavar="COL", required=True, help="column of the true labels")
    add("--score", metavar="COL", required=True, help="column of the scores")
    add(
        "--group",
        metavar="COL",
        required=True,
        action="append",
        help="column of the groups; several are reported one by one, then combined",
    )
    add("--weight", metavar="COL", help="column of the rows' weights")
    add(
        "--pos-label",
        metavar="V",
        help="the label that counts as positive; 1 if left out, where the labels are "
        "0 and 1, -1 and 1, or true and false",
    )
    add(
        "--missing",
        choices=["error", "drop", "group"],
        default="error",
        help="rows whose group is empty: an error, left out (by each column only the rows "
        "where it is empty), or a group of their own (default: %(default)s)",
    )
    add(
        "--encoding",
        metavar="NAME",
        type=_encoding,
        help="encoding of a text file, such as latin-1 or utf-16; UTF-8 if left out",
    )
    add(
        "--decimal",
        choices=[".", ","],
        default=".",
        help="mark of decimals in labels, scores and weights that are text (default: %(default)s)",
    )
    add(
        "--html",
        metavar="PAGE",
        help="write a fairness audit, with tables and plots, to this file as well; one that exists "
        "is overwritten",
    )
    add(
        "--threshold",
        metavar="T",
        type=_threshold,
        default="auto",
        help="with --html or --json, score from which on the positive class is predicted, or none "
        "to audit the ranking alone; if left out, 0.5 where all scores are from 0 to 1, otherwise "
        "none",
    )
    add(
        "--decisions",
        metavar="COL",
        help="with --html or --json, column of the decisions in place of a threshold: labels as in "
        "the column of the labels, or 0 and 1",
    )
    add(
        "--reference",
        metavar="GROUP",
        help="with --html or --json, and one --group: the group that the AUCs of the others are "
        "compared with; if left out, each group is compared with the others",
    )
    add(
        "--favorable",
        choices=["positive", "negative"],
        help="class that is the favorable outcome for a person; with --html or --json, findings "
        "then say which groups the model favours",
    )
    add(
        "--json",
        metavar="DOCUMENT",
        nargs="?",
        const=STDIN,
        help="write one JSON document to this file as well; without a file, or with "
        f"{STDIN}, print it in place of the report. What is undefined is null, and "
        "cross_difference is left out above 500 groups",
    )
    return parser


def _threshold(text: str) -> float | str | None:
    if text in ("none", "auto"):
        return None if text == "none" else text
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"must be a finite number or none; got {shortened(text)}")
    return number


def _encoding(text: str) -> str:
    try:
        return text_encoding(text)
    except LookupError:
        raise argparse.ArgumentTypeError(f"unknown encoding {shortened(text)}") from None


# The main job --------------------------------------------------------------------------


def demo() -> list[str]:
    """Search, select and report on scikit-learn's diabetes data."""
    from sklearn.model_selection import train_test_split

    from skfedauc import GroupAUC

    X, y = _diabetes()
    # Every part of a split gets both classes of every group, so that no AUC is undefined.
    strata = X["group"] + y.astype(str)
    X_train, X_test, y_train, y_test, strata_train, _ = train_test_split(
        X, y, strata, test_size=0.5, stratify=strata, random_state=0
    )
    search = _search(strata_train).fit(X_train, y_train)
    report = GroupAUC.from_estimator(search, X_test, y_test, groups="group")
    return [
        f"Data: scikit-learn's diabetes data, {len(X)} patients, of whom {int(y.sum())} are "
        "labelled positive:",
        "their disease progression after one year is above the median of all patients.",
        "Groups: sex (the data do not say which is 1 and which is 2) by age.",
        "",
        f"Search: logistic regression on {len(X_train)} patients, 3 folds; mean test scores,",
        f"the best starred; selected on {search.refit!r}.",
        *_aligned(_candidates(search)),
        f"Chosen: C = {search.best_params_['model__C']:g}",
        "",
        f"The chosen model on the {len(X_test)} patients held out:",
        *_report_lines(report, ["group"]),
        "",
        *_meaning(report),
    ]


def _diabetes() -> tuple[pd.DataFrame, pd.Series[int]]:
    import pandas as pd
    from sklearn.datasets import load_diabetes

    data = load_diabetes(as_frame=True, scaled=False)
    age = pd.cut(data.data["age"], [0, 50, 120], right=False, labels=["under 50", "50 and over"])
    group = "sex " + data.data["sex"].astype(int).astype(str) + ", " + age.astype(str)
    label = (data.target > data.target.median()).astype(int)
    return data.data.assign(group=group), label


def _search(strata: pd.Series[str]) -> Any:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    from skfedauc import group_auc_scoring

    # The group is text and stays behind: the scorers read it from X before the pipeline does.
    numbers = make_column_selector(dtype_include="number")
    measurements = make_column_transformer((StandardScaler(), numbers), remainder="drop")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return GridSearchCV(
        Pipeline([("measurements", measurements), ("model", LogisticRegression())]),
        {"model__C": [0.001, 0.01, 0.1, 1.0, 10.0]},
        cv=list(folds.split(strata, strata)),
        scoring=group_auc_scoring(["pooled", "macro", "worst", "neg_difference"], groups="group"),
        refit="worst",
        error_score="raise",
    )


def _candidates(search: Any) -> list[list[str]]:
    results = search.cv_results_
    rows = [["C", *search.scorer_]]
    for i, parameters in enumerate(results["params"]):
        cells = [f"{parameters['model__C']:g}"]
        for name in search.scorer_:
            star = "*" if results[f"rank_test_{name}"][i] == 1 else " "
            cells.append(f"{results[f'mean_test_{name}'][i]:.3f}{star}")
        rows.append(cells)
    return rows


def _meaning(report: GroupAUC) -> list[str]:
    import textwrap

    by_group, parts = report.by_group, report.decomposition()
    expected, pvalue = report.null_difference, report.test_difference().pvalue
    rows = by_group["n_positives"] + by_group["n_negatives"]
    return textwrap.wrap(
        f"What it means: {1 - parts.share_within:.0%} of the pairs behind the pooled AUC compare "
        "patients of two groups; the averages, macro to pairs, tell how well the model ranks "
        f"inside a group. It ranks worst inside {shortened(str(by_group['auc'].idxmin()))} (AUC "
        f"{report.worst:.2f}). The largest and the smallest of these AUCs differ by "
        f"{report.difference:.2f} (p = {pvalue:.2f}). With {rows.min()} to {rows.max()} patients "
        f"in a group, sampling error makes equal groups differ by {expected:.2f} on average.",
        width=92,
    )


# The audit -----------------------------------------------------------------------------


class _Grouping(NamedTuple):
    """One of the reports: by a column, or by a combination of columns."""

    names: tuple[str, ...]
    report: GroupAUC
    n_dropped: int


def audit(arguments: argparse.Namespace) -> Iterator[list[str]]:
    """Report on a file of predictions, as text or JSON; files come after what is printed."""
    from skfedauc import GroupAUC

    _check_targets(arguments)
    columns = list(dict.fromkeys(arguments.group))
    needed = [arguments.label, arguments.score, *columns]
    if arguments.weight is not None:
        needed.append(arguments.weight)
    if arguments.decisions is not None:
        needed.append(arguments.decisions)
    table = read_columns(arguments.file, list(dict.fromkeys(needed)), arguments.encoding)
    rows = rows_of(table, columns, arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parts = _counts(rows, arguments)
    decided = _decided(rows, arguments)
    _tell((str(warning.message) for warning in caught), arguments)
    groupings = [
        _Grouping(
            names,
            GroupAUC(counts, undefined="ignore", group_names=names),
            rows.n_without(names),
        )
        for names, counts in parts.items()
    ]
    is_printed, contents = arguments.json == STDIN, {}
    audits: list[FairnessAudit] = []
    if is_printed:
        audits = _audits(arguments, groupings, decided)
        yield _document(arguments, rows, groupings, audits).splitlines()
    else:
        yield [_headline(arguments, rows)]
        for names, report, n_dropped in groupings:
            yield ["", *_report_lines(report, names, n_dropped)]
        if arguments.json is not None or arguments.html is not None:
            audits = _audits(arguments, groupings, decided)
        if arguments.json is not None:
            contents[arguments.json] = _document(arguments, rows, groupings, audits) + "\n"
    if arguments.html is not None:
        contents[arguments.html] = _page(arguments, groupings, audits)
    _write(contents)
    if not is_printed:
        told = {"fairness audit": arguments.html, "JSON document": arguments.json}
        written = [f"The {what} is in {path}." for what, path in told.items() if path is not None]
        if written:
            yield ["", *written]


def _check_targets(arguments: argparse.Namespace) -> None:
    """Refuse what can be told to be wrong before rows are read."""
    page, document = arguments.html, arguments.json
    usually = {"threshold": "auto", "favorable": None, "decisions": None, "reference": None}
    for option, usual in usually.items():
        if page is None and document is None and getattr(arguments, option) != usual:
            raise CommandError(f"--{option} is for --html or --json; pass one of them as well")
    if arguments.decisions is not None and arguments.threshold != "auto":
        raise CommandError("--decisions are made already: pass them or --threshold, not both")
    if arguments.reference is not None and len(set(arguments.group)) > 1:
        raise CommandError("--reference names a group of one column: pass a single --group")
    targets = {"--html": page, "--json": None if document == STDIN else document}
    for option, path in targets.items():
        if path is None:
            continue
        if _are_same(path, arguments.file):
            raise CommandError(f"{option} {path} would overwrite the predictions")
        try:
            check_target(path)
        except OSError as error:
            raise CommandError(f"{path}: cannot be written: {error.strerror}") from None
    if page is not None and targets["--json"] is not None and _are_same(page, document):
        raise CommandError(f"--html and --json are both {page}; pass two files")
    if page is not None:
        try:
            # What the page is made with, before the work
            from skfedauc.audit.page import check_installed

            check_installed()
        except ImportError as error:
            raise CommandError(str(error)) from None


def _are_same(path: str, other: str) -> bool:
    """Whether both name one regular file, which may not exist yet."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.isfile(path) and os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)


def _counts(rows: Rows, arguments: argparse.Namespace) -> dict[tuple[str, ...], ScoreCounts]:
    """Each column by itself, then all combined."""
    columns = tuple(rows.groups.columns)
    alone: list[tuple[str, ...]] = [(name,) for name in columns] if len(columns) > 1 else []
    if rows.n_with(columns) < len(rows.groups):
        return {names: _count(rows.having(names), arguments) for names in [*alone, columns]}
    combined = _count(rows, arguments)
    parts = {names: combined.regroup(itemgetter(i)) for i, names in enumerate(alone)}
    return {**parts, columns: combined}


def _count(rows: Rows, arguments: argparse.Namespace) -> ScoreCounts:
    from skfedauc import ScoreCounts

    for what, n_rows in zip(("positive", "negative"), rows.n_by_class(), strict=True):
        if n_rows == 0:
            raise CommandError(
                f"column {shortened(arguments.label)} has no {what} label among the "
                f"{_described(rows)}; "
                "an AUC needs both classes"
            )
    try:
        return ScoreCounts.from_predictions(
            rows.labels,
            rows.scores,
            groups=rows.groups,
            sample_weight=rows.weights,
            pos_label=rows.positive,
        )
    except (ValueError, TypeError) as error:
        raise CommandError(_by_column(str(error), arguments)) from error


def _by_column(message: str, arguments: argparse.Namespace) -> str:
    """A message of the library with the names of columns for those of its arguments."""
    for argument, column in (("y_score", arguments.score), ("sample_weight", arguments.weight)):
        message = message.replace(argument, f"column {shortened(column)}")
    return message


def _described(rows: Rows) -> str:
    conditions = [] if rows.weights is None else ["a weight above 0"]
    if rows.n_without(rows.groups.columns):
        conditions.append(f"a group in {listed(rows.groups.columns, ' and ')}")
    number = counted(sum(rows.n_by_class()), "row")
    return f"{number} with {' and '.join(conditions)}" if conditions else number


def _tell(messages: Iterable[str], arguments: argparse.Namespace) -> None:
    """Print each warning once, in the words of the command line."""
    for message in dict.fromkeys(messages):
        print(f"{PROG}: warning: {_escaped(_by_column(message, arguments))}", file=sys.stderr)


def _decided(
    rows: Rows, arguments: argparse.Namespace
) -> Mapping[tuple[str, ...], ScoreCounts | None]:
    """Counts of decisions by grouping."""
    if rows.decisions is None:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scores that are labels
        return _counts(rows._replace(scores=rows.decisions), arguments)


def _audits(
    arguments: argparse.Namespace,
    groupings: list[_Grouping],
    decided: Mapping[tuple[str, ...], ScoreCounts | None],
) -> list[FairnessAudit]:
    """Audit each grouping; claims are adjusted for all groupings together."""
    from skfedauc.audit import FairnessAudit

    options = {"threshold": arguments.threshold, "favorable": arguments.favorable}
    if arguments.reference is not None:
        options["reference"] = [arguments.reference]
    try:
        audits = [
            FairnessAudit(grouping.report, decisions=decided.get(grouping.names), **options)
            for grouping in groupings
        ]
    except ValueError as error:
        text = str(error).removesuffix(".")
        raise CommandError(
            text.replace("reference must be 'rest' or", "--reference must be")
        ) from None
    return FairnessAudit.adjusted_together(audits)


def _page(
    arguments: argparse.Namespace, groupings: list[_Grouping], audits: list[FairnessAudit]
) -> str:
    from skfedauc.audit.page import Section, page_of

    sections = [
        Section(audit.tables, grouping.n_dropped)
        for audit, grouping in zip(audits, groupings, strict=True)
    ]
    return page_of(sections, subject=Path(name_of(arguments.file)).name)


def _write(contents: Mapping[str, str]) -> None:
    """Write each file, whether or not another one can be written."""
    failed = []
    for path, text in contents.items():
        try:
            write_whole(path, text)
        except OSError as error:
            failed.append(f"{path}: cannot be written: {error.strerror}")
    if failed:
        raise OutputError("; ".join(failed))


# What is printed -------------------------------------------------------------------------


def _headline(arguments: argparse.Namespace, rows: Rows) -> str:
    positives, negatives = rows.n_by_class()
    weighted = "" if arguments.weight is None else f", weighted by {shortened(arguments.weight)}"
    return (
        f"{name_of(arguments.file)}: {counted(positives + negatives, 'row')}, "
        f"{counted(positives, 'positive')} and {counted(negatives, 'negative')}{weighted}"
    )


def _report_lines(report: GroupAUC, names: Sequence[str], n_dropped: int = 0) -> list[str]:
    statistics = report.statistics()
    return [
        _grouping_line(report, names, n_dropped),
        *_aligned([[str(name), _shown(value)] for name, value in statistics.items()]),
        *_left_out_lines(statistics),
        _decomposition_line(report),
        *_noise_lines(report),
        *_group_lines(report, names),
    ]


def _grouping_line(report: GroupAUC, names: Sequence[str], n_dropped: int) -> str:
    rows = int(report.counts.n_positives.sum() + report.counts.n_negatives.sum())
    line = f"By {' x '.join(map(shortened_label, names))}: {counted(rows, 'row')}"
    line += f", {counted(report.n_groups, 'group')}"
    if report.n_undefined:
        line += f", {report.n_undefined:,} of them undefined (one class only)"
        if report.n_undefined == report.n_groups:
            line += f": is there a group for every row? --group {shortened(names[0])} should repeat"
    if n_dropped:
        line += f"; {counted(n_dropped, 'row')} without {listed(names, ' or ')} left out"
    return line


def _left_out_lines(statistics: pd.Series[float]) -> list[str]:
    from skfedauc.report import STATISTICS
    from skfedauc.report.group_auc import MATRIX_GROUPS

    left_out = (name for name in STATISTICS if name not in statistics.index)
    return [f"{name} is left out above {MATRIX_GROUPS} groups." for name in left_out]


def _decomposition_line(report: GroupAUC) -> str:
    parts = report.decomposition()
    return (
        f"Pooled is made of pairs within a group ({parts.share_within:.1%}, AUC "
        f"{_shown(parts.within)}) and of pairs across groups ({1 - parts.share_within:.1%}, AUC "
        f"{_shown(parts.cross)})."
    )


def _noise_lines(report: GroupAUC) -> list[str]:
    """Whether the groups differ by more than chance, where that can be tested."""
    test = report.test_equal_groups()
    if math.isnan(test.pvalue):
        return []
    left_out = f" ({test.n_left_out:,} too small to be tested)" if test.n_left_out else ""
    gap = _Gap.of(report)
    return [
        f"Test that all groups{left_out} have the same AUC: p = {test.pvalue:.2g}.",
        f"Largest difference of two groups: {gap.difference:.4f}, 95% interval "
        f"{gap.low:.4f}..{gap.high:.4f}, p = {gap.pvalue:.2g}.{gap.sentence}",
        f"If all AUCs were equal, it would be {gap.by_chance:.4f} on average.",
        *_small_group_lines(report),
    ]


class _Gap(NamedTuple):
    """The largest difference of group AUCs with its interval, p value and null mean."""

    difference: float
    low: float
    high: float
    by_chance: float
    pvalue: float
    clearest: tuple[Any, Any] | None

    @classmethod
    def of(cls, report: GroupAUC) -> _Gap:
        test = report.test_difference()
        is_another = test.clearest != (test.highest, test.lowest)
        return cls(
            test.difference,
            test.ci_low,
            test.ci_high,
            report.null_difference,
            test.pvalue,
            test.clearest if is_another and test.pvalue < 0.05 else None,
        )

    @property
    def sentence(self) -> str:
        """Which groups the p value is about, where they are not those furthest apart."""
        if self.clearest is None:
            return ""
        larger, smaller = map(shortened_label, self.clearest)
        return f" The p value is that of {larger!r} and {smaller!r}, which differ most clearly."


def _without_small_groups(report: GroupAUC) -> tuple[int, _Gap] | None:
    """How many small groups there are, and the gap of the others; None if it is no other."""
    others = report.without_small_groups(SMALL)
    n_small = report.n_groups - others.n_groups
    return (n_small, _Gap.of(others)) if n_small and others.n_groups > 1 else None


def _small_group_lines(report: GroupAUC) -> list[str]:
    found = _without_small_groups(report)
    if found is None:
        return []
    n_small, gap = found
    return [
        f"Without {counted(n_small, 'group')} of fewer than {SMALL} positives or negatives: "
        f"largest difference {gap.difference:.4f}, 95% interval {gap.low:.4f}..{gap.high:.4f}, "
        f"p = {gap.pvalue:.2g}; on average {gap.by_chance:.4f} if all AUCs were equal."
        f"{gap.sentence}"
    ]


def _group_lines(report: GroupAUC, names: Sequence[str]) -> list[str]:
    """The groups by AUC; of many, the lowest and the highest."""
    import numpy as np

    table = report.confidence_intervals()[["auc", "ci_low", "ci_high"]]
    table = table.join(report.by_group[["n_positives", "n_negatives"]])
    table = table.sort_values("auc", kind="stable")
    n_left_out = 0
    if len(table) > 2 * N_ENDS:
        # Undefined groups are sorted last.
        lowest, _, highest = ends(np.arange(len(table) - report.n_undefined), 2 * N_ENDS)
        shown = [*lowest, *highest]
        n_left_out = len(table) - len(shown)
        table = table.iloc[shown]
    rows = [[*map(shortened_label, names), "auc", "95% interval", "positives", "negatives"]]
    for label, auc, low, high, *counts in table.itertuples(name=None):
        parts = label if isinstance(label, tuple) else (label,)
        interval = "" if math.isnan(low) else f"{low:.4f}..{high:.4f}"
        numbers = [_shown(auc), interval, *(f"{int(n):,}" for n in counts)]
        rows.append([*map(shortened_label, parts), *numbers])
    lines = _aligned(rows, n_text=len(names))
    if n_left_out:
        lines.append(
            f"Shown are the lowest and highest {N_ENDS}; left out: "
            f"{counted(n_left_out, 'more group')} (--json has all)."
        )
    return lines


def _aligned(rows: Sequence[Sequence[str]], n_text: int = 1) -> list[str]:
    """Rows as lines, the first columns flush left and the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if i < n_text else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _shown(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.4f}"


def _document(
    arguments: argparse.Namespace,
    rows: Rows,
    groupings: list[_Grouping],
    audits: list[FairnessAudit],
) -> str:
    n_positives, n_negatives = rows.n_by_class()
    document = {
        "file": arguments.file,
        "label": arguments.label,
        "score": arguments.score,
        "weight": arguments.weight,
        "n_positives": n_positives,
        "n_negatives": n_negatives,
        "favorable": arguments.favorable,
        "groupings": [
            _entry(grouping) | {"findings": list(audit.findings), "n_claims": audit.n_claims}
            for grouping, audit in zip(groupings, audits, strict=True)
        ],
    }
    return json.dumps(document, indent=2, allow_nan=False)


def _entry(grouping: _Grouping) -> dict[str, Any]:
    names, report, n_dropped = grouping
    test, intervals = report.test_equal_groups(), report.confidence_intervals()
    gap, without, found = _Gap.of(report), None, _without_small_groups(report)
    if found is not None:
        without = {
            "n_left_out": found[0],
            "difference": _or_null(found[1].difference),
            "ci_low": _or_null(found[1].low),
            "ci_high": _or_null(found[1].high),
            "null_difference": _or_null(found[1].by_chance),
            "pvalue": _or_null(found[1].pvalue),
        }
    groups = report.by_group.assign(ci_low=intervals["ci_low"], ci_high=intervals["ci_high"])
    return {
        "by": list(names),
        "n_positives": int(report.counts.n_positives.sum()),
        "n_negatives": int(report.counts.n_negatives.sum()),
        "n_dropped": n_dropped,
        "n_groups": report.n_groups,
        "n_undefined": report.n_undefined,
        "statistics": {str(k): _or_null(v) for k, v in report.statistics().items()},
        "decomposition": {k: _or_null(v) for k, v in report.decomposition()._asdict().items()},
        "null_difference": _or_null(report.null_difference),
        "test_difference": {
            "ci_low": _or_null(gap.low),
            "ci_high": _or_null(gap.high),
            "pvalue": _or_null(gap.pvalue),
        },
        "without_small_groups": without,
        "test_equal_groups": {
            "statistic": _or_null(test.statistic),
            "pvalue": _or_null(test.pvalue),
            "method": test.method,
            "n_groups": test.n_groups,
        },
        "groups": [
            {
                "label": list(label) if isinstance(label, tuple) else label,
                "auc": _or_null(auc),
                "ci_low": _or_null(ci_low),
                "ci_high": _or_null(ci_high),
                "n_positives": int(n_positives),
                "n_negatives": int(n_negatives),
            }
            for label, auc, n_positives, n_negatives, ci_low, ci_high in groups.itertuples(
                name=None
            )
        ],
    }


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


if __name__ == "__main__":
    sys.exit(main())
