"""What is said of Spark that cannot run rows, or gave them up: one line, without a session."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType, SimpleNamespace

import pytest

from graphveil.cli import run as command_line
from graphveil.core.errors import ReleaseError, ResourceError, UsageError
from graphveil.core.warnings import DiskSpillWarning
from graphveil.engines import SparkEngine
from graphveil.engines import spark as executors
from graphveil.engines.spark import SparkTables, translated_errors
from graphveil.io import BipartiteOptions
from graphveil.methods.smooth_k import SmoothK
from graphveil.verbs.anonymize import anonymize_rows
from odd_engines import Session

FLAWS = [
    {
        "name": "executors may have another processor",
        "means": "Clusters are decided by arithmetic that differs between machines: a work that "
        "runs again gives other rows, and some are lost here and repeated there.",
        "file": "src/graphveil/engines/spark.py",
        "old": ", {libraries}, {platform.machine()}",
        "new": ", {libraries}",
    },
    {
        "name": "nothing is said of disks that are not encrypted",
        "means": "Rows of people lie readable on disks of a cluster, and the owner is not told.",
        "file": "src/graphveil/engines/spark.py",
        "old": 'off = [] if on_disks == "true" else',
        "new": "off = [] if on_disks else",
    },
    {
        "name": "a stack of the JVM is taken for one of Python",
        "means": "A full disk, or rows that are gone, is called a bug of ours where the session "
        "shows what the JVM says.",
        "file": "src/graphveil/engines/spark.py",
        "old": "(?!(?:com|java|javax|org|py4j|scala|sun)\\.)",
        "new": "",
    },
]


def error_of_spark(text):
    return type("PySparkException", (Exception,), {"__module__": "pyspark.errors"})(text)


def words(tmp_path, **options):
    given = {"working": tmp_path / "run", "out": tmp_path / "out", **options}
    flags = [f"--{name}={value}" for name, value in given.items()]
    (tmp_path / "lists.parquet").touch()
    path = str(tmp_path / "lists.parquet")
    return ["anonymize", "smooth-k", path, "--k=2", "--items=things", "--engine=spark", *flags]


def said_by(capsys):
    [said] = [line for line in capsys.readouterr().err.splitlines() if "error: " in line]
    return said.partition("error: ")[2]


# no session


def test_without_pyspark_the_extra_is_named(tmp_path, monkeypatch, capsys):
    for name in ("pyspark", "pyspark.errors", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    assert 2 == command_line(words(tmp_path))
    assert said_by(capsys) == "pyspark is missing. Install graphveil[spark]."
    assert ["lists.parquet"] == [path.name for path in tmp_path.iterdir()]


def test_without_java_its_version_is_named(tmp_path, monkeypatch, capsys):
    class NoJava:
        def getOrCreate(self):  # noqa: N802  as in Spark
            raise error_of_spark("[JAVA_GATEWAY_EXITED] Java gateway process exited.\n\tat x.y(Z)")

    parts = {
        "pyspark": {},
        "pyspark.errors": {"PySparkException": type(error_of_spark("")).__base__},
        "pyspark.sql": {"SparkSession": SimpleNamespace(builder=NoJava())},
    }
    for name, values in parts.items():
        module = ModuleType(name)
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, name, module)
    assert 2 == command_line(words(tmp_path))
    assert said_by(capsys) == (
        "Spark does not start: [JAVA_GATEWAY_EXITED] Java gateway process "
        "exited. Install Java 17 and set JAVA_HOME."
    )
    assert ["lists.parquet"] == [path.name for path in tmp_path.iterdir()]


def test_a_target_that_exists_is_refused_before_the_session_is_asked(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letters.txt").write_text("mine")
    engine = SparkEngine(spark=SimpleNamespace(version="4.1.0"), working=tmp_path / "run")
    with pytest.raises(ReleaseError, match="out already exists"):
        anonymize_rows(
            SmoothK(k=2), None, tmp_path / "out", engine=engine, reading=BipartiteOptions()
        )
    assert ["out"] == [path.name for path in tmp_path.iterdir()]


# executors


OTHERS = {
    "graphveil": ("__version__", "99.0"),
    "Python": ("sys", SimpleNamespace(version_info=SimpleNamespace(major=3, minor=99))),
    "pyarrow": ("version", lambda name: "99.0" if name == "pyarrow" else "1.0"),
    "numpy": ("version", lambda name: "99.0" if name == "numpy" else "1.0"),
    "numba": ("version", lambda name: "99.0" if name == "numba" else "1.0"),
    "processor": ("platform", SimpleNamespace(machine=lambda: "aarch65")),
}


@pytest.mark.parametrize("what", OTHERS)
def test_executors_that_would_make_other_bytes_are_refused(monkeypatch, what):
    monkeypatch.setattr(executors, "version", lambda _: "1.0")
    executors.check_executors(Session())
    name, value = OTHERS[what]
    session = Session(lambda: monkeypatch.setattr(executors, name, value))
    with pytest.raises(UsageError, match=r"^executors have .*, but this process has .*on both\.$"):
        executors.check_executors(session)


DISKS, BETWEEN = "spark.io.encryption.enabled", "spark.network.crypto.enabled"
SETTINGS = {
    "a laptop": ({"spark.master": "local[4]"}, [DISKS]),
    "a laptop that encrypts": ({"spark.master": "local", DISKS: "true"}, []),
    "a cluster": ({"spark.master": "yarn"}, [DISKS, BETWEEN]),
    "a cluster that encrypts disks": ({"spark.master": "yarn", DISKS: "true"}, [BETWEEN]),
    "a cluster that encrypts all": ({DISKS: "true", BETWEEN: "true"}, []),
    "a cluster with certificates": ({DISKS: "true", "spark.ssl.rpc.enabled": "true"}, []),
    "a session that shows none": (None, []),
}


@pytest.mark.parametrize("what", SETTINGS)
def test_the_owner_is_told_of_rows_that_spark_does_not_encrypt(what):
    given, off = SETTINGS[what]

    def get(name, default):
        if given is None:
            raise error_of_spark("[CONFIG_NOT_AVAILABLE]")
        return given.get(name, default)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        executors.tell_of_spills(SimpleNamespace(conf=SimpleNamespace(get=get)))
    assert [DiskSpillWarning] * bool(off) == [one.category for one in caught]
    said = " ".join(str(one.message) for one in caught)
    assert off == [name for name in (DISKS, BETWEEN) if name in said]


# what Spark gives up


JVM = "\tat org.apache.spark.Some.thing(Some.scala:7)"
SHOWN = f"\n\nJVM stacktrace:\norg.apache.spark.SparkException: Job aborted.\n{JVM}"
CALLING = "An error occurred while calling o7.parquet.\n: org.apache.spark.SparkException:"
CAUSED = "Caused by:"
PYTHON = "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File x"
GIVEN_UP = {
    "no graphveil": (
        f"{PYTHON}\nModuleNotFoundError: No module named 'graphveil'\n{JVM}",
        UsageError,
        (
            "graphveil is not installed on the executors. Install it there, in the version of this "
            "process."
        ),
    ),
    "a quota": (
        f"{PYTHON}\nOSError: [Errno 122] Disk quota exceeded\n{JVM}",
        ResourceError,
        "Spark failed while clustering: OSError: [Errno 122] Disk quota exceeded. Fix the cause ",
    ),
    "a full disk of the JVM": (
        f"{CALLING} Job aborted.\n{JVM}\n{CAUSED} java.io.IOException: No space left\n{JVM}",
        ResourceError,
        "Spark failed while clustering: Job aborted; No space left. Fix the cause ",
    ),
    "credentials": (
        f"Job aborted.{SHOWN}\n{CAUSED} com.amazonaws.S3Exception: ExpiredToken: it ended\n{JVM}",
        ResourceError,
        "Spark failed while clustering: Job aborted; ExpiredToken: it ended. Fix the cause ",
    ),
    "an error of ours": (
        f"{PYTHON}\nValueError: chunk 7 has no rows\n{JVM}{SHOWN}",
        RuntimeError,
        "clustering: ValueError: chunk 7 has no rows",
    ),
}


@pytest.mark.parametrize("what", GIVEN_UP)
def test_what_spark_gives_up_is_one_line_with_the_stage_and_no_java(what):
    text, kind, says = GIVEN_UP[what]
    with pytest.raises(kind) as caught, translated_errors("clustering"):
        raise error_of_spark(text)
    assert type(caught.value) is kind
    assert str(caught.value).startswith(says)
    for java in ("\n", "org.apache", "com.amazonaws", "java."):
        assert java not in str(caught.value)
    with pytest.raises(ValueError, match="ours"), translated_errors("clustering"):
        raise ValueError("ours")


GONE = {
    "the folder": "[PATH_NOT_FOUND] Path does not exist: file:/run/rows.",
    "its files": "[UNABLE_TO_INFER_SCHEMA] Unable to infer schema for Parquet.",
}


@pytest.mark.parametrize("what", [*GONE, "what nobody may read"])
def test_rows_that_were_kept_and_are_gone_are_one_line(tmp_path, what):
    said = GONE.get(what, "[FAILED] Access denied.")
    text = f"{said}\n\nJVM stacktrace:\norg.apache.spark.sql.AnalysisException: {said}\n{JVM}"

    def parquet(_):
        raise error_of_spark(text)

    tables = SparkTables(SimpleNamespace(read=SimpleNamespace(parquet=parquet)), tmp_path, "a run")
    (tmp_path / "rows.done.json").write_bytes(tables._note("rows"))
    says = (
        f"^{tmp_path} no longer contains the rows that the unfinished run kept there"
        if what in GONE
        else (r"^Spark failed while reading rows: \[FAILED\] Access denied")
    )
    with pytest.raises(ResourceError, match=says) as caught:
        tables.kept(None, "rows", "keeping")
    assert "\n" not in str(caught.value)


def test_rows_that_lie_there_without_a_note_are_written_again(tmp_path):
    written = []
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "part-0.parquet").write_text("torn")
    mode = lambda how: SimpleNamespace(parquet=lambda place: written.append((how, place)))  # noqa: E731  short
    frame = SimpleNamespace(write=SimpleNamespace(mode=mode))
    spark = SimpleNamespace(read=SimpleNamespace(parquet=lambda place: place))
    SparkTables(spark, tmp_path, "a run").kept(frame, "rows", "keeping")
    assert [("overwrite", f"file://{tmp_path}/rows")] == written
    SparkTables(spark, tmp_path, "a run").kept(frame, "rows", "keeping")
    assert 1 == len(written)
