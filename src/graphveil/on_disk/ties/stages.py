"""The stages of a run over ties on the disk; each one that was done before is not done again."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil.anonymizer import Anonymizer, NewIds
from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.data.directions import Ties
from graphveil.data.graph import Graph
from graphveil.data.ids import Ids
from graphveil.data.kinds import kind_of
from graphveil.errors import ResourceError, warn
from graphveil.io import Format, ReadingReport
from graphveil.io.columns import NotIntegersError
from graphveil.io.source import Source
from graphveil.io.spelling import may_be_missing
from graphveil.io.ties import TieFile, tie_file
from graphveil.on_disk.row_order import RowOrder
from graphveil.on_disk.ties.buckets import Buckets, cuts_of
from graphveil.on_disk.ties.draft import DraftOfTies, draft_of
from graphveil.on_disk.ties.lists import (
    Listed,
    NeighborLists,
    Spread,
    dropped,
    listed,
    mapped,
    spread,
)
from graphveil.on_disk.ties.nodes import (
    Known,
    Numbering,
    first_row_is_names,
    nodes_of,
    read_labels,
    write_labels,
)
from graphveil.on_disk.ties.release import released_cuts, renumber, write_files
from graphveil.on_disk.working import Working
from graphveil.progress import Advance, stage
from graphveil.release.linkage import Linkage
from graphveil.release.publishing import (
    Publication,
)
from graphveil.warning_kinds import DroppedWarning

BYTES_A_TIE = 26
"""The space beside the input that a tie takes at most, while the run goes on."""

LABELS, SAMPLE, ORDER = "labels.parquet", "sample.npy", "order.npy"


class FileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a file of ties once it was read.

    Parameters
    ----------
    n_nodes
        The number of nodes.
    text
        Whether its ids are read as text.
    names_above
        Whether its first row was taken for the names of columns.
    count_line
        Its first row, where that only gives the numbers of nodes and edges.
    notes
        What was counted on the way, for the reading report.
    """

    n_nodes: int
    text: bool
    names_above: bool
    count_line: str | None
    notes: dict[str, Any]


