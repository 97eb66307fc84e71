"""A file of edges into neighbor lists on the disk, by stages that are done once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from graphveil.core.errors import ResourceError
from graphveil.core.progress import stage, timed
from graphveil.data.columns import Ties
from graphveil.data.ids import Ids, as_ids, to_arrow
from graphveil.data.kinds import kind_of
from graphveil.data.network import Graph
from graphveil.data.origin import FileOrigin, PublicLists, read_from
from graphveil.io import GraphOptions, ReadingReport
from graphveil.io.opening import source_of
from graphveil.io.parsed import OF_READERS, ReadCounts, may_be_missing
from graphveil.io.readers.columnar import read_parquet, write_parquet
from graphveil.io.reading import unlike_declared
from graphveil.io.reading_report import Reading
from graphveil.io.source import Source
from graphveil.io.text.columns import NotIntegersError
from graphveil.io.text.tie_blocks import TieFile, tie_file
from graphveil.scale.ties.lists import (
    BUCKET_KEYS,
    Buckets,
    Listed,
    NeighborLists,
    Spread,
    cuts_of,
    dropped,
    listed,
    mapped,
    spread,
)
from graphveil.scale.ties.nodes import Known, Numbering, first_row_is_names, nodes_of, noted
from graphveil.scale.working import WorkingFolder, opened

BYTES_A_TIE = 26
"""The space that an edge takes at most while it is read, or released by k-degree."""

BYTES_A_NOISY_TIE = 16
"""What an edge that noise releases takes in addition: as it was drawn, and under new ids."""

LABELS, SAMPLE = "labels.parquet", "sample.npy"


class FileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a file of edges once it was read.

    `names_above`: its first row was taken for the names of columns; `count_line`: its first row,
    where that only gives the numbers of nodes and edges.
    """

    n_nodes: int
    text: bool
    names_above: bool
    count_line: str | None
    notes: dict[str, Any]


