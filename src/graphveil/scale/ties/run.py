"""A file of ties larger than memory into a release folder, by neighbor lists on the disk.

From neighbor lists on the disk to the files of a release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.digest import digest_of_file, digest_of_graph
from graphveil.claims.ledger import Ledger
from graphveil.core.atomic import OWNER_ONLY, whole_file
from graphveil.core.errors import UsageError, option
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.version import __version__
from graphveil.core.warnings import warn_owner
from graphveil.data import Graph
from graphveil.data.ids import Ids
from graphveil.data.kinds import kind_of
from graphveil.data.origin import PublicLists, left_out_words
from graphveil.io import Format, GraphOptions
from graphveil.io.options import recorded
from graphveil.io.reading import source_of, warn_of_dropped
from graphveil.io.text.tie_blocks import tie_file
from graphveil.methods import METHODS
from graphveil.methods.base import Anonymizer, NewIds
from graphveil.release import Private
from graphveil.release.files import format_that_came_in, release_format
from graphveil.release.linkage import Linkage
from graphveil.release.publishing import (
    Publication,
    WriteOptions,
    forewarn,
    forewarn_of_others,
    publish,
)
from graphveil.release.staging import check_target
from graphveil.scale.columns import RowOrder
from graphveil.scale.ties.draft import NOISE, DraftOfTies, draft_of
from graphveil.scale.ties.lists import BUCKET_KEYS, Buckets
from graphveil.scale.ties.reading import TieReading
from graphveil.scale.ties.release import check_form, released_cuts, renumber, write_files
from graphveil.scale.working import fingerprint_of, kept_where_interrupted, opened

ORDER = "order.npy"


@dataclass(frozen=True)
class TieRelease:
    """The stages behind those of reading.

    Parameters
    ----------
    method
        The method.
    read
        What was read, and the working folder.
    """

    method: Anonymizer[Any]
    read: TieReading

    def draft(self, graph: Graph, ledger: Ledger | None) -> DraftOfTies:
        """Return what the method makes of the graph."""
        name = self.method.name
        with self.read.timed("anonymize"), stage(f"anonymizing with {name}"):
            return draft_of(self.method, graph, self.read.working, ledger)

    def written(self, public: Path, draft: DraftOfTies, form: Format) -> Publication:
        """Write the data files, and return what is said of them; refuse what breaks the promise.

        Raises
        ------
        RuntimeError
            Where degrees of the published file are not those that were planned.
        """
        n_nodes = int(self.read.labels.size)
        with self.read.timed("write"):
            new = self._new_ids(n_nodes)
            ids = new.of_the_input()
            cuts = released_cuts(n_nodes, draft.n_edges_expected, self.read.bucket_keys)
            with (
                stage("numbering anew"),
                Buckets(self.read.working.stage("publish"), cuts) as buckets,
            ):
                n_edges = renumber(draft.edges(), ids.astype(np.int32), buckets)
            files = write_files(public, buckets, n_nodes, n_edges, form)
        draft.check(files.degrees[ids])
        return Publication(
            described=files.described,
            guarantee=self.method.claimed(draft.guarantee, self.read.working.randomness),
            conditions=(*self.method.conditions, *draft.conditions),
            provenance=self.method.provenance,
            linkage=_linkage(self.read.labels, ids),
        )

    def _new_ids(self, n: int) -> NewIds:
        """Return the order of the release, which is drawn once."""
        path = self.read.working.folder / ORDER
        if path.is_file():
            return NewIds(np.load(path))
        order = self.read.working.randomness.permutation(n)
        look = RowOrder()
        look.add(order)
        look.check()
        with whole_file(path, mode=OWNER_ONLY) as part, part.open("wb") as file:
            np.save(file, order)
        return NewIds(order)


def _linkage(labels: Ids, released: NDArray[np.int64]) -> Iterator[Any]:
    """Yield who became whom, in the order of the original."""
    with stage("writing the linkage"):
        yield Linkage(labels, released).table()


def anonymize_ties(  # noqa: PLR0913  one argument for each flag of the command line
    method: Anonymizer[Any],
    path: str | Path,
    out: str | Path,
    *,
    seed: int | None = None,
    format: str | None = None,  # noqa: A002  the word users know from the command line
    force: bool = False,
    linkage: bool = True,
    reading: GraphOptions | None = None,
    ledger: Ledger | None = None,
    warned: tuple[str, ...] = (),
    bucket_keys: int = BUCKET_KEYS,
) -> Path:
    r"""Anonymize a file of ties that may be larger than memory, and return the release folder.

    The promise is that of the method in memory. With a seed the release of `KDegree` is the one in
    memory, byte for byte; noise has the same law and is another draw. Ties become sorted neighbor
    lists in one file, which is mapped into memory; they are edited, or noise is drawn for them,
    numbered anew and written a piece at a time, and degrees are counted again in the published
    file. Memory grows with the nodes, not with the ties. Until it is done, a run keeps a private
    folder beside the release. After an interruption the same call goes on from there.

    Parameters
    ----------
    method
        One that takes ties from the disk: `KDegree`, `AsymmetricResponse` or
        `RandomizedResponse`.
    path
        Ties in csv, tsv, text, Parquet or Arrow.
    out
        The release folder; its private sibling is ``out.private``.
    seed
        None draws from the operating system's entropy. With a seed the same file gives the same
        release; a seed is a secret of the owner.
    format
        The format of the released data; the one that came in where not given.
    force, linkage
        As in `Release.write`. `force` also deletes what another unfinished run has left.
    reading
        How the file is read.
    ledger
        Where epsilon is entered before anything is drawn, of a method with noise.
    warned
        What the owner was told before: it is not said again.
    bucket_keys
        So many ends of ties are sorted at once, 8 bytes each. It changes no result.

    Raises
    ------
    UsageError
        Where the method, its parameters or the options need all data in memory.
    InputError
        Where the file cannot be read.
    InfeasibleError
        Where it has fewer than k nodes.
    ReleaseError
        Where the folder exists and `force` is off, or others can write into the folder of the
        unfinished run.
    ResourceError
        Where memory or disk fail, or the disk has too little space.

    Warns
    -----
    GraphveilWarning
        What the owner should know before publishing; where an unfinished run is kept.

    Examples
    --------
    >>> import warnings
    >>> from tempfile import TemporaryDirectory
    >>> from graphveil.methods import KDegree
    >>> from graphveil.release import read_release
    >>> with TemporaryDirectory() as folder, warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     path = Path(folder, "friends.csv")
    ...     _ = path.write_text("source,target\nann,bob\nbob,cyd\ncyd,dan\n")
    ...     release = anonymize_ties(KDegree(k=2), path, Path(folder, "out"))
    ...     read_release(release).data
    Graph(n_nodes=4, n_edges=3)
    """
    target, options = Path(out), reading or GraphOptions()
    check_target(target, force=force)
    check_method(method, options)
    source = source_of(path, options.format)
    form = release_format(format or format_that_came_in(source.path, options.format), "graph")
    check_form(form)
    ties = tie_file(source, options)
    with stage(f"digesting {source.name}"):
        file_sha256 = digest_of_file(source.path)
    decided_by = _decided_by(method, seed, options)
    warned += forewarn(target, warned=warned, on_disk=True)
    working = opened(target, fingerprint_of(file_sha256, decided_by), seed=seed, force=force)
    run = TieReading(ties, working, bucket_keys)
    making = TieRelease(method, run)
    with kept_where_interrupted(working, once=NOISE):
        facts = run.nodes()
        method.check_size(facts.n_nodes, noun=kind_of(Graph).people)
        lists, report = run.lists(facts)
        warn_of_dropped(report)
        with stage("digesting ties"):
            input_sha256 = digest_of_graph(lists.indptr, lists.indices, run.labels)
        known_by = frozenset((input_sha256, file_sha256))
        known = frozenset[str]() if ledger is None else ledger.known()
        warned += forewarn_of_others(target, known_by, warned=warned, known=known)
        public: PublicLists = () if options.nodes is None else ("people",)
        graph = Graph.mapped(lists.indptr, lists.indices, public_lists=public)
        method.check(graph)
        draft = making.draft(graph, ledger)
        advised = warn_owner(draft.advice, seeded=working.randomness.seeded)

        def write(public: Path) -> Publication:
            written = making.written(public, draft, form)
            private = Private(
                input_sha256=input_sha256,
                origins_sha256=(file_sha256,),
                seed=working.randomness.seed,
                cost=draft.cost,
                warnings=(*advised, *left_out_words(report.left_out)),
                seconds=run.seconds,
                spent=draft.spent,
                withheld=method.withheld(),
            )
            return replace(written, private=private)

        kept = {"kind": kind_of(Graph).name, **recorded(options)}
        writing = WriteOptions(force=force, linkage=linkage, reading=kept, warned=warned)
        publish(target, write, input_digests=known_by, options=writing, spent=draft.spent)
    working.remove()
    return target


def check_method(method: Anonymizer[Any], options: GraphOptions) -> None:
    """Refuse a method, or parameters of it, that need all ties in memory.

    Raises
    ------
    UsageError
        Where it is one.
    """
    if not method.ties_on_disk:
        able = " or ".join(name for name, other in METHODS.items() if other.ties_on_disk)
        raise UsageError(
            f"{method.name} needs all ties in memory. Use {able} on the disk, or leave out "
            f"{option('on_disk', value=True)}."
        )
    if Graph not in method.accepts or type(options) is not GraphOptions:
        raise UsageError(
            "attributes and kinds of ties need all of the data in memory. Leave out "
            f"{option('on_disk', value=True)}."
        )
    roles = [name for name in ("known", "attach") if getattr(method, name, None) is not None]
    if roles:
        raise UsageError(
            f"{option(roles[0])} needs all of the data in memory. Leave out "
            f"{option('on_disk', value=True)}, or the attributes."
        )


def _decided_by(
    method: Anonymizer[Any], seed: int | None, options: GraphOptions
) -> Mapping[str, Any]:
    """Return all that decides what is made of a file, beside its bytes."""
    return {
        "version": __version__,
        "method": method.name,
        "parameters": method.parameters(),
        "seed": Randomness(seed=seed).seed,
        "reading": recorded(options),
        "nodes": None if options.nodes is None else digest_of_file(options.nodes),
    }