@dataclass
class TieRun:
    """The stages of one run.

    Parameters
    ----------
    method
        The method.
    ties
        The file.
    working
        The folder of the run, open.
    bucket_keys
        So many keys are sorted at once.
    seconds
        How long every stage took.
    """

    method: Anonymizer[Any]
    ties: TieFile
    working: Working
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
        return read_labels(self.working.folder / "nodes" / LABELS)

    def nodes(self) -> FileFacts:
        """Return what is known of the file, once its ids are numbered."""
        facts = self.working.finished("nodes", FileFacts)
        if facts is None:
            self._check_space()
            with self._timed("nodes"):
                folder = self.working.stage("nodes")
                known, names_above = self._known(folder)
                write_labels(known.labels, folder / LABELS)
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
        self.method.check_size(facts.n_nodes, noun=kind_of(Graph).people)
        return facts

    def _check_space(self) -> None:
        """Refuse to begin where the disk cannot hold what the run writes on the way."""
        needed = BYTES_A_TIE * self.ties.rows_expected()
        free = shutil.disk_usage(self.working.folder).free
        if needed > free:
            raise ResourceError(
                f"{self._source.name} needs about {needed / 1e9:,.1f} GB beside the release, "
                f"{free / 1e9:,.1f} GB are free. Free space, or choose another disk."
            )

    def _known(self, folder: Path) -> tuple[Known, bool]:
        """Return the nodes, and whether the first row turned out to be names of columns."""
        try:
            known = nodes_of(self.ties, folder)
        except NotIntegersError:
            self.ties.text = True
            known = nodes_of(self.ties, folder)
        if not first_row_is_names(self.ties, Numbering(known.labels), known.labels.size):
            return known, False
        self.ties = self._with_names()
        known, _ = self._known(folder)
        self.ties.notes.inferred = True
        return known, True

    def _with_names(self) -> TieFile:
        return tie_file(self._source, replace(self.ties.options, header="yes"))

    def lists(self, facts: FileFacts) -> NeighborLists:
        """Return the neighbor lists, once they are written; refuse directions that matter."""
        counted = self.working.finished("spread", Spread)
        if counted is None:
            counted = self.working.finish("spread", self._spread(facts))
        so_far = self.working.finished("lists", Listed) or Listed()
        buckets = Buckets(self.working.folder / "spread", counted.cuts)
        with self._timed("lists"), stage("sorting ties", total=len(buckets)) as advance:
            advance(so_far.buckets)
            if not so_far.buckets:
                self.working.stage("ties")
            for done in listed(buckets, self._folder, so_far):
                so_far = self.working.finish("lists", done)
                advance(1)
        self._report(facts, counted, so_far)
        return mapped(self._folder)

    def _spread(self, facts: FileFacts) -> Spread:
        sample = np.load(self.working.folder / "nodes" / SAMPLE)
        cuts = cuts_of(sample, 2 * facts.notes["rows"], facts.n_nodes, self.bucket_keys)
        numbering = Numbering(self.labels)
        rows = facts.notes["rows"]
        with (
            self._timed("spread"),
            stage("spreading ties", total=rows) as advance,
            Buckets(self.working.stage("spread"), cuts) as buckets,
        ):
            ends = _counted(numbering.numbered(self.ties.ends()), advance)
            return spread(ends, buckets)

    def _report(self, facts: FileFacts, counted: Spread, lists: Listed) -> None:
        """Say what was dropped, as in memory; refuse ties whose directions matter."""
        left_out = dropped(counted, lists)
        ties = Ties(
            n=lists.entries // 2,
            mutual=left_out.reciprocal_pairs,
            said=self.ties.directed,
            names=self.ties.names,
        )
        if ties.matter and self.ties.options.directed != "symmetrize":
            self._source.refuse(ties.refusal)
        notes: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in facts.notes.items()
            if name != "nameless"
        }
        report = ReadingReport(
            format=self._source.format.name,
            self_loops=left_out.self_loops,
            duplicates=left_out.duplicates,
            symmetrized=ties.n - ties.mutual if ties.matter else 0,
            **notes,
        )
        said = [sentence.text for sentence in report.dropped()]
        if said:
            warn("; ".join(said), DroppedWarning)

    def left_out(self, facts: FileFacts) -> tuple[str, ...]:
        """Return the names of the columns that are not in the data."""
        return tuple(facts.notes["columns_ignored"])

    def draft(self, lists: NeighborLists) -> DraftOfTies:
        """Return what the method makes of the lists."""
        name = self.method.name
        with self._timed("anonymize"), stage(f"anonymizing with {name}"):
            return draft_of(self.method, lists, self.working.randomness)

    def written(self, public: Path, draft: DraftOfTies, form: Format) -> Publication:
        """Write the data files, and return what is said of them; refuse what breaks the promise.

        Raises
        ------
        RuntimeError
            Where degrees of the published file are not those that were planned.
        """
        n_nodes = int(self.labels.size)
        with self._timed("write"):
            new = self._new_ids(n_nodes)
            ids = new.of_the_input()
            cuts = released_cuts(n_nodes, draft.n_edges_expected, self.bucket_keys)
            with (
                stage("numbering anew"),
                Buckets(self.working.stage("publish"), cuts) as buckets,
            ):
                n_edges = renumber(draft.edges(), ids.astype(np.int32), buckets)
            files = write_files(public, buckets, n_nodes, n_edges, form)
        draft.check(files.degrees[ids])
        return Publication(
            described=files.described,
            guarantee=self.method.claimed(draft.guarantee, self.working.randomness),
            conditions=(*self.method.conditions, *draft.conditions),
            provenance=self.method.provenance,
            linkage=_linkage(self.labels, ids),
        )

    def _new_ids(self, n: int) -> NewIds:
        """Return the order of the release, which is drawn once."""
        path = self.working.folder / ORDER
        if path.is_file():
            return NewIds(np.load(path))
        order = self.working.randomness.permutation(n)
        look = RowOrder()
        look.add(order)
        look.check()
        with whole_file(path, mode=OWNER_ONLY) as part, part.open("wb") as file:
            np.save(file, order)
        return NewIds(order)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started


def _counted(
    batches: Iterator[tuple[NDArray[np.int32], ...]], advance: Advance
) -> Iterator[tuple[NDArray[np.int32], ...]]:
    for batch in batches:
        yield batch
        advance(batch[0].size)


def _linkage(labels: Ids, released: NDArray[np.int64]) -> Iterator[Any]:
    """Yield who became whom, in the order of the original."""
    with stage("writing the linkage"):
        yield Linkage(labels, released).table()
