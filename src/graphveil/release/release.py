"""The release in memory, and the folder it is written to and read from."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from graphveil.claims.conditions import AnyCondition, ItemsAreUsers, KeyedIds
from graphveil.claims.guarantees import AnyGuarantee, SuperNodeAnonymity
from graphveil.claims.manifest import Generalization, read_manifest
from graphveil.claims.record import NOTES, read_record
from graphveil.core.errors import DataError, UsageError
from graphveil.core.hints import one_of
from graphveil.core.lazy import needs_library
from graphveil.core.libraries import pa
from graphveil.core.text import html_table, printable
from graphveil.core.visible import visible
from graphveil.data import Data, Graph, Table
from graphveil.data.kinds import kind_of
from graphveil.data.origin import ColumnType
from graphveil.release.files import (
    Linkage,
    Private,
    Provenance,
    formulas_in,
    read_data,
    read_generalization,
    read_levels,
    read_linkage,
    read_witness,
    write_data,
)
from graphveil.release.generalized_graph import GeneralizedGraph
from graphveil.release.options import RunOptions
from graphveil.release.publishing import Publication, publish
from graphveil.verify.verdict import LIMIT_BYTES

if TYPE_CHECKING:
    import duckdb
    import igraph as ig
    import networkx as nx
    import pandas as pd
    import polars as pl
    from scipy import sparse

    from graphveil.attacks.attack import Rerun
    from graphveil.core.rows import Rows
    from graphveil.evaluate.comparison import Attached
    from graphveil.methods.rename import Key
    from graphveil.pages.report.document import Form, Report
    from graphveil.verify import Verdict

ALL = "*"
"""The value of a suppressed cell in a generalized table."""

D_co = TypeVar("D_co", bound=Data, covariant=True)

__all__ = ["Linkage", "Private", "Provenance", "Release", "read_linkage", "read_release"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Release(Generic[D_co]):
    """Published data under new ids in a new order, its guarantee, and where it comes from.

    Parameters
    ----------
    data
        What is published; ids are 0..n-1.
    guarantee
        What is guaranteed of it.
    conditions
        What is stated next to the guarantee.
    provenance
        Tool, method and parameters.
    private
        The owner's part; None where a folder was read without its private sibling.
    generalized
        What is said of the columns of a generalized table, and their published nodes.
    in_order
        Whether the categories of its known columns are in the order of their levels, which no file
        states.
    types
        The types of columns in the frame that they were read from, which no file states.

    Examples
    --------
    >>> import graphveil as gv
    >>> release = gv.KDegree(k=2).anonymize(gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4))
    >>> release.guarantee.sentence
    'Every node of the release has the same degree as at least 1 other.'
    """

    data: D_co
    guarantee: AnyGuarantee
    provenance: Provenance
    conditions: tuple[AnyCondition, ...] = ()
    private: Private | None = None
    generalized: Generalization | None = None
    in_order: bool = False
    types: Mapping[str, ColumnType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Let the guarantee of a table say whether rows are people, and the data say the same."""
        if self.data.people is self.data and getattr(self.guarantee, "person", None) is UNSET:
            object.__setattr__(self, "guarantee", self.guarantee.of_rows(self.data.person))
        said = getattr(self.guarantee, "person", None) or None
        if said is not None and said != self.data.person:
            object.__setattr__(
                self, "data", dataclasses.replace(cast("Any", self.data), person=said)
            )

    def write(
        self,
        folder: str | Path,
        *,
        format: str = "csv",  # noqa: A002  the word users know from the command line
        force: bool = False,
        linkage: bool = True,
        reading: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write the release folder and the owner's private folder next to it, or nothing.

        Parameters
        ----------
        folder
            The release folder; its private sibling is ``folder.private``.
        format
            A format of `graphveil.io.FORMATS` that holds this kind of data.
        force
            Replace a release of that name, once the new one is whole.
        linkage
            Whether the private folder keeps which new id stands for which old one.
        reading
            The options that the input was read with, kept in the private record.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        ReleaseError
            Where the folder exists and `force` is off.
        ResourceError
            Where the disk is full or the folder cannot be written.

        Warns
        -----
        GraphveilWarning
            Where other releases of the same input are next to it, or what a killed run left.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import graphveil as gv
        >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
        >>> release = gv.KDegree(k=2).anonymize(star, seed=1)
        >>> with TemporaryDirectory() as folder:
        ...     made = release.write(Path(folder, "star-k2"))
        ...     sorted(file.name for file in made.iterdir())
        ['data.csv', 'nodes.csv', 'release.json']
        """
        path = Path(folder)
        run = RunOptions(out=path, format=format, force=force, linkage=linkage)
        self.published(run, reading or {})
        return path

    def for_owner(self) -> Private:
        """Return what only the owner may see.

        Raises
        ------
        UsageError
            Where the release was read without the private folder next to it.

        Returns
        -------
        Private
            The cost, the warnings, and the linkage of new ids to old ones.

        Examples
        --------
        >>> import graphveil as gv
        >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
        >>> release = gv.KDegree(k=2).anonymize(star, seed=1)
        >>> release.for_owner().cost["edits"]
        3
        """
        if self.private is None:
            raise UsageError(
                "this release was read without its private folder, so only public information "
                "is available."
            )
        return self.private

    @property
    def cost(self) -> Mapping[str, float | int]:
        """What the release cost against its original, for the owner alone.

        Raises
        ------
        UsageError
            As `for_owner`.

        Examples
        --------
        >>> import graphveil as gv
        >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
        >>> gv.KDegree(k=2).anonymize(graph, seed=1).cost["edges_added"]
        0
        """
        return self.for_owner().cost

    def published(
        self, run: RunOptions, reading: Mapping[str, Any], *, trial: bool = False
    ) -> None:
        """Write the release as `write` does, in csv where no format is given.

        Parameters
        ----------
        run
            Where and how it is written.
        reading
            The options that the input was read with, for the private record.
        trial
            Whether it is one of several trials: then nothing warns of the others.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import graphveil as gv
        >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
        >>> release = gv.KDegree(k=2).anonymize(star, seed=1)
        >>> with TemporaryDirectory() as folder:
        ...     release.published(RunOptions(out=Path(folder, "star-k2"), linkage=False), {})
        ...     sorted(made.name for made in Path(folder).iterdir())
        ['star-k2', 'star-k2.private']
        """
        private = self.private
        publish(
            run,
            partial(self.publication, run.format or "csv"),
            input_digests=frozenset() if private is None else private.input_digests,
            nested_in=() if private is None else private.nested_in,
            spent=None if private is None else private.spent,
            reading=reading,
            trial=trial,
        )

    def publication(self, form: str, public: Path) -> Publication:
        """Write the data files, and return what is said of them.

        Parameters
        ----------
        form
            The format of the data.
        public
            The folder.

        Returns
        -------
        Publication
            The description of the files, the claim and the owner's part.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import graphveil as gv
        >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
        >>> release = gv.KDegree(k=2).anonymize(star, seed=1)
        >>> with TemporaryDirectory() as folder:
        ...     files = release.publication("csv", Path(folder)).described.files
        >>> [(file.name, file.rows) for file in files]
        [('data.csv', 7), ('nodes.csv', 5)]
        """
        private = self.private
        known = private.linkage if private is not None else None
        levels = private.levels if private is not None else None
        witness = private.witness if private is not None else None
        return Publication(
            advice=formulas_in(self.data, form, self.generalized),
            described=write_data(self.data, public, form, self.generalized),
            guarantee=self.guarantee,
            conditions=self.conditions,
            provenance=self.provenance,
            private=private,
            linkage=None if known is None else [known.table()],
            levels=None if levels is None else [levels.table()],
            witness=None if known is None or witness is None else witness.tables(known),
        )

    # The four doors: a release is verified, evaluated, attacked and reported by verbs, whose rooms
    # come after this one. Each door imports its verb when it is called and hands on every option;
    # `tests/unit/test_layers.py` lists them as the only imports that run against the order.

    def verify(
        self,
        original: Any = None,
        *,
        original_file: str | Path | None = None,
        key: Key | str | Path | bytes | None = None,
        trust_method: str | None = None,
        limit_bytes: int = LIMIT_BYTES,
        strict: bool = False,
        require_all: bool = False,
        on_disk: bool = False,
    ) -> Verdict:
        """Return whether the guarantee holds: `graphveil.verify_release` of this release.

        The release is written to a temporary folder and checked from its files.

        Parameters
        ----------
        original
            The data that it was made from, an object of another library that holds it, or the name
            of its file. Without it, checks that need it are not made.
        original_file, key, trust_method, limit_bytes, strict, require_all, on_disk
            As `graphveil.verify_release` takes them.

        Returns
        -------
        Verdict
            Every claim of the release with its result.

        Examples
        --------
        >>> import graphveil as gv
        >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
        >>> gv.KDegree(k=2).anonymize(graph).verify(graph).ok
        True
        """
        from graphveil.verbs.verify import verify_release  # noqa: PLC0415  a door

        return verify_release(
            self,
            original,
            original_file=original_file,
            key=key,
            trust_method=trust_method,
            limit_bytes=limit_bytes,
            strict=strict,
            require_all=require_all,
            on_disk=on_disk,
        )

    def evaluate(
        self,
        original: Any,
        *,
        metrics: Sequence[str] | None = None,
        seed: int | None = None,
        test: Any = None,
        label: str | None = None,
        attached: Attached | None = None,
        as_sample: bool = False,
        population: int | None = None,
    ) -> Rows:
        """Return what this release kept: `graphveil.evaluate_release` of this release.

        Parameters
        ----------
        original
            The data that it was made from, an object of another library that holds it, or the name
            of its file.
        metrics, seed, test, label, attached, as_sample, population
            As `graphveil.evaluate_release` takes them.

        Returns
        -------
        Rows
            One row for each figure.

        Examples
        --------
        >>> import graphveil as gv
        >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
        >>> kept = gv.KDegree(k=2).anonymize(graph).evaluate(graph, metrics=["edges-kept"])
        >>> {row.part: row.value for row in kept}["share"]
        1.0
        """
        from graphveil.verbs.evaluate import evaluate_release  # noqa: PLC0415  a door

        return evaluate_release(
            self,
            original,
            metrics=metrics,
            seed=seed,
            test=test,
            label=label,
            attached=attached,
            as_sample=as_sample,
            population=population,
        )

    def attack(  # noqa: PLR0913  the options of the verb
        self,
        original: Any,
        *,
        attacks: Sequence[str] | None = None,
        seed: int | None = None,
        options: Mapping[str, Mapping[str, Any]] | None = None,
        second: Release[Any] | str | Path | None = None,
        attached: Attached | None = None,
        rerun: Rerun | Literal["automatic"] | None = "automatic",
        seconds: float | None = None,
        quick_seconds: float = 0.0,
    ) -> Rows:
        """Return what an attacker learns: `graphveil.attack_release` of this release.

        Parameters
        ----------
        original
            The data that it was made from, an object of another library that holds it, or the name
            of its file.
        attacks, seed, options, second, attached, rerun, seconds, quick_seconds
            As `graphveil.attack_release` takes them.

        Returns
        -------
        Rows
            One row for each figure, with the guess that it is compared with.

        Examples
        --------
        >>> import graphveil as gv
        >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
        >>> learned = gv.KDegree(k=2).anonymize(graph).attack(graph, attacks=["candidate-set"])
        >>> {row.part: row.value for row in learned}["degree, right guess"]
        0.5
        """
        from graphveil.verbs.attack import attack_release  # noqa: PLC0415  a door

        return attack_release(
            self,
            original,
            attacks=attacks,
            seed=seed,
            options=options,
            second=second,
            attached=attached,
            rerun=rerun,
            seconds=seconds,
            quick_seconds=quick_seconds,
        )

    def report(  # noqa: PLR0913  the options of the verb
        self,
        original: Any = None,
        *,
        public: bool | None = None,
        form: Form = "html",
        recipient: str | None = None,
        declared: str | Path | None = None,
        attacks: Sequence[str] = (),
        seed: int | None = None,
        rows: Rows | None = None,
        verdict: Verdict | None = None,
    ) -> Report:
        """Return a page about this release: `graphveil.report_release` of this release.

        Parameters
        ----------
        original
            The data that it was made from, an object of another library that holds it, or the name
            of its file. Without it nothing is attacked or compared.
        public, form, recipient, declared, attacks, seed, rows, verdict
            As `graphveil.report_release` takes them.

        Returns
        -------
        Report
            The page or the description, with its verdict and figures.

        Examples
        --------
        >>> import graphveil as gv
        >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
        >>> gv.KDegree(k=2).anonymize(graph).report(public=True).public
        True
        """
        from graphveil.pages.report.report import report_release  # noqa: PLC0415  a door

        return report_release(
            self,
            original,
            public=public,
            form=form,
            recipient=recipient,
            declared=declared,
            attacks=attacks,
            seed=seed,
            rows=rows,
            verdict=verdict,
        )

    def to_arrow(self, *, null: bool = False) -> pa.Table:
        """Return the published data as an Arrow table: edges, pairs of user and item, or cells.

        The known columns of a generalized table are dictionaries in which ``*`` is a value, the
        last one. Intervals, prefixes and dates are ordered if the release was made in memory, since
        no file states an order, and so are ordered categories of a frame. Likewise, attached
        columns then keep the type that they had in a frame. In other tables, and in
        ``release.data.to_arrow()``, a suppressed cell is null.

        Parameters
        ----------
        null
            Whether a suppressed cell is null in generalized tables, too. Statistics then omit
            it.

        Returns
        -------
        pyarrow.Table
            One row for each edge, pair or row of the release.

        Examples
        --------
        >>> import graphveil as gv
        >>> people = gv.Table.from_columns({"age": [23, 27, 45, 64]})
        >>> release = gv.Generalize(k=2, levels={"age": "10"}).anonymize(people)
        >>> sorted(set(release.to_arrow()["age"].to_pylist()))
        ['*', '20-29']
        >>> release.to_arrow(null=True)["age"].null_count
        2
        """
        data, cells = self.data, self.data.to_arrow()
        if self.generalized is None or not isinstance(data, Table):
            return cells
        for column in self.generalized.columns:
            if column.role == "known":
                at = cells.column_names.index(column.name)
                ordered = self.in_order and column.levels not in {"stars", "file", None}
                order = _order_of(self.types.get(column.name))
                shown = _dictionary(data, at, ordered=ordered, order=order, null=null)
                cells = cells.set_column(at, column.name, shown)
            elif column.name in self.types:
                at = cells.column_names.index(column.name)
                typed = _typed(cells.column(at), self.types[column.name])
                cells = cells.set_column(at, column.name, typed)
        return cells

    @needs_library
    def to_pandas(self, *, null: bool = False) -> pd.DataFrame:
        """Return what `to_arrow` gives as a pandas frame; dictionaries are categories.

        Its index is 0..n-1, the new ids: that of the original would say whose row is whose.

        Parameters
        ----------
        null
            As `to_arrow` takes it.

        Returns
        -------
        pandas.DataFrame
            One row for each edge, pair or row of the release.

        Examples
        --------
        >>> import graphveil as gv
        >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
        >>> release = gv.KDegree(k=2).anonymize(star, seed=1)
        >>> release.to_pandas().shape
        (7, 2)
        """
        if self.generalized is None:
            return self.data.to_pandas()
        cells = self.to_arrow(null=null)
        frame: pd.DataFrame = cells.to_pandas()
        for name, kind in self.types.items():
            if (
                hasattr(kind.pandas, "__from_arrow__")
                and cells.schema.field(name).type == kind.arrow
            ):
                mapped = cells.column(name).to_pandas(types_mapper=lambda _, to=kind.pandas: to)
                frame[name] = mapped
        return frame

    @needs_library
    def to_polars(self, *, null: bool = False) -> pl.DataFrame:
        """Return what `to_arrow` gives as a polars frame; dictionaries are of type Enum.

        Parameters
        ----------
        null
            As `to_arrow` takes it.

        Returns
        -------
        polars.DataFrame
            One row for each edge, pair or row of the release.

        Examples
        --------
        >>> import graphveil as gv
        >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
        >>> release = gv.KDegree(k=2).anonymize(star, seed=1)
        >>> release.to_polars().columns
        ['source', 'target']
        """
        if self.generalized is None:
            return self.data.to_polars()
        import polars as pl  # noqa: PLC0415  an optional library, accepted but never required

        cells = self.to_arrow(null=null)
        kinds = {
            name: pl.Enum(cells.column(name).chunk(0).dictionary.to_pylist())
            for name in cells.column_names
            if hasattr(cells.schema.field(name).type, "index_type")
        }
        return pl.DataFrame(cells).with_columns(
            pl.col(name).cast(pl.String).cast(kind) for name, kind in kinds.items()
        )

    def to_duckdb(
        self, connection: duckdb.DuckDBPyConnection | None = None, *, null: bool = False
    ) -> duckdb.DuckDBPyRelation:
        """Return what `to_arrow` gives as a relation of DuckDB; dictionaries are of type ENUM.

        Values of an ENUM compare in its order, in which ``*`` is the last one.

        Parameters
        ----------
        connection
            Whose relation it is. Default: the connection that `duckdb.sql` uses.
        null
            As `to_arrow` takes it.

        Returns
        -------
        duckdb.DuckDBPyRelation
            One row for each edge, pair or row of the release.

        Examples
        --------
        >>> import graphveil as gv
        >>> people = gv.Table.from_columns({"age": [23, 27, 45, 64]})
        >>> release = gv.Generalize(k=2, levels={"age": "10"}).anonymize(people)
        >>> sorted(release.to_duckdb().fetchall())
        [('*',), ('*',), ('20-29',), ('20-29',)]
        """
        import duckdb  # noqa: PLC0415  heavy: not for help

        cells = self.to_arrow(null=null)
        columns = []
        for field_ in cells.schema:
            name = '"{}"'.format(field_.name.replace('"', '""'))
            values = []
            if hasattr(field_.type, "index_type"):
                values = cells.column(field_.name).chunk(0).dictionary.to_pylist()
            texts = ", ".join("'{}'".format(str(one).replace("'", "''")) for one in values)
            columns.append(f"{name}::ENUM({texts}) AS {name}" if values else name)
        relation = duckdb.from_arrow(cells, connection=connection or duckdb.default_connection())
        return relation.project(", ".join(columns))

    def bounds(self, column: str) -> pa.Table:
        """Return the least and the largest value that each cell of a column of numbers allows.

        These are two columns of floats, ``COLUMN_low`` and ``COLUMN_high``. Both ends of ``20-39``
        belong to it, and the upper end of ``[20, 40)`` does not. What is open on one side ends at
        infinity. A suppressed or missing cell has NaN twice.

        Parameters
        ----------
        column
            A column of a released table.

        Returns
        -------
        pyarrow.Table
            Two float64 columns, one row for each row of the release.

        Raises
        ------
        UsageError
            If the release is not a table, or has no such column.
        DataError
            If the column publishes what is neither a number nor an interval of numbers.

        Examples
        --------
        >>> import graphveil as gv
        >>> people = gv.Table.from_columns({"age": [23, 27, 31, 38]})
        >>> release = gv.Generalize(k=2, levels={"age": "10,20"}).anonymize(people)
        >>> sorted(release.bounds("age").to_pandas().itertuples(index=False, name=None))
        [(20.0, 29.0), (20.0, 29.0), (30.0, 39.0), (30.0, 39.0)]
        """
        ends = self._ends(column)
        return pa.table({f"{column}_low": ends[:, 0], f"{column}_high": ends[:, 1]})

    def midpoints(self, column: str) -> NDArray[np.float64]:
        """Return the middle of what each cell of a column of numbers allows.

        It is the mean of `bounds`, and NaN if the cell is suppressed or open on one side.

        Parameters
        ----------
        column
            A column of a released table.

        Returns
        -------
        numpy.ndarray
            float64, shape (n_rows,).

        Raises
        ------
        UsageError, DataError
            As `bounds`.

        Examples
        --------
        >>> import graphveil as gv
        >>> people = gv.Table.from_columns({"age": [23, 27, 31, 38]})
        >>> release = gv.Generalize(k=2, levels={"age": "10,20"}).anonymize(people)
        >>> sorted(release.midpoints("age").tolist())
        [24.5, 24.5, 34.5, 34.5]
        """
        ends = self._ends(column)
        ends[np.isinf(ends).any(axis=1)] = np.nan
        middle: NDArray[np.float64] = ends.mean(axis=1)
        return middle

    def _ends(self, column: str) -> NDArray[np.float64]:
        """Return the lower and the upper end of every cell of a column."""
        data: Any = self.data
        if not isinstance(data, Table):
            raise UsageError(f"bounds and midpoints do not apply to a {type(data).__name__}.")
        if column not in data.columns:
            raise UsageError(f"no column {column!r}. {one_of(column, data.columns)}")
        described = self.generalized.columns if self.generalized is not None else ()
        kind = next((one.levels for one in described if one.name == column), None)
        at = data.columns.index(column)
        ends = np.full((data.categories[at].size + 1, 2), np.nan)
        for code, value in enumerate(map(str, data.categories[at].tolist())):
            ends[code] = _ends_of(column, value, kind)
        shown: NDArray[np.float64] = ends[data.codes[:, at]]
        return shown

    def generalized_graph(self) -> GeneralizedGraph:
        """Return the groups of a release by `super-nodes`, with their numbers of edges.

        Raises
        ------
        UsageError
            If the release has no such guarantee.

        Examples
        --------
        >>> import graphveil as gv
        >>> square = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n=4)
        >>> release = gv.SuperNodes(k=2).anonymize(square)
        >>> release.generalized_graph().sizes.tolist(), release.sample(seed=7).n_edges
        ([2, 2], 4)
        """
        if not isinstance(self.guarantee, SuperNodeAnonymity):
            method = self.provenance.method
            raise UsageError(f"a release by {method} has no groups. Use super-nodes.")
        return GeneralizedGraph.of(cast("Graph", self.data), self.guarantee.k)

    def sample(self, seed: int) -> Graph:
        """Return another graph with the groups and numbers of edges of a release by `super-nodes`.

        Parameters
        ----------
        seed
            At least 0; 0 gives the published graph.

        Returns
        -------
        Graph
            It has the same groups and numbers of edges.

        Raises
        ------
        UsageError
            As `generalized_graph`.

        Examples
        --------
        >>> import graphveil as gv
        >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0])
        >>> release = gv.SuperNodes(k=3).anonymize(ring)
        >>> release.sample(0).n_edges, release.sample(1).n_edges
        (6, 6)
        """
        return self.generalized_graph().sample(seed)

    def to_table(self) -> Table:
        """Return a released table, or released one-hot rows as one: see `Table.from_one_hot`.

        A release by `super-nodes` becomes its groups with their numbers of edges: see
        `GeneralizedGraph.to_table`.

        Returns
        -------
        Table
            The released rows.

        Raises
        ------
        UsageError
            If the release is not a table and cannot be one.

        Examples
        --------
        >>> import graphveil as gv
        >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0])
        >>> gv.SuperNodes(k=3).anonymize(ring).to_table().columns
        ('group', 'nodes', 'other', 'other_nodes', 'edges', 'pairs')
        """
        if isinstance(self.guarantee, SuperNodeAnonymity):
            return self.generalized_graph().to_table()
        as_table = kind_of(self.data).as_table
        if as_table is None:
            name = type(self.data).__name__
            raise UsageError(f"to_table does not apply to a {name}. Use to_arrow or to_pandas.")
        return as_table(self.data)

    def to_scipy(self) -> sparse.csr_array:
        """Return the matrix of a released graph, or of released users by features.

        Where features are people, it is square: column j is the person of row j.

        Returns
        -------
        scipy.sparse.csr_array
            int8, shape (n, n) for a graph, (users, features) for user-item data.

        Examples
        --------
        >>> import graphveil as gv
        >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
        >>> release = gv.KDegree(k=2).anonymize(star, seed=1)
        >>> matrix = release.to_scipy()
        >>> matrix.shape, int(matrix.sum()) // 2
        ((5, 5), 7)
        """
        return self._as("to_scipy")

    @needs_library
    def to_networkx(self) -> nx.Graph[Any]:
        """Return a released graph, or released users and features, as a NetworkX graph.

        Where features are people, it is a directed graph of people: an arc leads from each person
        to every feature of theirs.

        Returns
        -------
        networkx.Graph
            Its nodes are the new ids.

        Examples
        --------
        >>> import graphveil as gv
        >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
        >>> release = gv.KDegree(k=2).anonymize(star, seed=1)
        >>> sorted(degree for _, degree in release.to_networkx().degree)
        [2, 2, 2, 4, 4]
        """
        return self._as("to_networkx")

    @needs_library
    def to_igraph(self) -> ig.Graph:
        """Return a released graph, or people whose features are people, as an igraph graph.

        Returns
        -------
        igraph.Graph
            Its vertices are the new ids.

        Examples
        --------
        >>> import graphveil as gv
        >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
        >>> release = gv.KDegree(k=2).anonymize(star, seed=1)
        >>> sorted(release.to_igraph().degree())
        [2, 2, 2, 4, 4]
        """
        return self._as("to_igraph")

    def _as(self, conversion: str) -> Any:
        data: Any = self.data
        if ItemsAreUsers() in self.conditions:
            data = data.with_items("people")
        convert = getattr(data, conversion, None)
        if convert is None:
            kind = type(self.data).__name__
            raise UsageError(f"{conversion} does not apply to a {kind}. Use to_arrow or to_pandas.")
        return convert()

    def _repr_html_(self) -> str:
        """Return what is guaranteed of what, as a table for notebooks; nothing that is private."""
        rows = [("data", self.data), ("promise", self.guarantee.sentence)]
        rows += [("condition", condition.sentence) for condition in self.conditions]
        rows += list(self.provenance.parameters.items())
        return html_table(self.provenance.method, ("what", "value"), rows)

    def __repr__(self) -> str:
        """Return the method, the guarantee and the size."""
        return visible(
            f"Release({self.provenance.method}: {self.guarantee.sentence} {self.data!r})"
        )


def _typed(column: pa.ChunkedArray, kind: ColumnType) -> pa.ChunkedArray | pa.Array:
    """Return a column in a type, as it is where its cells are not of that type.

    Of categories there are those that are published, in their order.
    """
    texts = column.cast(pa.string())
    try:
        if kind.order is None:
            return texts.cast(kind.arrow)
        shown = set(texts.to_pylist())
        values = [one for one in kind.order if one in shown]
        if not shown <= {*values, None}:
            return column
        place = {value: code for code, value in enumerate(values)}
        codes = pa.array([place.get(text) for text in texts.to_pylist()], pa.int32())
        own = kind.arrow.value_type
        own = pa.string() if isinstance(own, pa.BaseExtensionType) else own  # intervals of pandas
        categories = pa.array(values, pa.string()).cast(own)
        return pa.DictionaryArray.from_arrays(codes, categories, ordered=kind.arrow.ordered)
    except pa.ArrowException:
        return column


def _ends_of(column: str, text: str, kind: str | None) -> tuple[float, float]:
    """Return the lower and the upper end of a published value of a column."""
    intervals = kind in {"widths", "edges", "auto", "file"}
    for form in _INTERVALS if intervals else _INTERVALS[:1]:
        match = None if kind in {"prefix", "dates"} else form.fullmatch(text)
        if match is not None:
            low, high = (
                float(match.groupdict().get(end) or infinite)
                for end, infinite in (("low", "-inf"), ("high", "inf"))
            )
            if form is _INTERVALS[0]:
                high = low
            if low <= high:
                return low, high
    raise DataError(
        f"column {column} publishes {printable(text, _LONGEST)}, which is not a number or an "
        "interval of numbers. Use to_arrow or to_pandas."
    )


_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_INTERVALS = tuple(
    re.compile(form.replace("LOW", f"(?P<low>{_NUMBER})").replace("HIGH", f"(?P<high>{_NUMBER})"))
    for form in ("LOW", r"LOW *- *HIGH", r"[\[\](]LOW *, *HIGH[\[\])]", "<=?HIGH", ">=?LOW")
)
"""A number, and intervals as they are written; the outer ones are open on one side."""

_LONGEST = 40


def _order_of(kind: ColumnType | None) -> tuple[str, ...]:
    """Return the categories of a column that had an order in a frame; none of others."""
    ordered = kind is not None and getattr(kind.arrow, "ordered", False)
    return kind.order or () if ordered and kind is not None else ()


def _dictionary(
    data: Table, column: int, *, ordered: bool, order: Sequence[str], null: bool
) -> pa.DictionaryArray:
    """Return a column as a dictionary of the values that are shown and ``*``, the last one.

    Instead of ``*`` there may be nulls. Values that all have a place in an order are in that order.
    """
    values = [str(value) for value in data.categories[column].tolist()]
    place = np.arange(len(values) + 1)
    if order and {*values} <= {*order}:
        own = sorted(values, key=order.index)
        place[:-1] = [own.index(value) for value in values]
        values, ordered = own, True
    codes = place[data.codes[:, column]].astype(np.int32)  # a suppressed one has the last place
    texts = pa.array(values if null else [*values, ALL], pa.string())
    hidden = codes == len(values) if null else None
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=hidden), texts, ordered=ordered)


def read_release(folder: str | Path) -> Release[Any]:
    """Return the release in this folder, with the owner's part where it is next to it.

    Reading checks no claim: `Release.verify` and ``graphveil verify`` do.

    Parameters
    ----------
    folder
        The release folder; the private folder is looked for next to it.

    Returns
    -------
    Release
        The data, what is claimed of it, and the owner's part if it is there.

    Raises
    ------
    ReleaseError
        Where the folder is not a release.
    InputError
        Where a data file cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import graphveil as gv
    >>> star = gv.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
    >>> release = gv.KDegree(k=2).anonymize(star, seed=1)
    >>> with TemporaryDirectory() as folder:
    ...     read = read_release(release.write(Path(folder, "star-k2")))
    >>> read.guarantee.k, read.data == release.data
    (2, True)
    """
    path = Path(folder)
    manifest = read_manifest(path)
    return Release(
        data=read_data(path, manifest.data, keyed=KeyedIds() in manifest.claim.conditions),
        guarantee=manifest.claim.guarantee,
        conditions=tuple(manifest.claim.conditions),
        provenance=Provenance(
            method=manifest.method.name,
            source=manifest.method.source,
            limits=manifest.claim.does_not_protect_against,
            parameters=manifest.method.parameters,
            tool=manifest.tool,
            version=manifest.version,
        ),
        private=_read_private(path),
        generalized=read_generalization(path, manifest.data),
    )


def _read_private(folder: Path) -> Private | None:
    record = read_record(folder)
    if record is None:
        return None
    linkage = read_linkage(folder)
    return Private(
        **{name: getattr(record, name) for name in NOTES} | {"release_id": record.identity},
        linkage=linkage,
        levels=read_levels(folder),
        witness=read_witness(folder, linkage),
    )


def nesting_of(first: Release[Any] | None) -> tuple[str, ...]:
    """Return what tells a release, and those that it is nested in, for one that is nested in it."""
    if first is None or first.private is None:
        return ()
    return (*first.private.nested_in, first.private.release_id)
