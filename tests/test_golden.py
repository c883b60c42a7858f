"""Numbers of every public function on twenty data sets; see `golden.py`."""

import golden


def test_numbers_equal_the_record():
    lines = golden.differences(golden.read(), golden.computed())
    assert not lines, "\n".join(lines[:20])


def test_exceptions_name_numbers_of_the_record():
    names = list(golden.flat(golden.read()["numbers"]))
    for pattern, reason in golden.CHANGED.items():
        assert golden.fnmatch.filter(names, pattern), pattern
        assert reason
