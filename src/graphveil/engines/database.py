"""A DuckDB database for one job: in memory, spilling into a folder of ours, without network."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from graphveil.errors import ResourceError
from graphveil.io.parquet_files import BATCH_ROWS, batches_in, schema_of
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import duckdb
else:
    duckdb = lazy_module("duckdb")

_PLAIN = re.compile(r"[\w/. +@-]*")
"""Names of folders that mean nothing but themselves."""

THREAD_MIB = 128
"""The memory that a thread of a sort needs to get on."""


@contextmanager
def database(folder: Path, *, memory_mib: int, threads: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give an empty database that spills into this folder; nothing of it stays.

    Raises
    ------
    ResourceError
        Where memory or disk run out.
    """
    spill = folder / "spill"
    with _plainly_named(spill) as plain:
        connection = duckdb.connect(":memory:", config=_config(plain, memory_mib, threads))
        try:
            _without_bar(connection)
            yield connection
        except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
            raise ResourceError(
                f"sorting needs more than {memory_mib} MiB of memory and the free space of the "
                "disk. Free some, give the engine more memory, or install DuckDB 2.0 or newer, "
                "which counts on the disk as well."
            ) from error
        finally:
            connection.close()
            shutil.rmtree(spill, ignore_errors=True)


def _without_bar(connection: duckdb.DuckDBPyConnection) -> None:
    """Let no query print a bar of DuckDB's own.

    In a notebook that lacks what draws one, DuckDB prints none and refuses the setting.
    """
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")


def _config(spill: Path, memory_mib: int, threads: int) -> dict[str, Any]:
    return {
        "threads": max(1, min(threads, memory_mib // THREAD_MIB)),
        "memory_limit": f"{memory_mib}MiB",
        "temp_directory": str(spill),
        "preserve_insertion_order": "true",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }


@contextmanager
def _plainly_named(folder: Path) -> Iterator[Path]:
    r"""Give a path to a folder that the database takes for nothing else: its own, or a link.

    Of ``a\b`` the database would make ``a/b``.

    Raises
    ------
    ResourceError
        Where the folder for temporary files has no plain name either.
    """
    path = Path(os.path.abspath(folder))  # noqa: PTH100  keeps links
    if os.sep == "\\" or _PLAIN.fullmatch(str(path)):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="graphveil-") as near:
        if not _PLAIN.fullmatch(near):
            raise ResourceError(
                f"neither {folder} nor the folder for temporary files, {tempfile.gettempdir()}, "
                "has a plain name, as sorting needs it. Set TMPDIR to one of letters and digits."
            )
        path.mkdir(mode=0o700, exist_ok=True)
        link = Path(near, "spill")
        link.symlink_to(path)
        yield link


def rows_of(
    db: duckdb.DuckDBPyConnection, paths: Sequence[Path], columns: Sequence[str]
) -> duckdb.DuckDBPyRelation:
    """Return columns of the rows of Parquet files, one file after the other, to be read once.

    The files are opened here: their names never reach the database, which takes some for patterns.
    """
    kept = [schema_of(paths[0]).field(name) for name in columns]

    def batches() -> Iterator[pa.RecordBatch]:
        for path in paths:
            for batch in batches_in(path, columns):
                yield batch.select(list(columns))

    return db.from_arrow(pa.RecordBatchReader.from_batches(pa.schema(kept), batches()))


def identifier(name: str) -> str:
    """Return the name of a column as SQL spells it.

    Examples
    --------
    >>> print(identifier('5"-disk'))
    "5""-disk"
    """
    return '"' + name.replace('"', '""') + '"'


def stream(relation: duckdb.DuckDBPyRelation) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a relation, some at a time."""
    older = not hasattr(relation, "to_arrow_reader")
    yield from (relation.fetch_arrow_reader if older else relation.to_arrow_reader)(BATCH_ROWS)
