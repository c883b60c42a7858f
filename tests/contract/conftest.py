import re

import pytest
import sklearn
from contract_tools import make_data, make_way
from own_tests import expected_failure


@pytest.fixture(autouse=True)
def default_sklearn_config():
    """Turn metadata routing off before and after each test."""
    with sklearn.config_context(enable_metadata_routing=False):
        yield


@pytest.fixture
def routing(default_sklearn_config):
    sklearn.set_config(enable_metadata_routing=True)


@pytest.fixture
def data():
    """X without groups, labels y of 0 and 1, and the site of each row."""
    return make_data()


@pytest.fixture
def way(request, default_sklearn_config):
    """One of the ways to pass groups to a scorer, by name as an indirect parameter."""
    made = make_way(request.param)
    sklearn.set_config(enable_metadata_routing=made.is_routed)
    return made


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: of scikit-learn's tests")


@pytest.fixture(params=[42])
def global_random_seed(request):
    """The default seed of scikit-learn's conftest."""
    return request.param


def pytest_collection_modifyitems(config, items):
    """Deselect scikit-learn's tests that do not use our objects."""
    kept, left_out = [], []
    for item in items:
        reaches = getattr(getattr(item, "module", None), "REACHES", None)
        (kept if reaches is None or reaches(item) else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Require an expected failure and its message.

    The mark xfail would also require the failure, but pytest formats the traceback of each failure
    of the mark.
    """
    expected = expected_failure(item)
    if expected is None:
        return (yield)
    reason, message = expected
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:
        if re.search(message, str(error)):
            return None
        raise AssertionError(f"expected {message!r}; got {error}") from error
    raise AssertionError(f"the test passes, but must fail: {reason}")
