"""The verb anonymize for rows that are larger than memory: on the disk or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphveil import io
from graphveil.anonymizer import Anonymizer
from graphveil.errors import UsageError, option
from graphveil.places.address import Address, Place


def anonymize_rows(  # noqa: PLR0913  one argument for each flag of the command line
    method: Anonymizer[Any],
    source: Any,
    out: str | Path | Address,
    *,
    engine: Any = None,
    seed: int | None = None,
    format: str | None = None,  # noqa: A002  the word users know from the command line
    force: bool = False,
    linkage: bool = True,
    reading: io.BipartiteOptions | None = None,
    parts: bool | None = None,
    private: str | Path | Address | None = None,
) -> Place:
    r"""Write the release of rows on the disk or on a cluster; return its folder or address.

    The release is the same on every engine: with a seed, byte for byte.

    Parameters
    ----------
    method
        One that runs in chunks: `SmoothK` or `SuppressK`.
    source
        A file of users and items; with Spark a DataFrame, a file or folder of Parquet, or
        ``table:NAME`` of the session's catalog.
    out
        The release folder, on this machine; its private sibling is ``out.private``, unless
        `private` is given. Or an address, such as ``s3a://bucket/lists-k8``, of ``s3a``, ``gs``,
        ``abfss``, ``hdfs``, ``file`` or ``dbfs:/Volumes``: there it comes in parts, which
        executors of Spark write, and needs `private`.
    engine
        `graphveil.engines.LocalEngine` or `graphveil.engines.SparkEngine`; this machine without it.
    seed
        None draws from the operating system's entropy. A seed is a secret of the owner.
    format
        The format of the released data; without it the one that came in, with Spark Parquet.
    force, linkage
        As in `Release.write`.
    reading
        How the rows are read.
    parts
        Whether Parquet comes in parts of 1,048,576 users; without it where there are more.
    private
        The folder of the private record and the linkage, where they shall not lie beside the
        release; the unfinished run, with the root of its randomness, is kept beside it. Where the
        release has an address, this may be one, too, and the unfinished run is kept in the current
        folder.

    Raises
    ------
    UsageError
        Where the method, its parameters or the options need all data in memory, or folders lie in
        one another.
    InputError
        Where the rows cannot be read.
    InfeasibleError
        Where there are fewer than k.
    ReleaseError
        Where the folder exists, or something lies at the address, and is not replaced.
    ResourceError
        Where memory, disk, processes or executors fail: the same call goes on from there.

    Warns
    -----
    GraphveilWarning
        What the owner should know before publishing.

    Examples
    --------
    >>> import warnings
    >>> from tempfile import TemporaryDirectory
    >>> from graphveil.engines import LocalEngine
    >>> from graphveil.methods import SuppressK
    >>> from graphveil.release import read_release
    >>> with TemporaryDirectory() as folder, warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     path = Path(folder, "likes.csv")
    ...     _ = path.write_text("user,item\nann,tea\nbob,tea\ncyd,rye\ndan,rye\n")
    ...     out = anonymize_rows(
    ...         SuppressK(k=2), path, Path(folder, "out"), engine=LocalEngine(jobs=1)
    ...     )
    ...     read_release(out).data.n_entries
    4
    """
    from graphveil.engines.spark import SparkEngine  # noqa: PLC0415  heavy, as above
    from graphveil.on_disk import anonymize_file, anonymize_frame  # noqa: PLC0415  as above

    given: dict[str, Any] = {"seed": seed, "force": force, "linkage": linkage, "reading": reading}
    given |= {"parts": parts, "private": private}
    if isinstance(engine, SparkEngine):
        kind = format or "parquet"
        return anonymize_frame(method, source, out, engine=engine, format=kind, **given)
    if not isinstance(source, str | Path):
        raise no_file_here(source)
    return anonymize_file(method, source, out, engine=engine, format=format, **given)


def no_file_here(source: Any) -> UsageError:
    """Return the error of rows that are no file of this machine."""
    return UsageError(
        f"rows of type {type(source).__name__} are no file of this machine. Give the path of "
        f"one, or {option('engine', 'spark')}."
    )
