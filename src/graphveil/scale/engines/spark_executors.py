"""Whether executors would do what this process would do, and share its folder."""

from __future__ import annotations

import platform
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from graphveil.core.errors import GraphveilError, ResourceError, UsageError, warn
from graphveil.core.storage import Address, Place
from graphveil.core.version import __version__
from graphveil.core.warnings import DiskSpillWarning
from graphveil.scale.engines.spark import is_of_spark, translated_errors, written_at

PROBES = 8
_PROBE, _FAILED = ".graphveil-probe-", "failed: "
_ON_DISKS = "spark.io.encryption.enabled"
_BETWEEN = "spark.network.crypto.enabled", "spark.ssl.rpc.enabled"
"""The settings of Spark that encrypt what it spills, and, one or the other, what it sends."""


def check_executors(
    spark: Any, working: Place | None = None, addresses: tuple[Address, ...] = ()
) -> None:
    """Refuse executors that would not do what this process would do.

    `spark`: the session; `working`: the folder or address that they and this process are to share;
    None where there is none; `addresses`: where they are to write as this process does. Raises
    `UsageError` where they lack graphveil, or have another version, Python, pyarrow, numba or
    architecture. `ResourceError` where this process or they cannot write the folder or an address,
    or it is not the same one.
    """
    here = equipment()
    if isinstance(working, Address):
        _check_writer(spark, working)
        addresses, working = (*addresses, working), None
    with ExitStack() as stack:
        probe = stack.enter_context(_probed(working))
        seen = tuple((one, stack.enter_context(one.probed())) for one in addresses)
        stack.enter_context(translated_errors("checking executors"))
        work = _Equipped(probe, seen)
        probes = spark.range(PROBES, numPartitions=PROBES).mapInArrow(work, "has STRING")
        answers = {row[0] for row in probes.distinct().collect()}
    failed = sorted(text for text in answers if text.startswith(_FAILED))
    if failed:
        raise ResourceError(
            f"executors {failed[0].removeprefix(_FAILED)}. Name a place that this process and "
            "the executors can write under the same name."
        )
    others = answers - {here}
    if others:
        raise UsageError(
            f"executors have {'; '.join(sorted(others))}, but this process has {here}. Install "
            "the same on both."
        )


def tell_of_spills(spark: Any) -> None:
    """Tell the owner where Spark keeps or sends rows of people without encryption.

    Nothing is said of settings that the session does not show.

    Warns `DiskSpillWarning` where what it spills, or sends between machines, is not encrypted.
    """
    try:
        alone = spark.conf.get("spark.master", "").startswith("local")
        on_disks, *between = (spark.conf.get(one, "false") for one in (_ON_DISKS, *_BETWEEN))
    except Exception as error:
        if not is_of_spark(error):
            raise
        return
    off = [] if on_disks == "true" else [(_ON_DISKS, "what Spark spills to its disks")]
    if not alone and "true" not in between:
        off.append((_BETWEEN[0], "what it sends between machines"))
    if off:
        settings, what = (" and ".join(words) for words in zip(*off, strict=True))
        warn(
            f"{what} contains rows of people, not encrypted by Spark. Start the session with "
            f"{settings}, unless nobody else can access these machines or their disks are "
            "encrypted",
            DiskSpillWarning,
        )


def _check_writer(spark: Any, working: Address) -> None:
    """Refuse an address that Spark's own writer does not reach, or where it is another one.

    Raises `ResourceError` where it does not, or what it writes is not seen by this process.
    """
    probe = working / f"{_PROBE}{secrets.token_hex(6)}"
    with translated_errors(f"writing to {working}"):
        spark.range(1).write.parquet(written_at(probe))
    try:
        if not probe.is_dir():
            raise ResourceError(
                f"this process cannot see what Spark writes to {working}. Name a place that "
                "both can access under the same name."
            )
    finally:
        with suppress(GraphveilError):
            probe.delete_all()


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

    Raises `ResourceError` where this process cannot write there.
    """
    if working is None:
        yield None
        return
    try:
        working.mkdir(parents=True, exist_ok=True)
        name = tempfile.mkdtemp(prefix=_PROBE, dir=working.absolute())
    except OSError as error:
        raise ResourceError(
            f"this process cannot write {working} ({error.strerror}). Choose a different place."
        ) from error
    try:
        yield name
    finally:
        shutil.rmtree(name, ignore_errors=True)


@dataclass(frozen=True)
class _Equipped:
    """Says what an executor has, or why it does not share the places of the driver's."""

    probe: str | None = None
    seen: tuple[tuple[Address, str], ...] = ()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one row for a partition."""
        for _ in batches:
            pass
        failed = None if self.probe is None else _not_shared(Path(self.probe))
        for address, name in self.seen:
            failed = failed or _not_shared_at(address, name)
        yield pa.RecordBatch.from_arrays([[failed or equipment()]], names=["has"])


def _not_shared_at(address: Address, name: str) -> str | None:
    """Return why this process does not share an address; None where it does."""
    try:
        if not (address / name).is_file():
            return f"{_FAILED}cannot see what this process writes to {address}"
        address.probe()
    except GraphveilError as error:
        return f"{_FAILED}have no shared place: {str(error).partition('. ')[0]}"
    return None


def _not_shared(probe: Path) -> str | None:
    """Return why this process does not share a folder; None where it does."""
    if not probe.is_dir():
        return f"{_FAILED}cannot see what this process writes to {probe.parent}"
    try:
        tempfile.mkdtemp(dir=probe)
    except OSError as error:
        return (
            f"{_FAILED}cannot write to what this process creates in {probe.parent} "
            f"({error.strerror})"
        )
    return None