@dataclass
class TieReading:
    """The stages of reading; each one that was done before is not done again."""

    ties: TieFile
    working: WorkingFolder
    bucket_keys: int
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def _folder(self) -> Path:
        return self.working.folder / "ties"

    @property
    def _source(self) -> Source:
        return self.ties.source

    @cached_property
    def labels(self) -> Ids:
        """The ids of all nodes, in order."""
        ids = read_parquet(self.working.folder / "nodes" / LABELS)["id"]
        return as_ids(ids.combine_chunks(), what="ids")

    def nodes(self) -> FileFacts:
        """Return what is known of the file, once its ids are numbered."""
        # A stage that an earlier run has finished is not done again.
        facts = self.working.finished("nodes", FileFacts)
        if facts is None:
            # Otherwise number the ids, keep them, and note what the file says.
            needed = BYTES_A_TIE * self.ties.rows_expected()
            check_space(self.working.folder, needed, self._source.name)
            with self.timed("nodes"):
                folder = self.working.stage("nodes")
                known, names_above = self._known(folder)
                write_parquet(pa.table([to_arrow(known.labels)], names=["id"]), folder / LABELS)
                np.save(folder / SAMPLE, known.sample)
            notes = self.ties.notes
            notes.maybe_missing = may_be_missing(known.labels)
            notes.count_line = known.count_line
            notes.rows -= known.count_line is not None
            facts = FileFacts(
                n_nodes=int(known.labels.size),
                text=self.ties.text,
                names_above=names_above,
                count_line=known.count_line,
                notes=asdict(notes),
            )
            self.working.finish("nodes", facts)
        elif facts.names_above:
            self.ties = self._with_names()
        self.ties.text, self.ties.skipped = facts.text, int(facts.count_line is not None)
        return facts

    def _known(self, folder: Path) -> tuple[Known, bool]:
        """Return the nodes, and whether the first row turned out to be names of columns."""
        # Integers first; if a cell is not one, the file is read again as text.
        try:
            known = nodes_of(self.ties, folder)
        except NotIntegersError:
            self.ties.text = True
            known = nodes_of(self.ties, folder)
        # If the first row turns out to be names, the file is read again below it.
        if not first_row_is_names(self.ties, Numbering(known.labels), known.labels.size):
            return known, False
        self.ties = self._with_names()
        known, _ = self._known(folder)
        self.ties.notes.inferred = True
        return known, True

    def _with_names(self) -> TieFile:
        return tie_file(self._source, replace(self.ties.options, header="yes"))

    def lists(self, facts: FileFacts) -> Reading[NeighborLists]:
        """Return the neighbor lists, once they are written; refuse directions that matter."""
        # Step 1: distribute both directions of every arc over buckets of nodes.
        counted = self.working.finished("spread", Spread)
        if counted is None:
            counted = self.working.finish("spread", self._spread(facts))
        # Step 2: sort bucket by bucket, and append the lists; a run may stop between two.
        so_far = self.working.finished("lists", Listed) or Listed()
        buckets = Buckets(self.working.folder / "spread", counted.cuts)
        with self.timed("lists"), stage("sorting edges", total=len(buckets)) as advance:
            advance(so_far.buckets)
            if not so_far.buckets:
                self.working.stage("ties")
            for done in listed(buckets, self._folder, so_far):
                so_far = self.working.finish("lists", done)
                advance(1)
        # Step 3: map the lists, and refuse directions that matter.
        lists = mapped(self._folder)
        return Reading(lists, self._report(facts, counted, so_far, lists))

    def _spread(self, facts: FileFacts) -> Spread:
        sample = np.load(self.working.folder / "nodes" / SAMPLE)
        cuts = cuts_of(sample, 2 * facts.notes["rows"], facts.n_nodes, self.bucket_keys)
        numbering = Numbering(self.labels)
        rows = facts.notes["rows"]
        with (
            self.timed("spread"),
            stage("distributing edges", total=rows) as advance,
            Buckets(self.working.stage("spread"), cuts) as buckets,
        ):
            ends = noted(numbering.numbered(self.ties.ends()), advance)
            return spread(ends, buckets)

    def _report(
        self, facts: FileFacts, counted: Spread, done: Listed, lists: NeighborLists
    ) -> ReadingReport:
        """Return what was dropped, as in memory; refuse edges whose directions matter."""
        left_out = dropped(counted, done)
        ties = Ties(
            n=done.entries // 2,
            mutual=left_out.reciprocal_pairs,
            said=self.ties.directed,
            names=self.ties.names,
        )
        if ties.matter and self.ties.options.directed != "symmetrize":
            self._source.refuse(ties.refusal)
        notes: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in facts.notes.items()
            if name not in OF_READERS
        }
        kept = ReadCounts(rows=facts.notes["rows"], declared=facts.notes["declared"])
        return ReadingReport(
            parts=len(self._source.parts),
            kind=kind_of(Graph).words,
            format=self._source.format.name,
            compression=self._source.compression,
            unlike=unlike_declared(kept, facts.n_nodes, facts.n_nodes, left_out),
            self_loops=left_out.self_loops,
            duplicates=left_out.duplicates,
            reciprocal_pairs=left_out.reciprocal_pairs,
            symmetrized=ties.n - ties.mutual if ties.matter else 0,
            isolated=int(np.count_nonzero(np.diff(lists.indptr) == 0)),
            **notes,
        )

    def timed(self, name: str) -> AbstractContextManager[None]:
        """Note how long a stage takes."""
        return timed(self.seconds, name)


def check_space(folder: Path, needed: int, what: str) -> None:
    """Refuse what needs more space than the disk of a folder has.

    >>> check_space(Path(), 0, "nothing")
    """
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise ResourceError(
            f"{what} needs about {needed / 1e9:,.1f} GB in addition to the release, but "
            f"{free / 1e9:,.1f} GB are free. Free space, or choose a different disk."
        )


@contextmanager
def graph_on_disk(
    path: str | Path, options: GraphOptions | None = None, *, bucket_keys: int = BUCKET_KEYS
) -> Iterator[Reading[Graph]]:
    """Give the graph in a file, whose neighbors are mapped from a folder of temporary files.

    It is the graph that `graphveil.io.load_graph` returns; memory grows with the nodes where little
    of it is looked at. `bucket_keys` ends of edges are sorted at once, 8 bytes each. Raises
    `UsageError` where the format needs all edges in memory, `InputError` where the file cannot be
    read, `ResourceError` where the disk has too little space.
    """
    options = options or GraphOptions()
    source = source_of(path, options.format, options.header, options.encoding)
    ties = tie_file(source, options)
    with TemporaryDirectory(prefix="graphveil-") as scratch:
        working = opened(Path(scratch, "ties"), "", seed=None, force=False)
        try:
            reading = TieReading(ties, working, bucket_keys)
            lists, report = reading.lists(reading.nodes())
            public: PublicLists = () if options.nodes is None else ("people",)
            graph = Graph.mapped(
                lists.indptr,
                lists.indices,
                ids=reading.labels,
                left_out=report.left_out,
                public_lists=public,
            )
            files = (FileOrigin.of(part.path) for part in source.parts)
            yield Reading(read_from(graph, *files), report)
        finally:
            working.close()
