"""Commands, options and the values of options."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from skfedauc._words import shortened

ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet")
STDIN = "-"
# Keys of --name, which are the keys of `names` of a FairnessAudit. This module does not import the
# audit, because help and errors of usage do not need numpy.
NAMED = ("model", "label", "score")


class Command(NamedTuple):
    """A command, which is a function of its name."""

    about: str
    example: str


COMMANDS = {
    "audit": Command(
        "Report the AUC over groups of the predictions in a file.",
        "skfedauc audit predictions.csv --label died --score risk --group hospital --group sex",
    ),
    "compare": Command(
        "Compare two models, or a model before and after a mitigation, on the same rows.",
        "skfedauc compare predictions.csv --label died --score before --score after --group sex",
    ),
    "count": Command(
        "Count the predictions in a file by group, score and class, and write the counts.",
        "skfedauc count oslo.csv --label died --score risk --group sex --source oslo -o oslo.skfa",
    ),
    "merge": Command(
        "Add up the counts of several files, such as the files of all sites.",
        "skfedauc merge oslo.skfa bern.skfa -o all.skfa",
    ),
    "report": Command(
        "Report the AUC over groups from counts, with the numbers of an audit of the rows.",
        "skfedauc report all.skfa --html report.html",
    ),
    "show": Command(
        "Say what a file of counts holds and what it discloses.",
        "skfedauc show oslo.skfa",
    ),
}


# Values --------------------------------------------------------------------------------


def _number(text: str) -> float:
    """Return the number in the text, or NaN for other text."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _threshold(text: str) -> float | str | None:
    if text in ("none", "auto"):
        return None if text == "none" else text
    if not math.isfinite(_number(text)):
        raise argparse.ArgumentTypeError(f"must be a finite number or none; got {shortened(text)}")
    return _number(text)


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
    if not name or not 0 < _number(limit) < 1:
        raise argparse.ArgumentTypeError(
            "must be NAME=LIMIT with a limit between 0 and 1, such as difference=0.05; got "
            f"{shortened(text)}"
        )
    return name, _number(limit)


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


def _at_least(least: int) -> Callable[[str], int]:
    def convert(text: str) -> int:
        number = int(text) if text.isascii() and text.isdecimal() else least - 1
        if number < least:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of at least {least}; got {shortened(text)}"
            )
        return number

    return convert


# Options -------------------------------------------------------------------------------


class Option(NamedTuple):
    """An option or an argument of some commands.

    `needs` is the option without which this one has no effect, with the values that it must have.
    """

    flags: list[str]
    needs: str
    settings: dict[str, Any]


def _option(usage: str, about: str, *, needs: str = "", **settings: Any) -> Option:
    """Return an option; the last word of the usage names its value, or its choices."""
    flags = usage.split()
    if len(flags) == 1:
        settings["action"] = "store_true"
    else:
        value = flags.pop()
        settings |= {"choices": value.split("|")} if "|" in value else {"metavar": value}
    settings["help"] = f"with {needs}: {about}" if needs else about
    return Option(flags, needs, settings)


