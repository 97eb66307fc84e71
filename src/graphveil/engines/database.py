"""A DuckDB database for one job: in memory, spilling into a folder of ours, without network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from graphveil.errors import ResourceError

BATCH_ROWS = 1 << 16
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
    config: dict[str, Any] = {
        "threads": max(1, min(threads, memory_mib // THREAD_MIB)),
        "memory_limit": f"{memory_mib}MiB",
        "temp_directory": str(spill),
        "preserve_insertion_order": "true",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    connection = duckdb.connect(":memory:", config=config)
    try:
        yield connection
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        raise ResourceError(
            f"sorting needs more than {memory_mib} MiB of memory and the free space of the disk. "
            "Free some, or give the engine more memory."
        ) from error
    finally:
        connection.close()
        shutil.rmtree(spill, ignore_errors=True)


def stream(relation: duckdb.DuckDBPyRelation) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a relation, some at a time."""
    older = not hasattr(relation, "to_arrow_reader")
    yield from (relation.fetch_arrow_reader if older else relation.to_arrow_reader)(BATCH_ROWS)
