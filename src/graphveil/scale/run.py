"""A file larger than memory into a release folder, by chunks of rows on the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphveil.claims.digest import digest_of_file
from graphveil.claims.record import private_folder
from graphveil.core.errors import UsageError, option
from graphveil.core.progress import stage
from graphveil.core.storage import Address, Place, place_of
from graphveil.io import BipartiteOptions
from graphveil.io.options import recorded
from graphveil.methods.base import Anonymizer
from graphveil.release.addressed import check_place
from graphveil.release.files import format_that_came_in, release_format
from graphveil.release.staging import check_apart
from graphveil.scale.engines.engine import Engine, Tables
from graphveil.scale.engines.local import LocalEngine
from graphveil.scale.engines.spark import SparkEngine
from graphveil.scale.engines.spark_executors import check_executors, tell_of_spills
from graphveil.scale.frames import FrameSource
from graphveil.scale.intake import Facts, check_readable, intake
from graphveil.scale.parts import check_parts
from graphveil.scale.stages import Job, run_stages, runs_on_disk
from graphveil.scale.working import unfinished_beside


def anonymize_file(  # noqa: PLR0913  one argument for each flag of the command line
    method: Anonymizer[Any],
    path: str | Path,
    out: str | Path | Address,
    *,
    engine: Engine | None = None,
    seed: int | None = None,
    format: str | None = None,  # noqa: A002  the word users know from the command line
    force: bool = False,
    linkage: bool = True,
    reading: BipartiteOptions | None = None,
    warned: tuple[str, ...] = (),
    parts: bool | None = None,
    private: str | Path | Address | None = None,
) -> Place:
    r"""Anonymize a file that may be larger than memory, and return the release folder.

    The promise is that of the method in memory. Rows are put into chunks of ``chunk_rows``, each
    clustered by itself, and published under new ids in a new order; then the classes are counted
    again in the published file. Until it is done, a run keeps a private folder beside the release.
    After an interruption the same call goes on from there.

    Parameters
    ----------
    method
        One that runs on the disk: `SmoothK` or `SuppressK`. Without `chunks` these have 20,000
        rows each.
    path
        Two columns (csv, tsv, text, Parquet, Arrow), or Parquet or Arrow with a column of lists.
    out
        The release folder; its private sibling is ``out.private``, unless `private` is given. Or
        an address such as ``s3a://bucket/lists-k8``, which needs `private`.
    engine
        Where rows lie and chunks run; `LocalEngine` with a process a processor where not given.
        With processes, a script calls this under ``if __name__ == "__main__":``.
    seed
        None draws from the operating system's entropy. With a seed the same file gives the same
        release; a seed is a secret of the owner.
    format
        The format of the released data; the one that came in where not given.
    force, linkage
        As in `Release.write`. `force` also deletes what another unfinished run has left.
    reading
        How the file is read.
    warned
        What the owner was told before: it is not said again.
    parts
        Whether Parquet comes in parts of 1,048,576 users; without it where there are more.
    private
        The folder, or the address, of the record and the linkage, where they shall not lie beside
        the release. The unfinished run, with its root, is kept beside the folder; with an address
        in the current folder.

    Raises
    ------
    UsageError
        Where the method, its parameters or the options need all data in memory, or folders lie in
        one another.
    InputError
        Where the file cannot be read.
    InfeasibleError
        Where it has fewer than k rows.
    ReleaseError
        Where the folder exists and `force` is off, or others can write into the folder of the
        unfinished run.
    ResourceError
        Where memory, disk or processes fail.

    Warns
    -----
    GraphveilWarning
        What the owner should know before publishing; where an unfinished run is kept.

    Examples
    --------
    >>> import warnings
    >>> from tempfile import TemporaryDirectory
    >>> from graphveil.core.errors import GraphveilWarning
    >>> from graphveil.methods.smooth_k import Chunks, SuppressK
    >>> from graphveil.release import read_release
    >>> method = SuppressK(k=2, chunks=Chunks(rows=4))
    >>> with TemporaryDirectory() as folder, warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", GraphveilWarning)
    ...     path = Path(folder, "likes.csv")
    ...     _ = path.write_text("user,item\nann,tea\nbob,tea\ncyd,rye\ndan,rye\n")
    ...     release = anonymize_file(method, path, Path(folder, "out"), engine=LocalEngine(jobs=1))
    ...     read_release(release).data.n_entries
    4
    """
    target, options = place_of(out), reading or BipartiteOptions()
    owners = None if private is None else place_of(private)
    _check_places(target, owners, force=force)
    clustered = runs_on_disk(method)
    source = check_readable(Path(path), options)
    form = release_format(format or format_that_came_in(source.path, options.format), "bipartite")
    check_parts(parts, form, target)
    with stage(f"digesting {source.name}"):
        file_sha256 = digest_of_file(source.path)
    engine = engine or LocalEngine()

    def take(tables: Tables, folder: Path) -> Facts:
        return intake(source, options, folder, tables, engine.memory_mib)

    return run_stages(
        Job(
            method=clustered,
            target=target,
            form=form,
            source=file_sha256,
            origins=(file_sha256,),
            seed=seed,
            force=force,
            linkage=linkage,
            reading=recorded(options),
            parts=parts,
            private=owners,
        ),
        engine,
        take,
        warned=warned,
    )


def anonymize_frame(  # noqa: PLR0913  as above
    method: Anonymizer[Any],
    rows: Any,
    out: str | Path | Address,
    *,
    engine: SparkEngine,
    seed: int | None = None,
    format: str = "parquet",  # noqa: A002  as above
    force: bool = False,
    linkage: bool = True,
    reading: BipartiteOptions | None = None,
    warned: tuple[str, ...] = (),
    parts: bool | None = None,
    private: str | Path | Address | None = None,
) -> Place:
    """Anonymize rows on a cluster, and return the release folder.

    The release is that of `anonymize_file`, byte for byte. Rows come to this process some at a
    time, when the release is written.

    Parameters
    ----------
    method
        As of `anonymize_file`.
    rows
        A DataFrame, a file or folder of Parquet, or ``table:NAME`` of the session's catalog.
    out
        The release folder, on this machine; or an address, where executors write the parts.
    engine
        The session, and where rows lie meanwhile.
    seed, force, linkage, reading, warned, parts, private
        As of `anonymize_file`.
    format
        The format of the released data.

    Raises
    ------
    UsageError
        Where the method or the options need all data in memory, a file is no Parquet, or folders
        lie in one another.
    InputError, InfeasibleError, ReleaseError, ResourceError
        As of `anonymize_file`.
    """
    target, options = place_of(out), reading or BipartiteOptions()
    owners = None if private is None else place_of(private)
    _check_places(target, owners, force=force, working=engine.place)
    clustered = runs_on_disk(method)
    refuse_people(options)
    form = release_format(format, "bipartite")
    check_parts(parts, form, target)
    source = FrameSource.of(rows, engine.spark)
    addresses = tuple(place for place in (target, owners) if isinstance(place, Address))
    check_executors(engine.spark, engine.place, addresses)
    tell_of_spills(engine.spark)
    job = Job(
        method=clustered,
        target=target,
        form=form,
        source=source.digest,
        origins=source.origins,
        seed=seed,
        force=force,
        linkage=linkage,
        reading=recorded(options),
        parts=parts,
        private=owners,
    )
    return run_stages(job, engine, lambda tables, _: source.take(tables, options), warned=warned)


def _check_places(
    target: Place, private: Place | None, *, force: bool, working: Place | None = None
) -> None:
    """Refuse places that must not be written, or of which one lies in another."""
    check_place(target, force=force, private=private)
    places = {"out": target}
    if private is not None:
        places["private"] = private
    elif isinstance(target, Path):
        places["private"] = private_folder(target)
    if working is not None:
        places["working"] = working
    if isinstance(private, Address):
        places["the unfinished run, in the current folder"] = unfinished_beside(private)
    check_apart(places)


def refuse_people(options: BipartiteOptions) -> None:
    """Refuse items that are people on a cluster.

    Raises
    ------
    UsageError
        Where they are.
    """
    if options.items == "people":
        raise UsageError(
            "items that are people run on one machine: every entry needs the new id of its item. "
            f"Use {option('engine', 'local')}."
        )
