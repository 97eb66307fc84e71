"""The verb estimate: what a run on the disk or on a cluster will cost; nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil import io
from graphveil.anonymizer import Anonymizer
from graphveil.errors import UsageError
from graphveil.places.address import Address, place_of
from graphveil.verbs.anonymize import Output, RunOptions, check_output, engine_of, spark_engine
from graphveil.verbs.anonymize_rows import no_file_here

if TYPE_CHECKING:
    from graphveil.on_disk.estimate import Estimate


def estimate_rows(
    method: Anonymizer[Any],
    source: Any,
    *,
    out: str | Path | Address | None = None,
    engine: Any = None,
    reading: io.BipartiteOptions | None = None,
) -> Estimate:
    r"""Return what `anonymize_rows` will cost; nothing is written, and nothing published.

    The rows are read once, up to some 500,000 users are drawn, and some of their chunks are
    clustered in this process: some seconds for a million rows.

    Parameters
    ----------
    method, source, engine, reading
        As of `anonymize_rows`.
    out
        Where the release is to lie, as of `anonymize_rows`: at an address executors of Spark write
        its parts, and each needs the memory of one. None for a folder.

    Returns
    -------
    Estimate
        Seconds of CPU, bytes in folders, bytes shuffled and memory, each as a range, and what they
        depend on.

    Raises
    ------
    UsageError, InputError, InfeasibleError
        As `anonymize_rows`, where that is seen without reading all rows twice.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from graphveil.engines import LocalEngine
    >>> from graphveil.methods import SuppressK
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "likes.csv")
    ...     _ = path.write_text("user,item\nann,tea\nbob,tea\ncyd,rye\ndan,rye\n")
    ...     cost = estimate_rows(SuppressK(k=2), path, engine=LocalEngine(jobs=1))
    >>> cost.rows, cost.chunks, cost.cpu_seconds.low < cost.cpu_seconds.high
    (4, 1, True)
    """
    from graphveil.engines.spark import SparkEngine  # noqa: PLC0415  heavy, and few need it
    from graphveil.on_disk.estimate import estimate_of_file, estimate_of_frame  # noqa: PLC0415

    options = reading or io.BipartiteOptions()
    at_address = out is not None and isinstance(place_of(out), Address)
    if isinstance(engine, SparkEngine):
        return estimate_of_frame(method, source, options, engine, at_address=at_address)
    if not isinstance(source, str | Path):
        raise no_file_here(source)
    return estimate_of_file(method, Path(source), options, engine)


def estimate_file(
    method: Anonymizer[Any],
    path: Path,
    output: Output,
    *,
    options: io.AnyOptions,
    run: RunOptions,
) -> Estimate:
    """Return what a run of the command line will cost.

    Parameters
    ----------
    method, path, output, options, run
        As of `anonymize_file`.

    Raises
    ------
    UsageError
        Where the run is in memory, or options do not go together.
    ReleaseError
        Where the release's folder exists and is not replaced.
    """
    from graphveil.engines import current  # noqa: PLC0415  heavy, as above

    check_output(method, output, run)
    if run.engine == "spark" or run.working is not None:
        engine, reading = spark_engine(options, run)
        return estimate_rows(method, str(path), out=output.folder, engine=engine, reading=reading)
    if not run.on_disk:
        raise UsageError(
            "--estimate is for rows on the disk or on a cluster. Add --on-disk, or --engine spark."
        )
    if run.nested_in is not None:
        raise UsageError("--nested-in needs all of the data in memory. Leave it out.")
    if not isinstance(options, io.BipartiteOptions):
        raise UsageError("--estimate takes users and items only. Leave it out.")
    with engine_of(method, path, run.jobs):
        return estimate_rows(method, path, engine=current(), reading=options)
