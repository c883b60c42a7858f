"""Exit codes of all commands, and the structure of their JSON documents, are those on record.

``python tests/cli/test_schema.py`` writes the record again after a change that is meant.
"""

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path

import pytest
from cli_cases import predictions

from skfedauc.cli.main import main

RECORD = Path(__file__).parents[1] / "data" / "cli.json"
READ = "p.csv --label y --score s --group g"
# Objects whose keys are names of columns, questions and groups
BY_NAME = ("/columns", "/answers", "/bounds")
COMMANDS = [
    f"audit {READ} --group sex --clusters id --within sex --weight w --json",
    f"audit {READ} --tolerance difference=0.001 --fail-if undecided --json",
    f"audit {READ} --tolerance difference=0.001 --fail-if undecided --json /dev/full",
    f"audit {READ} --missing skip",
    "audit absent.csv --label y --score s --group g",
    f"compare {READ} --score t --json",
    f"compare {READ}",
    f"count {READ} -o p.skfa --source oslo",
    f"count {READ} -o absent/p.skfa",
    f"count {READ} -o /dev/full",
    f"count {READ} -o binned.skfa --disclosure bins --bins scores --min-count 5",
    "merge p.skfa p.skfa -o all.skfa",
    "merge p.skfa absent.skfa -o all.skfa",
    "report all.skfa --json",
    "report binned.skfa",
    "report absent.skfa",
    "show all.skfa",
    "show p.csv",
    "--version",
    "audit --help",
    "nonsense",
]


def schema(value, path="", found=None):
    """Return the types of the values of a document by path; items of a list share a path."""
    found = {} if found is None else found
    items = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        items = [("[]", item) for item in value]
    for name, of in items:
        schema(of, f"{path}/{'*' if path.endswith(BY_NAME) else name}", found)
    kind = {int: "number", float: "number"}.get(type(value), type(value).__name__)
    found.setdefault(path, set()).add(kind)
    return found


def recorded(folder):
    """Return the exit code of each command, and the structure of each document that is printed."""
    table = predictions()
    table.assign(t=table["s"] + table["w"]).to_csv("p.csv", index=False)
    codes, schemas = {}, {}
    for command in COMMANDS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            try:
                codes[command] = main(command.split())
            except SystemExit as ended:
                codes[command] = ended.code
        if command.endswith("--json") and codes[command] == 0:
            found = schema(json.loads(printed.getvalue()))
            schemas[command.split()[0]] = {
                path: " or ".join(sorted(found[path])) for path in sorted(found)
            }
    return {"exit codes": codes, "documents": schemas}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_exit_codes_and_documents_are_those_on_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert recorded(tmp_path) == json.loads(RECORD.read_text())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        RECORD.write_text(json.dumps(recorded(folder), indent=1) + "\n")
