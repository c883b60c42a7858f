import json
import types

import pytest
from cli_cases import COLUMNS, predictions

from skfedauc.cli.main import main
from skfedauc.counts import state


@pytest.fixture
def frame():
    return predictions()


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """A file of the predictions, for tests that do not change it."""
    path = tmp_path_factory.mktemp("cli") / "predictions.csv"
    predictions().to_csv(path, index=False)
    return str(path)


@pytest.fixture
def printed_by(capsys):
    """Run a command that succeeds without warnings; return what it prints."""

    def run(*arguments):
        assert main([str(argument) for argument in arguments]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return run


@pytest.fixture
def audit(printed_by):
    """Run an audit that succeeds; return its JSON document."""

    def run(path, *arguments):
        return json.loads(printed_by("audit", path, *(arguments or COLUMNS), "--json"))

    return run


@pytest.fixture
def counted(tmp_path, printed_by):
    """Count a table; return the path of the file."""

    def run(frame, name, *options):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        path = tmp_path / f"{name}.skfa"
        options = [*(options or COLUMNS), "--source", name, "-o", path]
        printed_by("count", tmp_path / f"{name}.csv", *options)
        return path

    return run


@pytest.fixture
def error_of(capsys):
    """Run a command that fails; return its message, which is one line."""

    def run(arguments):
        assert main([str(argument) for argument in arguments]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("skfedauc: error: ")
        assert printed.err.count("\n") == 1
        return printed.err

    return run


@pytest.fixture
def equal_identifiers(monkeypatch):
    """Give all counts one identifier, to compare pages and documents of separate countings."""
    one = types.SimpleNamespace(token_hex=lambda n_bytes: "0" * 2 * n_bytes)
    monkeypatch.setattr(state, "secrets", one)
