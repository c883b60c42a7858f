"""Options of the commands, with help texts."""

from __future__ import annotations

import argparse
import functools
import math

from skfedauc._words import shortened
from skfedauc.cli.arguments import ENDINGS, NAMED, SMALL, STDIN

_COUNTS = "counts that `count` or `merge` has written"


def add_audit(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `audit`."""
    _add_predictions(parser)
    _add_outputs_of_report(parser)
    parser.add_argument(
        "--clusters",
        metavar="COL",
        help="column of the clusters, such as patients with several rows each; intervals and tests "
        "then allow for dependent rows of a cluster",
    )
    parser.add_argument(
        "--decisions",
        metavar="COL",
        help="audit the decisions in this column instead of those of a threshold; "
        "decisions are labels of the classes, or 0 and 1",
    )


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `compare`."""
    _add_file(parser)
    parser.add_argument(
        "--score",
        metavar="COL",
        required=True,
        action="append",
        help="column of the scores of a model, to be passed twice: first for the model before, "
        "then for the model after; a larger score makes the positive class more likely",
    )
    _add_group(parser, "may be repeated; each combination of labels is a group")
    _add_columns(parser)
    parser.add_argument(
        "--decisions",
        metavar="COL",
        action="append",
        default=[],
        help="column of the decisions of a model, instead of those of a threshold, to be passed "
        "twice in the order of --score; decisions are labels of the classes, or 0 and 1",
    )
    _add_results(
        parser,
        "comparison",
        "compare",
        "all scores of a model",
        "; the comparison answers for each model",
        "for the second model, after everything is written",
    )


def add_count(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `count`."""
    _add_predictions(parser)
    parser.add_argument(
        "--source",
        metavar="NAME",
        help="name of who counts, such as the site, to be stored in the file",
    )
    parser.add_argument(
        "--model", metavar="TEXT", help="name or version of the model, to be stored in the file"
    )
    parser.add_argument(
        "--period",
        metavar="TEXT",
        help="when the rows arose, such as 2026-10, to be stored in the file; merge adds files "
        "with the same source, model and period once",
    )
    _add_output(parser)
    _add_disclosure(parser, "exact")
    _add_small_counts(parser)
    _add_noise(parser)


def add_merge(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `merge`."""
    parser.add_argument("files", metavar="FILE", nargs="+", help=_COUNTS)
    _add_output(parser)
    _add_disclosure(parser, "the level of the files, which must be the same for all")
    parser.add_argument(
        "--replace",
        action="store_true",
        help="of files with the same source, model and period but other counts, add the last "
        "(default: an error that names both)",
    )
    parser.add_argument(
        "--any-model",
        action="store_true",
        help="merge files that name different models (default: an error that names both)",
    )
    parser.add_argument(
        "--skip-invalid",
        action="store_true",
        help="leave out files that are absent or damaged, with a warning (default: an error)",
    )
    parser.add_argument(
        "--by-period",
        action="store_true",
        help="make the period of each file the last group column, so that report shows AUCs by "
        "group and period (default: add the rows of all periods)",
    )


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `report`."""
    parser.add_argument("file", metavar="FILE", help=_COUNTS)
    parser.add_argument(
        "--missing",
        choices=["drop", "group"],
        default="group",
        help="what to do with the groups '(missing)', which hold the rows that have no group "
        "label: drop them (drop), or report them like other groups (group) (default: %(default)s)",
    )
    parser.add_argument(
        "--clusters",
        metavar="COL",
        help="group column of the file that holds clusters, such as patients with several rows "
        "each; intervals and tests by the other columns then allow for dependent rows of a "
        "cluster",
    )
    _add_outputs_of_report(parser)


def add_show(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `show`."""
    parser.add_argument("file", metavar="FILE", help=_COUNTS)


# Shared options ------------------------------------------------------------------------


def _add_predictions(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    parser.add_argument(
        "--score",
        metavar="COL",
        required=True,
        help="column of the scores; a larger score makes the positive class more likely",
    )
    _add_group(parser, "may be repeated to report by each column, and then by their combinations")
    _add_columns(parser)


def _add_file(parser: argparse.ArgumentParser) -> None:
    """Add the file of predictions and the column of the labels."""
    add = parser.add_argument
    add(
        "file",
        metavar="FILE",
        help=f"predictions, one per row: {', '.join(ENDINGS)}, or {STDIN} for CSV from standard "
        "input; the separator of text files may be a comma, a semicolon or a tab",
    )
    add("--label", metavar="COL", required=True, help="column of the true labels")


def _add_group(parser: argparse.ArgumentParser, repeated: str) -> None:
    parser.add_argument(
        "--group",
        metavar="COL",
        required=True,
        action="append",
        help=f"column of the groups; {repeated}",
    )


def _add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a file's columns."""
    add = parser.add_argument
    add("--weight", metavar="COL", help="column of the rows' weights (default: equal weights)")
    add(
        "--pos-label",
        metavar="V",
        help="label of the positive class (default: 1 or true, if the labels are 0 and 1, -1 and "
        "1, or false and true)",
    )
    add(
        "--missing",
        choices=["error", "drop", "group"],
        default="error",
        help="what to do with rows that lack a group in any --group column: stop (error), drop "
        "them (drop), or give them the label '(missing)' there (group) (default: %(default)s)",
    )
    add(
        "--encoding",
        metavar="NAME",
        type=_encoding,
        help="encoding of a text file, such as latin-1 or utf-16 (default: utf-8)",
    )
    add(
        "--decimal",
        metavar="MARK",
        choices=[".", ","],
        default=".",
        help="decimal mark of labels, scores and weights in text: a point or a comma "
        "(default: %(default)s)",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="COUNTS",
        required=True,
        help="file for the counts, customarily NAME.skfa, which is overwritten if it exists",
    )


def _add_disclosure(parser: argparse.ArgumentParser, default: str) -> None:
    add = parser.add_argument
    add(
        "--disclosure",
        choices=["exact", "bins", "summary"],
        help="what the file discloses of the scores: each distinct score (exact); the bin of each "
        "score (bins), which bounds every AUC; or no score, but the AUC of each group with its "
        f"variance (summary) (default: {default})",
    )
    add(
        "--bins",
        choices=["probabilities", "scores"],
        help="with --disclosure bins: bins for scores from 0 to 1 (probabilities), or for all "
        "scores (scores) (default: probabilities)",
    )
    add(
        "--octaves",
        metavar="N",
        type=int,
        help="with --bins probabilities: number of octaves of the distance to the nearer of 0 and "
        "1 (default: 20)",
    )
    add(
        "--parts",
        metavar="N",
        type=int,
        help="with --disclosure bins: number of bins of each octave, a power of two (default: 64)",
    )
    add(
        "--edges",
        metavar="E,E",
        type=_numbers,
        help="with --disclosure bins: cut points between the bins, separated by commas, in place "
        "of --bins; write --edges=-1,0 if the first is negative",
    )


def _add_small_counts(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--min-count",
        metavar="N",
        type=functools.partial(_at_least, 3),
        help="with --disclosure bins or summary: write no number of rows of a class from 1 to N - "
        "1, for N of 3 or more; neighboring bins of a group and class are joined, and "
        "--small-groups treats groups with fewer rows of a class",
    )
    add(
        "--small-groups",
        choices=["withhold", "join"],
        help="with --min-count: leave groups with fewer rows of a class out (withhold), or make "
        "them the group '(missing)' (join), which is left out if it is too small as well "
        "(default: withhold)",
    )
    add(
        "--tell-withheld",
        choices=["number", "rows", "labels"],
        help="with --min-count: what the file discloses of groups that are left out: their number "
        "(number); also their rows of each class, unless a number is small (rows); also their "
        "labels (labels) (default: rows)",
    )


def _add_noise(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--epsilon",
        metavar="E",
        type=float,
        help="with --disclosure bins: draw noise for differential privacy once, and write counts "
        "that disclose almost nothing about one row for a small E, such as 1; needs "
        "skfedauc[privacy]. Run it once for the rows of a site: each run adds its E",
    )
    add(
        "--rows-per-person",
        metavar="N",
        type=functools.partial(_at_least, 1),
        help="with --epsilon: most rows of one person, all of which E protects (default: 1)",
    )
    add(
        "--agreed-groups",
        metavar="A,B",
        type=lambda text: text.split(","),
        help="with --epsilon: labels of the groups of all sites, separated by commas, "
        "agreed before counting; the file has all of them, also those without rows",
    )


def _add_outputs_of_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--within",
        metavar="COL",
        help="control column, whose differences are accepted, such as the hospital in an audit by "
        "sex: audit the groups of the other columns within each label of this column, which share "
        "the error rates of one audit",
    )
    _add_results(
        parser,
        "audit",
        "audit",
        "all scores",
        "; the report answers whether the limit is met, not met or undecided by these rows",
        "after everything is written",
        "; cross_difference is omitted above 500 groups",
    )


def _add_results(
    parser: argparse.ArgumentParser,
    what: str,
    does: str,
    scores: str,
    answers: str,
    fails: str,
    omits: str = "",
) -> None:
    """Add the options of an audit or a comparison, and of its files."""
    add = parser.add_argument
    add(
        "--html",
        metavar="PAGE",
        help=f"also write the {what}, with tables and plots, to this HTML file, which is "
        "overwritten if it exists",
    )
    add(
        "--threshold",
        metavar="T",
        type=_threshold,
        default="auto",
        help=f"also {does} the decisions that predict the positive class for scores of at least "
        f"T; none {does}s the ranking only (default: 0.5 if {scores} are between 0 and 1, "
        "otherwise none)",
    )
    add(
        "--min-per-class",
        metavar="N",
        type=functools.partial(_at_least, 1),
        default=SMALL,
        help="least number of positives and of negatives of a group whose AUC is compared, and "
        f"least number of rows for a comparison of rates; the {what} shows smaller groups without "
        "comparing them (default: %(default)s)",
    )
    add(
        "--favorable",
        choices=["positive", "negative"],
        help="class that is the favorable outcome for a "
        "person, such as positive for an approved loan, or negative for a default; findings then "
        "state which groups the model favors",
    )
    add(
        "--tolerance",
        metavar="NAME=LIMIT",
        type=_tolerance,
        action="append",
        default=[],
        help="limit of a gap between groups, such as difference=0.05 for AUCs that differ by at "
        "most 0.05, or demographic_parity_ratio=0.8 for selection rates by the four-fifths rule "
        "if the positive class is the favorable outcome (ratios of rates are refused with "
        f"--favorable negative){answers}; may be "
        "repeated. Gaps that end in ratio have to be at least their limit: ratio, "
        "demographic_parity_ratio. Others have to be at most their limit: difference, "
        "xauc_disparity, demographic_parity_difference, true_positive_rate_difference, "
        "false_positive_rate_difference, equalized_odds_difference, calibration_difference",
    )
    add(
        "--fail-if",
        choices=["not-met", "undecided"],
        help="with --tolerance: exit with code 5 if a tolerance is not met (not-met), or if a "
        f"tolerance is not met or undecided (undecided), {fails}",
    )
    add(
        "--name",
        metavar="KEY=TEXT",
        type=_name,
        action="append",
        help="name of the model, the label or the score on the "
        "page and in the document, such as --name 'model=credit score 3'; may be repeated",
    )
    add(
        "--markdown",
        metavar="CARD",
        help=f"also write the {what} as sections of a model card to this Markdown file",
    )
    add(
        "--json",
        metavar="DOCUMENT",
        nargs="?",
        const=STDIN,
        help="also write all results to this file as JSON; without a file, or with "
        f"{STDIN}, print the JSON instead of the report. Undefined numbers are null{omits}",
    )


# Values --------------------------------------------------------------------------------


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


def _name(text: str) -> tuple[str, str]:
    key, _, name = text.partition("=")
    if key not in NAMED or not name.strip():
        raise argparse.ArgumentTypeError(
            f"must be {', '.join(NAMED[:-1])} or {NAMED[-1]}, then = and a name; got "
            f"{shortened(text)}"
        )
    return key, name


def _tolerance(text: str) -> tuple[str, float]:
    name, _, limit = text.partition("=")
    try:
        number = float(limit)
    except ValueError:
        number = math.nan
    if not name or not 0 < number < 1:
        raise argparse.ArgumentTypeError(
            "must be NAME=LIMIT with a limit between 0 and 1, such as difference=0.05; got "
            f"{shortened(text)}"
        )
    return name, number


def _numbers(text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be numbers separated by commas; got {shortened(text)}"
        ) from None


def _encoding(text: str) -> str:
    """Return the standard name of an encoding of text."""
    import codecs

    try:
        "".encode(text)
    except LookupError:  # `encode` also refuses codecs of bytes
        raise argparse.ArgumentTypeError(f"unknown encoding {shortened(text)}") from None
    return codecs.lookup(text).name


def _at_least(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least {least}; got {shortened(text)}"
        )
    return number
