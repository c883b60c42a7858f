"""Arguments of each command."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet")
STDIN = "-"
# Default of --min-per-class. A group with fewer positives or negatives is small.
SMALL = 10
# Keys of --name, which are the keys of `names` of a FairnessAudit. This module does not import the
# audit, because help and errors of usage do not need numpy.
NAMED = ("model", "label", "score")


@dataclasses.dataclass(frozen=True, kw_only=True)
class FileArguments:
    """File of predictions, and the columns of labels, groups and weights.

    Attributes have the names of the options.
    """

    file: str
    label: str
    group: list[str]
    weight: str | None = None
    pos_label: str | None = None
    missing: Literal["error", "drop", "group"] = "error"
    encoding: str | None = None
    decimal: Literal[".", ","] = "."

    @property
    def group_columns(self) -> tuple[str, ...]:
        """Columns of the groups, without repetitions."""
        return tuple(dict.fromkeys(self.group))

    @property
    def file_name(self) -> str:
        """Name of the file of predictions in messages."""
        return "standard input" if self.file == STDIN else self.file

    @property
    def inputs(self) -> list[str]:
        """Files that the command reads."""
        return [self.file]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PredictionsArguments(FileArguments):
    """File of predictions of a model, and the columns to read.

    `decisions` is None except for the commands `audit` and `compare`.
    """

    score: str
    decisions: str | None = None

    @property
    def columns(self) -> list[str]:
        """All columns to read, without repetitions."""
        optional = [name for name in (self.weight, self.decisions) if name is not None]
        return list(dict.fromkeys([self.label, self.score, *self.group_columns, *optional]))


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """Files for a report, and options of the fairness audit."""

    html: str | None = None
    markdown: str | None = None
    min_per_class: int = SMALL
    within: str | None = None
    threshold: float | Literal["auto"] | None = "auto"
    favorable: Literal["positive", "negative"] | None = None
    name: list[tuple[str, str]] | None = None
    tolerance: list[tuple[str, float]] = dataclasses.field(default_factory=list)
    fail_if: Literal["not-met", "undecided"] | None = None
    json: str | None = None

    @property
    def tolerances(self) -> dict[str, float]:
        """Limits of gaps, by name of the gap."""
        return dict(self.tolerance)

    @property
    def json_is_printed(self) -> bool:
        """True if JSON replaces the printed report."""
        return self.json == STDIN

    @property
    def json_file(self) -> str | None:
        """File for the JSON document."""
        return None if self.json_is_printed else self.json

    @property
    def has_audit(self) -> bool:
        """True if an option asks for more than the report of a summary has."""
        chosen = (self.html, self.json, self.markdown, self.within, self.favorable, self.name)
        is_default = self.threshold == "auto" and not self.tolerance
        return not is_default or any(option is not None for option in chosen)

    @property
    def names(self) -> dict[str, str]:
        """Declared names; the last value of a repeated key."""
        return dict(self.name or [])

    @property
    def outputs(self) -> dict[str, str]:
        """Files that the command writes, by option."""
        written = {"--html": self.html, "--json": self.json_file, "--markdown": self.markdown}
        return {option: path for option, path in written.items() if path is not None}

    @property
    def described_outputs(self) -> dict[str, str]:
        """Files that the command writes, by description."""
        about = {
            "--html": self.what,
            "--json": "JSON document",
            "--markdown": "model card",
        }
        return {about[option]: path for option, path in self.outputs.items()}

    @property
    def what(self) -> str:
        """Description of the page."""
        return "fairness audit"


@dataclasses.dataclass(frozen=True, kw_only=True)
class AuditArguments(PredictionsArguments, ReportOptions):
    """Arguments of `audit`."""

    clusters: str | None = None

    @property
    def group_columns(self) -> tuple[str, ...]:
        """Columns of the groups, the control column of ``--within`` and that of the clusters."""
        others = [name for name in (self.within, self.clusters) if name is not None]
        return tuple(dict.fromkeys([*self.group, *others]))


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompareArguments(FileArguments, ReportOptions):
    """Arguments of `compare`.

    `score` has the columns of the first and of the second model, and `decisions` the columns of
    their decisions, or none.
    """

    score: list[str]
    decisions: list[str] = dataclasses.field(default_factory=list)

    @property
    def models(self) -> list[PredictionsArguments]:
        """Arguments of each model, which keep rows without a group also for ``--missing drop``."""
        names = [field.name for field in dataclasses.fields(FileArguments)]
        of_file: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.missing == "drop":
            of_file["missing"] = "group"
        decisions: list[Any] = [*self.decisions] or [None] * len(self.score)
        return [
            PredictionsArguments(**of_file, score=score, decisions=of_model)
            for score, of_model in zip(self.score, decisions, strict=True)
        ]

    @property
    def columns(self) -> list[str]:
        """All columns to read, without repetitions."""
        return list(dict.fromkeys(name for model in self.models for name in model.columns))

    @property
    def has_audit(self) -> bool:
        """True, because the comparison has an audit of each model."""
        return True

    @property
    def what(self) -> str:
        """Description of the page."""
        return "comparison"


@dataclasses.dataclass(frozen=True, kw_only=True)
class DisclosureOptions:
    """Options of the level of disclosure of the scores.

    Attributes have the names of the options. `disclosure` is None without ``--disclosure``.
    """

    disclosure: Literal["exact", "bins", "summary"] | None = None
    bins: Literal["probabilities", "scores"] | None = None
    octaves: int | None = None
    parts: int | None = None
    edges: list[float] | None = None

    @property
    def of_bins(self) -> dict[str, Any]:
        """Options that describe the bins, by name."""
        names = ("bins", "octaves", "parts", "edges")
        return {name: getattr(self, name) for name in names}


@dataclasses.dataclass(frozen=True, kw_only=True)
class CountArguments(PredictionsArguments, DisclosureOptions):
    """Arguments of `count`.

    `small_groups` and `tell_withheld` are None without these options.
    """

    output: str
    source: str | None = None
    model: str | None = None
    period: str | None = None
    min_count: int | None = None
    small_groups: Literal["withhold", "join"] | None = None
    tell_withheld: Literal["number", "rows", "labels"] | None = None

    @property
    def outputs(self) -> dict[str, str]:
        """Files that the command writes, by option."""
        return {"--output": self.output}


@dataclasses.dataclass(frozen=True, kw_only=True)
class MergeArguments(DisclosureOptions):
    """Arguments of `merge`."""

    files: list[str]
    output: str
    replace: bool = False
    any_model: bool = False
    skip_invalid: bool = False
    by_period: bool = False

    @property
    def inputs(self) -> list[str]:
        """Files that the command reads."""
        return self.files

    @property
    def outputs(self) -> dict[str, str]:
        """Files that the command writes, by option."""
        return {"--output": self.output}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportArguments(ReportOptions):
    """Arguments of `report`."""

    file: str
    missing: Literal["drop", "group"] = "group"
    clusters: str | None = None

    @property
    def inputs(self) -> list[str]:
        """Files that the command reads."""
        return [self.file]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShowArguments:
    """Arguments of `show`."""

    file: str

    @property
    def inputs(self) -> list[str]:
        """Files that the command reads."""
        return [self.file]

    @property
    def outputs(self) -> dict[str, str]:
        """Files that the command writes, by option."""
        return {}


Arguments = (
    AuditArguments
    | CompareArguments
    | CountArguments
    | MergeArguments
    | ReportArguments
    | ShowArguments
)
