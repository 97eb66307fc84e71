"""From neighbor lists on the disk to the files of a release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.anonymizer import Anonymizer, NewIds
from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.data import Graph
from graphveil.data.ids import Ids
from graphveil.io import Format
from graphveil.on_disk.row_order import RowOrder
from graphveil.on_disk.ties.buckets import Buckets
from graphveil.on_disk.ties.draft import DraftOfTies, draft_of
from graphveil.on_disk.ties.reading import TieReading
from graphveil.on_disk.ties.release import released_cuts, renumber, write_files
from graphveil.progress import stage
from graphveil.records.ledger import Ledger
from graphveil.release.linkage import Linkage
from graphveil.release.publishing import (
    Publication,
)

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
