"""Options of the test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz-seconds",
        type=float,
        default=0.0,
        help="draw new random cases in tests/fuzz for as long as this in each worker",
    )


@pytest.fixture
def fuzz_seconds(request: pytest.FixtureRequest) -> float:
    return request.config.getoption("--fuzz-seconds")
