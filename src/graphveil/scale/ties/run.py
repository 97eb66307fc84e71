"""Edges on the disk as a source of releases: a file larger than memory, by neighbor lists.

A method makes released edges of the lists, some at a time: by few edits, or by noise drawn once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import AnyCondition, ExactSize, RandomizedCells
from graphveil.claims.facts import (
    EdgeChanges,
    cost_of,
    digest_of_file,
    digest_of_graph,
    digests_of_files,
)
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.claims.ledger import Composed, Ledger, LedgerReceipt, LedgerReference
from graphveil.core.array_types import Ints
from graphveil.core.atomic import OWNER_ONLY, whole_file
from graphveil.core.hints import option
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.storage import place_of
from graphveil.data import Graph
from graphveil.data.ids import Ids
from graphveil.data.kinds import kind_of
from graphveil.data.origin import PublicLists
from graphveil.io import Format, GraphOptions
from graphveil.io.formats import recorded
from graphveil.io.opening import source_of
from graphveil.io.reading_report import warn_of_dropped
from graphveil.io.text.tie_blocks import tie_file
from graphveil.methods.base import Anonymizer
from graphveil.methods.noise.cells import Channel
from graphveil.methods.noise.laws import words_from
from graphveil.methods.noisy_cells.noisy import listed_once
from graphveil.methods.registry import methods_from
from graphveil.release.claiming import Claimed, Method, claim, entered, promised
from graphveil.release.draft import EditedEdges, NewIds, NoisyEdges
from graphveil.release.files import Linkage, format_that_came_in, release_format
from graphveil.release.options import RunOptions
from graphveil.release.pipeline import Made, Read, released
from graphveil.release.publishing import Publication, local_folder
from graphveil.scale.columns import RowOrder
from graphveil.scale.ties.lists import BUCKET_KEYS, Buckets, NeighborLists
from graphveil.scale.ties.noise import degrees_in, draw, read, resize
from graphveil.scale.ties.reading import BYTES_A_NOISY_TIE, TieReading, check_space
from graphveil.scale.ties.release import (
    Changed,
    changed_edges,
    check_form,
    edges_of,
    released_cuts,
    renumber,
    write_files,
)
from graphveil.scale.working import WorkingFolder, going_on

CELLS = "cells"
"""The file of noisy edges."""

NOISE = "noise"
"""The stage that draws them: epsilon is spent, and another draw would spend it again."""


@dataclass(frozen=True, kw_only=True)
class EdgeDraft:
    """Released edges under the positions of the input.

    `edges`: yields them as ``u << 32 | v``, u below v, the same ones whenever asked; `check`:
    refuses degrees of the published file that are not as planned.
    """

    edges: Callable[[], Iterator[Ints]]
    n_edges_expected: int
    check: Callable[[Ints], None]
    cost: Mapping[str, float | int]
    advice: tuple[str, ...] = ()
    guarantee: AnyGuarantee | None = None
    conditions: tuple[AnyCondition, ...] = ()
    spent: LedgerReceipt | None = None


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """Noisy cells that were drawn.

    `kept`: how many published ones are true; `is_exact`: edges were added or removed to a number;
    `note, known, composed`: what was entered in a ledger.
    """

    stated: RandomizedCells
    published: int
    kept: int
    is_exact: bool = False
    note: LedgerReference | None = None
    known: list[str] = []
    composed: Composed | None = None

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What can be checked of them."""
        if not self.is_exact:
            return (self.stated,)
        return self.stated, ExactSize(size=str(self.published))

    @property
    def spent(self) -> LedgerReceipt | None:
        """What was entered in a ledger; None without one."""
        if self.note is None:
            return None
        return LedgerReceipt(self.note, frozenset(self.known), self.composed)


class FromDisk(Method, Protocol):
    """A method that reads the edges of a graph on the disk: its `sources` name ``ties``."""

    def from_edges_on_disk(self, graph: Graph, randomness: Randomness) -> EditedEdges | NoisyEdges:
        """Return what is made of a graph whose edges are on the disk.

        Few pages of its lists are to be read. A run that goes on gets the same randomness again.

        Parameters
        ----------
        graph
            Its arrays are mapped from files.
        randomness
            That of the run.

        Returns
        -------
        EditedEdges or NoisyEdges
            Few edits of the graph, or how each pair of nodes is drawn.
        """


