"""Numbers of every public function on twenty data sets; see `golden.py`."""

import golden


def test_numbers_equal_the_record():
    lines = golden.differences(golden.read(), golden.computed())
    assert not lines, "\n".join(lines[:20])


def test_exceptions_have_reasons_and_are_needed():
    """Every pattern matches numbers of the record, and says why they may differ."""
    names = list(golden.flat(golden.read()))
    reasons = golden.CHANGED | {key: reason for key, (_, reason) in golden.LOOSER.items()}
    for pattern, reason in reasons.items():
        assert golden.fnmatch.filter(names, pattern), pattern
        assert reason
