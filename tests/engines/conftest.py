"""Engines, each started at most once by a test process.

The packages must be installed: ``pip install -e ".[test,engines,privacy]"``. A test is skipped only
if a program that pip does not install is missing: Java for Spark, or the server of PostgreSQL.
"""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

# Workers on Spark and Ray must use this Python interpreter, with the same packages.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

# Ignore warnings about the engines' own modules, which this project cannot repair.
WARNED = [
    "ignore:::pyspark",
    "ignore:::distributed",
    "ignore:::dask",
    "ignore:::ray",
    "ignore:::ibis",
    "ignore:::sqlframe",
    "ignore:::sqlglot",
    "ignore:::narwhals",
    # Python attributes the warning to the calling line
    "ignore:Dask support is moving out of Narwhals:FutureWarning",
    # Ray drops the handles of processes that Ray ends; the handles are collected in a later test.
    "ignore:subprocess .* is still running:ResourceWarning",
]


def pytest_configure(config):
    for line in WARNED:
        config.addinivalue_line("filterwarnings", line)
    config.addinivalue_line("markers", "spark: starts Spark")


def pytest_collection_modifyitems(items):
    for item in items:
        if "spark" in item.fixturenames:
            item.add_marker("spark")


@pytest.fixture(scope="session")
def spark():
    """A local session with two cores; a task may fail twice before its job fails."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2, 3]")
        .config("spark.ui.enabled", False)
        .config("spark.sql.shuffle.partitions", 2)
        # Compiling a query takes longer than running it on a few rows.
        .config("spark.sql.codegen.wholeStage", False)
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.timestampType", "TIMESTAMP_NTZ")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def dask_client():
    """Yield two workers in separate processes."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            host="127.0.0.1",
            silence_logs=60,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def ray_backend():
    """Yield the name of joblib's backend for a local Ray with two workers."""
    import ray
    from ray.util.joblib import register_ray

    # Workers need the functions of the test modules.
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, folders))}},
    )
    register_ray()
    yield "ray"
    ray.shutdown()


def _postgres_programs():
    """Return the folder of initdb and postgres, or None."""
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((f for f in folders if (f / "initdb").is_file()), None)


@pytest.fixture(scope="session")
def postgres():
    """Yield an Ibis connection to a temporary server on loopback."""
    programs = _postgres_programs()
    if programs is None:
        pytest.skip("needs initdb and postgres")
    import ibis
    import psycopg

    # The server refuses to run as root.
    user = None
    if os.geteuid() == 0:
        known = {entry.pw_name for entry in pwd.getpwall()}
        user = next(name for name in ("postgres", "nobody") if name in known)
    folder = tempfile.mkdtemp(prefix="skfedauc-postgres-")
    if user is not None:
        shutil.chown(folder, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = f"{folder}/data"
    settings = {"listen_addresses": "127.0.0.1", "fsync": "off", "unix_socket_directories": ""}
    try:
        subprocess.run(
            [programs / "initdb", "-D", data, "-U", "skfedauc", "-A", "trust", "-E", "UTF8"],
            check=True,
            capture_output=True,
            cwd=folder,
            user=user,
        )
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-p", str(port)]
            + [part for item in settings.items() for part in ("-c", "=".join(item))],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            user=user,
        )
        try:
            address = {"host": "127.0.0.1", "port": port, "user": "skfedauc"}
            until = time.monotonic() + 600
            while True:
                try:
                    psycopg.connect(**address, dbname="postgres").close()
                    break
                except psycopg.OperationalError:
                    assert server.poll() is None
                    assert time.monotonic() < until
                    time.sleep(0.1)
            connection = ibis.postgres.connect(**address, database="postgres")
            yield connection
            connection.disconnect()
        finally:
            server.terminate()
            server.wait(timeout=600)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