# By the commands that have the options
OPTIONS = {
    "audit compare count": [
        _option(
            "file FILE",
            f"predictions, one per row: {', '.join(ENDINGS)}, or {STDIN} for CSV from standard "
            "input; the separator of text files may be a comma, a semicolon or a tab",
        ),
        _option("--label COL", "column of the true labels", required=True),
        _option(
            "--group COL",
            "column of the groups; may be repeated to report by each column, and then by their "
            "combinations",
            required=True,
            action="append",
        ),
        _option("--weight COL", "column of the rows' weights (default: equal weights)"),
        _option(
            "--pos-label V",
            "label of the positive class (default: 1 or true, if the labels are 0 and 1, -1 and "
            "1, or false and true)",
        ),
        _option(
            "--missing raise|drop|group",
            "what to do with rows that lack a group in any --group column: stop (raise), drop "
            "them (drop), or give them the label '(missing)' there (group) (default: "
            "%(default)s)",
            default="raise",
        ),
        _option(
            "--encoding NAME",
            "encoding of a text file, such as latin-1 or utf-16 (default: utf-8)",
            type=_encoding,
        ),
        _option(
            "--decimal MARK",
            "decimal mark of labels, scores and weights in text: a point or a comma (default: "
            "%(default)s)",
            choices=[".", ","],
            default=".",
        ),
    ],
    "report show": [
        _option("file FILE", "counts that `count` or `merge` wrote"),
    ],
    "merge": [
        _option("files FILE", "counts that `count` or `merge` wrote", nargs="+"),
        _option(
            "--replace",
            "of files with the same source, model and period but other counts, add the last "
            "(default: an error that names both)",
        ),
        _option(
            "--any-model",
            "merge files that name different models (default: an error that names both)",
        ),
        _option(
            "--skip-invalid",
            "leave out files that are absent or damaged, with a warning (default: an error)",
        ),
        _option(
            "--by-period",
            "make the period of each file the last group column, so that report shows AUCs by "
            "group and period (default: add the rows of all periods)",
        ),
    ],
    "audit count": [
        _option(
            "--score COL",
            "column of the scores; a larger score makes the positive class more likely",
            required=True,
        ),
    ],
    "compare": [
        _option(
            "--score COL",
            "column of the scores of a model, to be passed twice: first for the model before, "
            "then for the model after; a larger score makes the positive class more likely",
            required=True,
            action="append",
        ),
        _option(
            "--decisions COL",
            "column of the decisions of a model, instead of those of a threshold, to be passed "
            "twice in the order of --score; decisions are labels of the classes, or 0 and 1",
            action="append",
            default=[],
        ),
    ],
    "report": [
        _option(
            "--missing drop|group",
            "what to do with the groups '(missing)', which hold the rows that have no group "
            "label: drop them (drop), or report them like other groups (group) (default: "
            "%(default)s)",
            default="group",
        ),
        _option(
            "--clusters COL",
            "group column of the file that holds clusters, such as patients with several rows "
            "each; intervals and tests by the other columns then allow for dependent rows of a "
            "cluster",
        ),
    ],
    "audit": [
        _option(
            "--clusters COL",
            "column of the clusters, such as patients with several rows each; intervals and "
            "tests then allow for dependent rows of a cluster",
        ),
        _option(
            "--decisions COL",
            "audit the decisions in this column instead of those of a threshold; decisions are "
            "labels of the classes, or 0 and 1",
        ),
    ],
    "audit report": [
        _option(
            "--within COL",
            "control column, whose differences are accepted, such as the hospital in an audit by "
            "sex: audit the groups of the other columns within each label of this column, which "
            "share the error rates of one audit",
        ),
    ],
    "audit compare report": [
        _option(
            "--html PAGE",
            "also write the results, with tables and plots, to this HTML file, which is "
            "overwritten if it exists",
        ),
        _option(
            "--threshold T",
            "also ask about the decisions that predict the positive class for scores of at least "
            "T; none asks about the ranking only (default: 0.5 if all scores are between 0 and "
            "1, otherwise none)",
            type=_threshold,
            default="auto",
        ),
        _option(
            "--min-per-class N",
            "least number of positives and of negatives of a group that is compared; smaller "
            "groups are listed and count for the AUC over all rows only (default: %(default)s)",
            type=_at_least(1),
            default=10,
        ),
        _option(
            "--favorable positive|negative",
            "class that is the favorable outcome for a person, such as positive for an approved "
            "loan, or negative for a default; findings then state which groups the model favors",
        ),
        _option(
            "--tolerance NAME=LIMIT",
            "limit of a gap between groups, such as difference=0.05 for AUCs that differ by at "
            "most 0.05, or demographic_parity_ratio=0.8 for selection rates by the four-fifths "
            "rule if the positive class is the favorable outcome (ratios of rates are refused "
            "with --favorable negative); the answer for each model is whether the limit is met, "
            "not met or undecided by these rows; may be repeated. Gaps that end in ratio have to "
            "be at least their limit: ratio, demographic_parity_ratio. Others have to be at most "
            "their limit: difference, xauc_disparity, demographic_parity_difference, "
            "true_positive_rate_difference, false_positive_rate_difference, "
            "equalized_odds_difference, calibration_difference",
            type=_tolerance,
            action="append",
            default=[],
        ),
        _option(
            "--fail-if not-met|undecided",
            "exit with code 5 if a tolerance is not met (not-met), or if a tolerance is not met "
            "or undecided or not asked (undecided), after everything is written; compare asks "
            "the second model",
            needs="--tolerance",
        ),
        _option(
            "--name KEY=TEXT",
            "name of the model, the label or the score on the page and in the document, such as "
            "--name 'model=credit score 3'; may be repeated",
            type=_name,
            action="append",
            default=[],
        ),
        _option(
            "--markdown CARD",
            "also write the results as sections of a model card to this Markdown file",
        ),
        _option(
            "--json DOCUMENT",
            f"also write all results to this file as JSON; without a file, or with {STDIN}, "
            "print the JSON instead of the report. Undefined numbers are null; cross_difference "
            "is omitted above 500 groups",
            nargs="?",
            const=STDIN,
        ),
    ],
    "count merge": [
        _option(
            "-o --output COUNTS",
            "file for the counts, customarily NAME.skfa, which is overwritten if it exists",
            required=True,
        ),
        _option(
            "--disclosure exact|bins|summary",
            "what the file discloses of the scores: each distinct score (exact); the bin of each "
            "score (bins), which bounds every AUC; or no score, but the AUC of each group with "
            "its variance (summary) (default: exact; merge keeps the level of the files, if it "
            "is the same)",
        ),
        _option(
            "--bins probabilities|scores",
            "bins for scores from 0 to 1 (probabilities), or for all scores (scores) (default: "
            "probabilities)",
            needs="--disclosure bins",
        ),
        _option(
            "--octaves N",
            "with --bins probabilities, number of octaves of the distance to the nearer of 0 and "
            "1 (default: 20)",
            type=int,
            needs="--disclosure bins",
        ),
        _option(
            "--parts N",
            "number of bins of each octave, a power of two (default: 64)",
            type=int,
            needs="--disclosure bins",
        ),
        _option(
            "--edges E,E",
            "cut points between the bins, separated by commas, in place of --bins; write "
            "--edges=-1,0 if the first is negative",
            type=_numbers,
            needs="--disclosure bins",
        ),
    ],
    "count": [
        _option("--source NAME", "name of who counts, such as the site, to be stored in the file"),
        _option("--model TEXT", "name or version of the model, to be stored in the file"),
        _option(
            "--period TEXT",
            "when the rows arose, such as 2026-10, to be stored in the file; merge adds files "
            "with the same source, model and period once",
        ),
        _option(
            "--min-count N",
            "write no number of rows of a class from 1 to N - 1, for N of 3 or more; neighboring "
            "bins of a group and class are joined, and --small-groups treats groups with fewer "
            "rows of a class",
            type=_at_least(3),
            needs="--disclosure bins or summary",
        ),
        _option(
            "--small-groups withhold|join",
            "leave groups with fewer rows of a class out (withhold), or make them the group "
            "'(missing)' (join), which is left out if it is too small as well (default: "
            "withhold)",
            needs="--min-count",
        ),
        _option(
            "--tell-withheld number|rows|labels",
            "what the file discloses of groups that are left out: their number (number); also "
            "their rows of each class, unless a number is small (rows); also their labels "
            "(labels) (default: rows)",
            needs="--min-count",
        ),
        _option(
            "--epsilon E",
            "draw noise for differential privacy once, and write counts that disclose almost "
            "nothing about one row for a small E, such as 1; needs skfedauc[privacy]. Run it "
            "once for the rows of a site: each run adds its E",
            type=float,
            needs="--disclosure bins",
        ),
        _option(
            "--rows-per-person N",
            "most rows of one person, all of which E protects (default: 1)",
            type=_at_least(1),
            needs="--epsilon",
        ),
        _option(
            "--agreed-groups A,B",
            "labels of the groups of all sites, separated by commas, agreed before counting; the "
            "file has all of them, also those without rows",
            type=lambda text: text.split(","),
            needs="--epsilon",
        ),
    ],
}
