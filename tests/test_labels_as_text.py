import pytest

from skfedauc import _words


@pytest.mark.parametrize(
    ("items", "expected"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_enumerated(items, expected):
    assert _words.enumerated(items) == expected
