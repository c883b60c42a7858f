import pytest
import sklearn
from contract_tools import make_data, make_way
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Small models and parallel tests: threads of their own would only wait for cores."""
    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True)
def default_sklearn_config():
    """Metadata routing is off unless a test turns it on, and off again after it."""
    with sklearn.config_context(enable_metadata_routing=False):
        yield


@pytest.fixture
def routing(default_sklearn_config):
    sklearn.set_config(enable_metadata_routing=True)


@pytest.fixture
def data():
    """X without groups, y of 0 and 1, and the site of each row."""
    return make_data()


@pytest.fixture
def way(request, default_sklearn_config):
    """One of the ways in which groups reach a scorer; name it by indirect parameters."""
    made = make_way(request.param)
    sklearn.set_config(enable_metadata_routing=made.is_routed)
    return made
