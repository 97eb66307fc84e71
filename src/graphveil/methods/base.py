"""The base of every method: parameters in, Release out.

The fields of a method are the Python arguments, the flags of the command line, the keys of a
configuration file and the columns of a sweep: one definition, four uses.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    TypeVar,
    cast,
)

from graphveil.claims.conditions import (
    AnyCondition,
    AttachedColumns,
    Condition,
    accepted_narrowing,
)
from graphveil.claims.guarantees import AnyGuarantee, KAnonymity, NotClaimed
from graphveil.claims.ledger import Ledger
from graphveil.core.errors import InfeasibleError, ParameterError
from graphveil.core.hints import option
from graphveil.core.parameters import (
    arguments_of,
    check_digits,
    check_fields,
    flat_parameters,
    flat_values,
    of_generalize_alone,
    rounded_down,
    unknown_parameter,
)
from graphveil.core.randomness import Randomness
from graphveil.core.stated_parameters import Restated, published_parameters
from graphveil.core.visible import visible
from graphveil.data import Bipartite, Data, Table
from graphveil.data.kinds import (
    Container,
    as_container,
    as_released,
    encoded,
    kind_of,
    read_anew,
)
from graphveil.methods.card import MethodCard

if TYPE_CHECKING:
    from graphveil.release import Release
    from graphveil.release.draft import Draft
    from graphveil.release.making import Draw


D = TypeVar("D", bound=Data)

SourceName = Literal["memory", "blocks", "rows", "ties"]
"""Where data may lie: in memory, also in blocks of rows that processes share; on the disk or on a
cluster as rows, in chunks (the method derives from `graphveil.methods.smooth_k.smooth_k.Clustered`
or has its methods); on the disk as edges of a graph (`graphveil.scale.ties.run.FromDisk`)."""


@dataclass(frozen=True, kw_only=True)
class Anonymizer(ABC, Generic[D]):
    """A published method with its parameters; `anonymize` is its one pure method.

    A method has a `name`, a `card`, what it `accepts`, its `guarantee` and `draft`. The others have
    defaults: what else holds of every release (`conditions`, `states`), what a manifest states of
    parameters and limits (`restated`, `limits`), and what data is refused (`check`, `check_size`).
    """

    name: ClassVar[str]
    accepts: ClassVar[tuple[Container, ...]]
    """Every kind of data that it takes. Where features come first, it reads others as features;
    what was a table is released as a table."""
    card: ClassVar[MethodCard]
    """All that is true of the method whatever its parameters and the data."""
    sources: ClassVar[tuple[SourceName, ...]] = ("memory",)
    """Where its data may lie, see `SourceName`."""

    def __init_subclass__(cls) -> None:
        """Refuse a class whose `accepts` is not a tuple."""
        super().__init_subclass__()
        accepts = cls.__dict__.get("accepts", (Table,))
        if not isinstance(accepts, tuple):
            raise TypeError(
                f"{cls.__name__}.accepts is {accepts!r}. Use a tuple of types, such as (Graph,)."
            )

    def __new__(cls, *values: Any, **_parameters: Any) -> Self:
        """Make a method of parameters with their names."""
        of_generalize_alone(cls, _parameters)
        if values:
            given = [item for item in dataclasses.fields(cls) if item.init]
            given.sort(key=lambda item: (item.name != "k", item.default is not MISSING))
            names = [item.name for item in given]
            named = ", ".join(f"{n}={v!r}" for n, v in zip(names, values, strict=False))
            call = visible(f"{cls.__name__}({named})")
            raise TypeError(f"{cls.__name__} takes keyword arguments only: {call}.")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Check every parameter against its type and range, and how many digits it publishes.

        An epsilon with more digits is rounded down, which spends less.
        """
        check_fields(self)
        for name, value in published_parameters(self).items():
            if isinstance(value, float) and name.startswith("epsilon") and hasattr(self, name):
                object.__setattr__(self, name, rounded_down(name, value))
            elif isinstance(value, float):
                check_digits(name, value)

    @abstractmethod
    def draft(self, data: D, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release; its position i stands for position i of the data.

        Parameters
        ----------
        data
            Data that `check` took, in the kind that comes first in `accepts`.
        randomness
            Every draw is a stream of it.

        Returns
        -------
        Draft
            The anonymized data, and what only the method knows of the run.

        Examples
        --------
        >>> import graphveil as gv
        >>> from graphveil.core.randomness import Randomness
        >>> wedge = gv.Graph.from_edges([0, 0], [1, 2])
        >>> drafted = gv.KDegree(k=2).draft(wedge, Randomness(1))
        >>> drafted.data.degrees().tolist(), drafted.notes.cost["edits"]
        ([2, 2, 2], 1)
        """

    @property
    @abstractmethod
    def guarantee(self) -> AnyGuarantee:
        """What is guaranteed, before any data is read; a run may claim less, never more."""

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """What else holds of every release, by construction."""
        return ()

    @property
    def states(self) -> tuple[type[Condition], ...]:
        """The types of conditions that every run adds; under a seed, not those `without_seed`."""
        return ()

    @property
    def restated(self) -> Mapping[str, Restated]:
        """The parameters that a manifest omits or states by something other than their values."""
        return {}

    @property
    def reads_exactly(self) -> bool:
        """Whether a table keeps the values of its numbers and dates, as they are written."""
        return False

    @property
    def rows_needed(self) -> int:
        """The fewest rows (or nodes) for which the guarantee can be kept: as a rule its k."""
        return int(getattr(self.guarantee, "k", 1))

    def anonymize(
        self, data: Any, *, seed: int | None = None, ledger: Ledger | None = None
    ) -> Release[D]:
        """Return a release of the data that keeps the guarantee, under new ids in a new order.

        Parameters
        ----------
        data
            The container that the method accepts, or an object of another library that holds it
            (NetworkX, igraph, SciPy, pandas, polars, DuckDB, Arrow). A method for `Bipartite` also
            takes a `Table` and anonymizes its one-hot encoding, but releases a table with the same
            columns. To release the encoding, pass ``table.one_hot()``.
        seed
            None draws from the operating system's entropy. With a seed the same data gives the
            same release; a seed is a secret of the owner.
        ledger
            Where epsilon is entered before anything is drawn; it stays entered if the run fails.

        Raises
        ------
        UsageError
            Where the data is of another kind, or the ledger's limit would be passed.
        InfeasibleError
            Where the data has too few rows.

        Warns
        -----
        GraphveilWarning
            What the owner should know before publishing.
        """
        from graphveil.release.making import make_release  # noqa: PLC0415  help needs no release

        return make_release(self, self.prepared(data), self.draft, seed=seed, ledger=ledger)

    def prepared(self, data: Any) -> D:
        """Return data that was handed in as the kind that a release of it has, or refuse it."""
        # Step 1: read it as the first kind that the method accepts and the object can hold.
        container = as_container(data, self.accepts, wanted_by=self.name, exact=self.reads_exactly)
        # Step 2: refuse it here, once. What comes after trusts the data. Hints are worded for the
        # object that was handed in, not for the container made of it.
        with read_anew(data, container):
            self.check(container)
        # Step 3: a table stays a table, also if the method reads its one-hot encoding.
        return cast("D", as_released(container, self.accepts[0]))

    def drafted(self, data: Any, draw: Draw, randomness: Randomness) -> Draft[Any]:
        """Return the draft that `draw` makes of the data; for a table, a table with its columns.

        A table of which a method reads the one-hot encoding is encoded, and the draft decoded.
        Where people have several rows, rows of different people are anonymized in turn.
        """
        # Step 1: if people have several rows, cut the table into layers with one row per person at
        # most, draft each layer by itself, and put the drafts together.
        if isinstance(data, Table) and data.units is not None and not self.card.layers_itself:
            from graphveil.methods.layers import draft_in_layers  # noqa: PLC0415  few need it

            return draft_in_layers(
                data,
                self.rows_needed,
                lambda part: Anonymizer.drafted(self, part, draw, randomness),
            )
        # Step 2: the kind that the method reads: one-hot encoding for a method of features.
        read = encoded(data, self.accepts[0])
        if read is data or data.people is None:
            return draw(read, randomness)
        # Step 3: draft the encoding, which knows the column of each feature, and decode the draft
        # into the columns of the table.
        draft = draw(dataclasses.replace(read, column_of=data.column_of_features()), randomness)
        shown = isinstance(draft.data, Bipartite)
        return draft._replace(data=data.showing(draft.data)) if shown else draft

    def check_drafted(self, data: Data, drafted: Data) -> None:
        """Refuse a draft whose attached columns show what known ones hide.

        Parameters
        ----------
        data
            What is anonymized.
        drafted
            What is about to be published of it, at the same positions.

        Raises
        ------
        DataError
            As `graphveil.methods.attached.check_attached`.
        """
        # Only `AttachedColumns` is about columns outside the guarantee, as far as the owner
        # accepted what they show.
        for condition in self.conditions:
            if isinstance(condition, AttachedColumns):
                from graphveil.methods.attached import check_attached  # noqa: PLC0415  measures

                check_attached(data, drafted, condition)

    def limits(self, kind: str | None = None, claimed: AnyGuarantee | None = None) -> str:
        """Return what a release with these parameters does not protect against.

        It follows from parameters that the manifest states. Figures are those of the releases
        nearest to these options that were attacked in our tests; where options differ, it says so.

        Parameters
        ----------
        kind
            A kind of `graphveil.data.kinds.KINDS`; None for any.
        claimed
            The claim of the run; None for what the method guarantees.

        Returns
        -------
        str
            Whole sentences.

        Examples
        --------
        >>> import graphveil as gv
        >>> plain, attributed = gv.KDegree(k=5), gv.KDegree(k=5, known="sex")
        >>> attributed.limits().removeprefix(plain.limits()).partition(",")[0]
        ' If attributes are published'
        """
        del claimed
        # The card's text for these parameters, then what the owner accepted of attached columns.
        attach, share = getattr(self, "attach", None), getattr(self, "may_narrow", None)
        attributes = any((getattr(self, "known", None), attach))
        limits = self.card.limits_for(published_parameters(self), kind, attributes=attributes)
        return limits if share is None else f"{limits} {accepted_narrowing(share)}"

    def check(self, data: Data) -> None:
        """Refuse data that this method cannot anonymize with these parameters.

        Parameters
        ----------
        data
            What is to be anonymized.

        Raises
        ------
        UsageError
            If the method does not take data of this kind.
        DataError
            If the data lacks something that the method needs, or a question about it is open.
        InfeasibleError
            If the guarantee cannot hold for so few rows or nodes.

        Examples
        --------
        >>> import graphveil as gv
        >>> people = gv.Table.from_columns({"age": [23, 27, 31]})
        >>> gv.KDegree(k=2).check(people)
        Traceback (most recent call last):
            ...
        graphveil.core.errors.UsageError: k-degree takes a Graph or a Network, not a Table. ...
        """
        # In turn: the kind of data, what its kind alone allows, rows of one person, and size.
        if not isinstance(data, self.accepts):
            as_container(data, self.accepts, wanted_by=self.name)  # which says what is taken
        kind = kind_of(data)
        kind.check(data)
        check_units(self, data)
        self.check_size(data.size, noun=kind.people)

    def check_size(self, n: int, *, noun: str = "rows") -> None:
        """Refuse so few rows or nodes that the guarantee cannot be kept, and an empty guarantee.

        Parameters
        ----------
        n
            How many rows, or nodes of a network, there are.
        noun
            What they are called in a message.

        Raises
        ------
        InfeasibleError
            If there are too few.
        ParameterError
            If the guarantee would be true of any data, such as k-anonymity with k=1.

        Examples
        --------
        >>> import graphveil as gv
        >>> gv.KDegree(k=5).check_size(4, noun="nodes")
        Traceback (most recent call last):
            ...
        graphveil.core.errors.InfeasibleError: k-degree with these parameters needs at least 5 ...
        """
        check_guarantee(self)
        if n < self.rows_needed:
            cure = "Lower k, or provide" if hasattr(self, "k") else "Provide"
            needs = f"needs at least {self.rows_needed} {noun}; the data has {n}"
            raise InfeasibleError(f"{self.name} with these parameters {needs}. {cure} more data.")

    def parameters(self) -> dict[str, Any]:
        """Return every parameter by name, as JSON and TOML can hold them."""
        return flat_values(self)

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """Return the method with these parameters.

        `parameters`: as `parameters` gives them, or as the command line does; options also as
        objects, under the names of the class's fields. Raises `ParameterError` where a name is
        unknown, one is missing, or a value is out of range or belongs to options that were not
        chosen.
        """
        # Names may be flat, as on the command line, or fields of the class, which hold options.
        known = {item.name: item for item in flat_parameters(cls)}
        fields = {item.name for item in dataclasses.fields(cls)}
        unknown = sorted(set(parameters) - set(known) - fields)
        if unknown:
            raise unknown_parameter(cls.name, unknown[0], known)
        for name, item in known.items():
            if item.default is MISSING and name not in parameters:
                raise ParameterError(f"{cls.name} requires {name}: {item.metadata['help']}")
        return cls(**arguments_of(cls, parameters))


def check_guarantee(method: Anonymizer[Any]) -> None:
    """Refuse parameters whose guarantee is true of any data, such as k-anonymity with k=1."""
    empty = method.guarantee.empty
    if empty:
        raise ParameterError(
            f"{method.name} with these parameters protects nobody: {empty}. Choose at least 2."
        )


def check_units(method: Anonymizer[Any], data: Data) -> None:
    """Refuse a table in which people or households have several rows, if it counts rows."""
    said = getattr(data, "units", None) is not None and getattr(data, "person", None)
    counts = method.card.counts_people and isinstance(method.guarantee, KAnonymity)
    if said and not counts and not isinstance(method.guarantee, NotClaimed):
        cure = option("person", "row") if said == "people" else option("household")
        how = f"use {cure} to count rows" if said == "people" else f"remove {cure}"
        raise ParameterError(
            f"{method.name} with these parameters counts rows, but {said} have several rows "
            "that differ. Use suppress-k, cluster-k, mondrian or generalize, whose classes "
            f"count {said}; drop the columns in which the rows differ; or {how}."
        )
