"""One Spark session for all tests; they are skipped where Java or pyspark is missing."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

EVENTS = "events"


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Return a session of two threads that logs its events into a folder."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is missing: install graphveil[spark]")
    if shutil.which("java") is None:
        pytest.skip("Java is missing: Spark needs 17 or later")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    folder = tmp_path_factory.mktemp("spark")
    (folder / EVENTS).mkdir()
    builder = sql.SparkSession.builder.master("local[2,3]")  # works that fail run again
    for name, value in {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # quick to start, not to run
        "spark.driver.memory": "700m",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / EVENTS).as_uri(),
        "spark.eventLog.enabled": "true",
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    with pytest.MonkeyPatch.context() as environment:  # executors import what tests import
        environment.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.events = folder / EVENTS
    yield session
    session.stop()
