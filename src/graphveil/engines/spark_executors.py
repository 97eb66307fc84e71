"""Whether executors would do what this process would do, and share its folder."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from graphveil._version import __version__
from graphveil.engines.spark_errors import spoken
from graphveil.errors import ResourceError, UsageError

PROBES = 8
_PROBE, _FAILED = ".graphveil-probe-", "failed: "


def check_executors(spark: Any, working: Path | None = None) -> None:
    """Refuse executors that would not do what this process would do.

    Parameters
    ----------
    spark
        The session.
    working
        The folder that they and this process are to share; None where there is none.

    Raises
    ------
    UsageError
        Where they lack graphveil, or have another version, Python, pyarrow, numba or architecture.
    ResourceError
        Where this process or they cannot write the folder, or it is not the same one.
    """
    here = equipment()
    with _probed(working) as probe, spoken("looking at executors"):
        work = _Equipped(probe)
        probes = spark.range(PROBES, numPartitions=PROBES).mapInArrow(work, "has STRING")
        answers = {row[0] for row in probes.distinct().collect()}
    failed = sorted(text for text in answers if text.startswith(_FAILED))
    if failed:
        raise ResourceError(
            f"executors {failed[0].removeprefix(_FAILED)}. Name a folder that this process and "
            "executors write under the same path."
        )
    others = answers - {here}
    if others:
        raise UsageError(
            f"executors have {'; '.join(sorted(others))}, and this process has {here}. Install the "
            "same on both."
        )


def equipment() -> str:
    """Return what decides on the bytes that a work makes: versions, and the architecture.

    Examples
    --------
    >>> equipment().partition(",")[0] == f"graphveil {__version__}"
    True
    """
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    libraries = ", ".join(f"{name} {version(name)}" for name in ("pyarrow", "numpy", "numba"))
    return f"graphveil {__version__}, {python}, {libraries}, {platform.machine()}"


@contextmanager
def _probed(working: Path | None) -> Iterator[str | None]:
    """Give a folder under a working folder, as a run makes it, for executors to write.

    Raises
    ------
    ResourceError
        Where this process cannot write there.
    """
    if working is None:
        yield None
        return
    try:
        working.mkdir(parents=True, exist_ok=True)
        name = tempfile.mkdtemp(prefix=_PROBE, dir=working.absolute())
    except OSError as error:
        raise ResourceError(
            f"this process cannot write {working} ({error.strerror}). Choose another place."
        ) from error
    try:
        yield name
    finally:
        shutil.rmtree(name, ignore_errors=True)


@dataclass(frozen=True)
class _Equipped:
    """Says what an executor has, or why it does not share a folder of the driver's."""

    probe: str | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one row for a partition."""
        for _ in batches:
            pass
        failed = None if self.probe is None else _not_shared(Path(self.probe))
        yield pa.RecordBatch.from_arrays([[failed or equipment()]], names=["has"])


def _not_shared(probe: Path) -> str | None:
    """Return why this process does not share a folder; None where it does."""
    if not probe.is_dir():
        return f"{_FAILED}do not see what this process writes into {probe.parent}"
    try:
        tempfile.mkdtemp(dir=probe)
    except OSError as error:
        return f"{_FAILED}cannot write what this process makes in {probe.parent} ({error.strerror})"
    return None
