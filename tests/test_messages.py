"""Messages quote only the beginning of long labels, names and arguments."""

import functools
import itertools
import traceback
import warnings

import pytest
from surface import X, Y, public_functions

from skfedauc.cli.main import main

LONG = "x" * 50_000
MOST = 2_000  # largest number of characters of a message
# Values for each argument in turn, each with a long label or text
VALUES = [LONG, ["a", LONG], {LONG: 1}]


def message_of(call):
    """Yield the messages of the error and of the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            *_, (frame, _) = traceback.walk_tb(error.__traceback__)
            # Skip errors of other packages and of the system, which quotes the whole path.
            if not isinstance(error, OSError) and frame.f_globals.get("__name__", "").startswith(
                "skfedauc"
            ):
                yield str(error)
    yield from (str(warning.message) for warning in caught)


@pytest.mark.parametrize("function", list(public_functions()), ids=lambda function: function.name)
def test_no_argument_makes_a_message_long(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in itertools.product(function.parameters, VALUES):
        for text in message_of(functools.partial(function, **{name: value})):
            assert len(text) <= MOST, (name, text[:MOST])


@pytest.mark.parametrize(
    "option",
    ["label", "score", "group", "pos-label", "weight", "encoding", "threshold", "decisions"],
)
def test_no_option_makes_a_message_long(tmp_path, capsys, option):
    path = tmp_path / "p.csv"
    X.assign(y=Y).to_csv(path, index=False)
    options = {"label": "g" if option == "score" else "y", "score": "s", "group": "g", option: LONG}
    arguments = [text for name, value in options.items() for text in (f"--{name}", value)]
    arguments += ["--json"] if option in ("threshold", "decisions") else []
    assert main(["audit", str(path), *arguments]) == 2
    assert len(capsys.readouterr().err) <= MOST