def draft_of(
    method: FromDisk, graph: Graph, working: WorkingFolder, ledger: Ledger | None = None
) -> EdgeDraft:
    """Return what a method makes of a graph whose neighbors the disk holds."""
    lists = NeighborLists(graph.indptr, graph.indices)
    # Methods with noise sample all cells into a file.
    made = method.from_edges_on_disk(graph, working.randomness)
    if isinstance(made, NoisyEdges):
        return _noisy(method, made, graph, working, ledger)
    # Methods that edit change few edges: these are in memory, all others are read from disk.
    spent = entered(method, graph, ledger, working.randomness.seed)
    changed, before = Changed(made.added, made.deleted), graph.n_edges
    changes = EdgeChanges(before, before - len(made.deleted), len(made.added))
    return EdgeDraft(
        edges=lambda: changed_edges(edges_of(lists), changed),
        n_edges_expected=changes.kept + changes.added,
        check=made.check,
        cost=cost_of(changes, made.notes.cost),
        advice=made.notes.warnings,
        spent=spent,
    )


def _noisy(
    method: Method, noise: NoisyEdges, graph: Graph, working: WorkingFolder, ledger: Ledger | None
) -> EdgeDraft:
    """Return noisy edges, which are sampled once: no one has seen what an interrupted run left."""
    file = working.folder / NOISE / CELLS
    done = working.finished(NOISE, Noise)
    if done is None:
        done = working.finish(NOISE, _drawn(method, noise, graph, working, ledger))
    published = done.published

    def check(degrees: Ints) -> None:
        if np.any(degrees != degrees_in(file, graph.n_nodes)):
            raise RuntimeError("about to publish edges other than those that were sampled")

    return EdgeDraft(
        edges=lambda: read(file),
        n_edges_expected=published,
        check=check,
        cost=cost_of(
            EdgeChanges(graph.n_edges, done.kept, published - done.kept), listed_once(graph)
        ),
        advice=noise.advice(done.stated, published),
        guarantee=promised(method, graph),
        conditions=done.conditions,
        spent=done.spent,
    )


def _drawn(
    method: Method, noise: NoisyEdges, graph: Graph, working: WorkingFolder, ledger: Ledger | None
) -> Noise:
    """Enter epsilon where there is room, and draw the noisy count and all cells into a file."""
    file = working.stage(NOISE) / CELLS
    n = noise.at_most
    what = (
        f"{method.name} releases up to about {n:,} edges (the input has {graph.n_edges:,}), which"
    )
    # Space is checked before epsilon is spent.
    check_space(working.folder, BYTES_A_NOISY_TIE * n, what)
    # Epsilon is entered in the ledger before anything is sampled.
    spent = entered(method, graph, ledger, working.randomness.seed)
    stated = noise.state()
    lists = NeighborLists(graph.indptr, graph.indices)
    # Every cell goes through the noise once.
    size = stated.noisy_count if noise.exact_size else None
    drawn_file = file if size is None else file.with_name("drawn")
    with stage("sampling noise", total=graph.n_edges) as advance:
        drawn = draw(
            lists,
            Channel(int(stated.T0), int(stated.T1)),
            words_from(working.randomness, "cells"),
            drawn_file,
            advance,
        )
    # If the number of edges is fixed, edges are removed or added uniformly.
    if size is not None:
        words = words_from(working.randomness, "size")
        drawn = resize(lists, drawn_file, drawn, int(size), words, file)
        drawn_file.unlink()
    return Noise(
        stated=stated,
        published=drawn.published,
        kept=drawn.kept,
        is_exact=noise.exact_size,
        note=None if spent is None else spent.note,
        known=[] if spent is None else sorted(spent.known),
        composed=None if spent is None else spent.composed,
    )


ORDER = "order.npy"


