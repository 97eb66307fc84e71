"""A session of Spark Connect, which knows DataFrames and SQL alone, gives the same release."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from thorough import in_fuzz_alone

pytestmark = pytest.mark.spark
NEEDED = ("pyspark", "grpc", "grpc_status", "zstandard")
SCRIPT = """
import sys, warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

import graphveil as gv
from faulty_works import Failing
from graphveil.engines import LocalEngine, SparkEngine
from graphveil.engines.spark import SparkTables
from graphveil.core.errors import InputError, UsageError
from graphveil.io import BipartiteOptions
from graphveil.methods.smooth_k import Chunks, Greedy, SmoothK
from graphveil.scale.frame_source import FrameSource

warnings.simplefilter("ignore")
here = Path.cwd()
(here / "events").mkdir()
builder = SparkSession.builder.remote("local[2,4]")
for name, value in {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.eventLog.compress": "false",
    "spark.eventLog.dir": (here / "events").as_uri(),
    "spark.eventLog.enabled": "true",
    "spark.local.dir": str(here),
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.warehouse.dir": str(here / "warehouse"),
    "spark.ui.enabled": "false",
}.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
assert not hasattr(spark, "_jvm") and "connect" in type(spark).__module__

rng = np.random.default_rng(0)
rows = [np.flatnonzero(row).tolist() for row in rng.random((400, 12)) < 0.25]
rows = [[f"it'em {item:02d}" for item in row] for row in rows]
users = [f"person-{user}" for user in (rng.permutation(400) + 100).tolist()]
parquet.write_table(pa.table({"user": users, "items": pa.array(rows)}), "lists.parquet")
method = SmoothK(k=2, chunks=Chunks(rows=60), algorithm=Greedy(refine=None))
things = BipartiteOptions(items="things")
SEED = 918273645546372819
engine = SparkEngine(spark=spark, working=here / "working")


def files(name):
    places = [here / f"out-{name}", here / f"owner-{name}" / "linkage"]
    found = [path for place in places for path in sorted(place.rglob("*")) if path.is_file()]
    return [(path.name, path.read_bytes()) for path in found]


for name, source, one in (
    ("here", "lists.parquet", LocalEngine(jobs=1)),
    ("there", spark.read.parquet(f"file://{here}/lists.parquet").repartition(3), engine),
):
    gv.anonymize_rows(
        method,
        source,
        f"file://{here}/out-{name}",
        private=f"file://{here}/owner-{name}",
        engine=one,
        seed=SEED,
        reading=things,
    )
assert 3 == len(files("here")) and files("here") == files("there")
assert [] == list((here / "working").iterdir())
assert gv.estimate_rows(method, "lists.parquet", engine=engine, reading=things).rows == 400

digest = FrameSource.of("lists.parquet", spark).digest
assert digest == FrameSource.of("lists.parquet", spark).digest
for source, kind, message in (
    ("table:nope", InputError, "TABLE_OR_VIEW_NOT_FOUND"),
    ("table:a b", InputError, "PARSE_SYNTAX_ERROR"),
    (spark.readStream.format("rate").load(), UsageError, "is a stream"),
    (spark.sql("SELECT 1 AS user, array(-2) AS items"), InputError, "-2 is negative"),
):
    with pytest.raises(kind, match=message):
        gv.anonymize_rows(method, source, here / "no", engine=engine, reading=things)
tables = SparkTables(spark, here, "a run")
with pytest.raises(RuntimeError, match="^doing it: ValueError: chunk 7 has no rows$"):
    failing = tables.map(spark.range(3), Failing("ours"), pa.schema([("id", pa.int64())]))
    tables.kept(failing, "failed", "doing it")
spark.stop()
logged = [path.read_bytes() for path in (here / "events").rglob("*") if path.is_file()]
assert any(b"SparkListenerConnectOperationStarted" in content for content in logged)
for secret in (str(SEED), f"{SEED:x}", "Randomness", "person-", "it'em"):
    assert not any(secret.encode() in content for content in logged), secret
print("all alike")
"""


@pytest.mark.thorough
@in_fuzz_alone
@pytest.mark.timeout(600)
def test_a_session_of_connect_gives_the_release_of_one_machine(tmp_path):
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing or shutil.which("java") is None:
        pytest.skip(f"{', '.join(missing) or 'Java'} is missing: install pyspark[connect]")
    paths = [str(Path(__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYSPARK_PYTHON": sys.executable,
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert done.stdout.endswith("all alike\n"), done.stderr
