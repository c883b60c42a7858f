"""A command's arguments, and what follows from them."""

from __future__ import annotations

import argparse

ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet")
STDIN = "-"
# Default of --min-per-class. A group with fewer positives or negatives is small.
SMALL = 10
# Keys of --name, which are the keys of `names` of a FairnessAudit. This module does not import the
# audit, because help and errors of usage do not need numpy.
NAMED = ("model", "label", "score")


class Arguments(argparse.Namespace):
    """Values of the options by name, and the name of the `command`.

    `options` describes each option. Options that the command lacks are None.
    """

    @property
    def group_columns(self) -> tuple[str, ...]:
        """Group columns, the control column of ``--within`` and that of the clusters."""
        others = [name for name in (self.within, self.clusters) if name is not None]
        return tuple(dict.fromkeys([*self.group, *others]))

    @property
    def columns(self) -> list[str]:
        """All columns of predictions to read, without repetitions."""
        if self.command == "compare":
            return list(dict.fromkeys(name for model in self.models for name in model.columns))
        optional = [name for name in (self.weight, self.decisions) if name is not None]
        return list(dict.fromkeys([self.label, self.score, *self.group_columns, *optional]))

    @property
    def models(self) -> list[Arguments]:
        """Arguments of each of the models to compare, as those of an audit."""
        decisions = self.decisions or [None] * len(self.score)
        return [
            Arguments(**vars(self) | {"command": "audit", "score": score, "decisions": of_model})
            for score, of_model in zip(self.score, decisions, strict=True)
        ]

    @property
    def file_name(self) -> str:
        """Name of the file of predictions in messages."""
        return "standard input" if self.file == STDIN else str(self.file)

    @property
    def inputs(self) -> list[str]:
        """Files that the command reads."""
        return self.files or [self.file]

    @property
    def outputs(self) -> dict[str, str]:
        """Files that the command writes, by option."""
        written = {
            "--html": self.html,
            "--json": self.json_file,
            "--markdown": self.markdown,
            "--output": self.output,
        }
        return {option: path for option, path in written.items() if path is not None}

    @property
    def described_outputs(self) -> dict[str, str]:
        """A report's files, by description."""
        page = "comparison" if self.command == "compare" else "fairness audit"
        about = {"--html": page, "--json": "JSON document", "--markdown": "model card"}
        return {about[option]: path for option, path in self.outputs.items()}

    @property
    def json_is_printed(self) -> bool:
        """True if JSON replaces the printed report."""
        return bool(self.json == STDIN)

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
    def tolerances(self) -> dict[str, float]:
        """Limits of gaps, by gap name."""
        return dict(self.tolerance)

    @property
    def names(self) -> dict[str, str]:
        """Declared names; the last value of a repeated key."""
        return dict(self.name or [])
