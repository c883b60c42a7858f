"""Numbers of every public function on twenty data sets; see `golden.py`."""

import golden
import pytest


@pytest.mark.parametrize("data", golden.DATA)
def test_numbers_equal_the_record(data):
    lines = golden.differences(golden.read(data), golden.computed(data))
    assert not lines, "\n".join(lines[:20])


def test_the_record_has_every_data_set():
    assert golden.read()["numbers"].keys() == golden.DATA.keys()


def test_exceptions_name_numbers_of_the_record():
    names = list(golden.flat(golden.read()["numbers"]))
    for pattern, reason in golden.CHANGED.items():
        assert golden.fnmatch.filter(names, pattern), pattern
        assert reason