@dataclass(frozen=True)
class TiesOnDisk:
    """A file of edges that stays on the disk: a `graphveil.release.pipeline.Source`.

    `bucket_keys`: so many ends of edges are sorted at once, 8 bytes each; it changes no result.
    """

    path: Path
    options: GraphOptions
    bucket_keys: int = BUCKET_KEYS
    keeps: ClassVar[bool] = True

    def refusals(self, method: Method, run: RunOptions) -> Iterator[str]:
        """Yield what needs all edges in memory."""
        local_folder(run.out)
        on_disk = option("on_disk", value=True)
        if run.nested_in is not None:
            yield "--nested-in needs all data in memory. Remove --on-disk."
        if run.parts:
            yield "--parts is for many users on disk; edges are written to one file. Remove it."
        if "ties" not in method.sources:
            able = " or ".join(methods_from("ties"))
            yield (
                f"{method.name} needs all edges in memory. To run on disk, use {able}; or "
                f"remove {on_disk}."
            )
        if Graph not in method.accepts or type(self.options) is not GraphOptions:
            yield (f"attributes and edge types need all data in memory. Remove {on_disk}.")
        for role in ("known", "attach"):
            if getattr(method, role, None) is not None:
                yield (
                    f"{option(role)} needs all data in memory. Remove {on_disk}, or the attributes."
                )

    @contextmanager
    def read(self, method: Method, run: RunOptions) -> Iterator[Read]:
        """Give the graph, whose neighbor lists are mapped from the folder of the run."""
        options = self.options
        source = source_of(self.path, options.format, options.header, options.encoding)
        form = release_format(
            run.format or format_that_came_in(source.path, options.format), "graph"
        )
        check_form(form)
        ties = tie_file(source, options)
        with stage(f"computing the digest of {source.name}"):
            file_sha256, of_parts = digests_of_files(part.path for part in source.parts)
        reading = recorded(options)
        nodes = None if options.nodes is None else digest_of_file(options.nodes)
        with going_on(method, run, file_sha256, reading, once=NOISE, nodes=nodes) as working:
            work = TieReading(ties, working, self.bucket_keys)
            facts = work.nodes()
            method.check_size(facts.n_nodes, noun=kind_of(Graph).people)
            lists, report = work.lists(facts)
            warn_of_dropped(report)
            with stage("computing the digest of the edges"):
                input_sha256 = digest_of_graph(lists.indptr, lists.indices, work.labels)
            public: PublicLists = () if options.nodes is None else ("people",)
            graph = Graph.mapped(lists.indptr, lists.indices, public_lists=public)
            method.check(graph)

            def draw() -> Made:
                name = method.name
                with work.timed("anonymize"), stage(f"anonymizing with {name}"):
                    draft = draft_of(cast("FromDisk", method), graph, working, run.privacy_ledger)
                stated = claim(
                    method,
                    working.randomness,
                    kind=kind_of(Graph).name,
                    left_out=report.left_out,
                    guarantee=draft.guarantee,
                    conditions=draft.conditions,
                    warnings=draft.advice,
                    input_sha256=input_sha256,
                    origins_sha256=of_parts,
                    cost=draft.cost,
                    seconds=work.seconds,
                    spent=draft.spent,
                )
                return Made(partial(_written, work, draft, form, stated), draft.spent)

            known_by = frozenset((input_sha256, file_sha256))
            yield Read(known_by, draw, {"kind": kind_of(Graph).name, **reading})


def _written(
    work: TieReading, draft: EdgeDraft, form: Format, stated: Claimed, public: Path
) -> Publication:
    """Write the data files, and return what is said of them; refuse what breaks the guarantee."""
    n_nodes = int(work.labels.size)
    with work.timed("write"):
        # Edges under their new ids, distributed over buckets and sorted, so that order shows
        # nothing.
        ids = _new_ids(work.working, n_nodes).of_the_input()
        cuts = released_cuts(n_nodes, draft.n_edges_expected, work.bucket_keys)
        with stage("renumbering"), Buckets(work.working.stage("publish"), cuts) as buckets:
            n_edges = renumber(draft.edges(), ids.astype(np.int32), buckets)
        files = write_files(public, buckets, n_nodes, n_edges, form)
    # The written degrees must be those that the method guarantees.
    draft.check(files.degrees[ids])
    return Publication(
        described=files.described, linkage=_linkage(work.labels, ids), **stated._asdict()
    )


def _new_ids(working: WorkingFolder, n: int) -> NewIds:
    """Return the order of the release, which is drawn once."""
    path = working.folder / ORDER
    if path.is_file():
        return NewIds(np.load(path))
    order = working.randomness.permutation(n)
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
    bucket_keys: int = BUCKET_KEYS,
) -> Path:
    r"""Anonymize a file of edges that may be larger than memory, and return the release folder.

    The guarantee is that of the method in memory. With a seed the release of `KDegree` is the one
    in memory, byte for byte; noise has the same law and is another draw. Edges become sorted
    neighbor lists in one file, which is mapped into memory; they are edited, or noise is drawn for
    them, numbered anew and written a piece at a time, and degrees are recomputed in the published
    file. Memory grows with the nodes, not with the edges. Until it is done, a run keeps a private
    folder next to the release. After an interruption the same call goes on from there.

    Parameters
    ----------
    method
        One that takes edges from the disk: `KDegree`, `AsymmetricResponse` or
        `RandomizedResponse`.
    path
        Edges in csv, tsv, text, Parquet or Arrow.
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
    bucket_keys
        So many ends of edges are sorted at once, 8 bytes each. It changes no result.

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
    run = RunOptions(
        out=place_of(out), format=format, force=force, linkage=linkage, seed=seed, ledger=ledger
    )
    source = TiesOnDisk(Path(path), reading or GraphOptions(), bucket_keys)
    return local_folder(released(source, method, run))
