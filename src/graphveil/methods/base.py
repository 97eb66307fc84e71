"""The base of every method: parameters in, Release out.

The fields of a method are the Python arguments, the flags of the command line, the keys of a
configuration file and the columns of a sweep: one definition, four uses.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass
from fractions import Fraction
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    NoReturn,
    Self,
    TypeVar,
    cast,
)

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import AnyCondition, Condition, ItemsAreUsers, RandomizedCells
from graphveil.claims.facts import Figures, changes_between, cost_of
from graphveil.claims.guarantees import AnyGuarantee, EdgeDP, NodeDP, unclaimed
from graphveil.claims.ledger import Ledger, LedgerReceipt
from graphveil.claims.manifest import Generalization
from graphveil.claims.neighbors import check_outside
from graphveil.core import errors
from graphveil.core.errors import InfeasibleError, ParameterError, UsageError, visible
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
from graphveil.core.progress import worked
from graphveil.core.randomness import Randomness
from graphveil.core.warnings import PEOPLE_AS_ITEMS, SEED, ids_as_things
from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.data.ids import Ids
from graphveil.data.kinds import Container, as_container, as_released, encoded, kind_of, read_anew
from graphveil.data.origin import ColumnType, ObjectOrigin, left_out_words, shared_ids

if TYPE_CHECKING:
    from graphveil.release import Provenance, Release

Ints = NDArray[np.int64]

D = TypeVar("D", bound=Data)

SourceName = Literal["memory", "blocks", "rows", "ties"]
"""Where data may lie: in memory, also in blocks of rows that processes share; on the disk or on a
cluster as rows, in chunks (the method derives from `graphveil.methods.smooth_k.smooth_k.Clustered`
or has its methods); on the disk as the edges of a graph (it has `Anonymizer.from_ties`)."""


class Reached(NamedTuple):
    """What attacks reached in our tests on releases with some options.

    Parameters
    ----------
    said
        Whole sentences; they name the options, and how many people were attacked.
    options
        The options of the attacked releases by the name of the published parameter, None where it
        is not published. A number stands for those nearest to it, by ratio.
    kinds
        The kinds of released data (of `graphveil.data.kinds.KINDS`) that it is said of; empty for
        all that the method takes.
    """

    said: str
    options: Mapping[str, Any]
    kinds: tuple[str, ...] = ()

    def distance(self, published: Mapping[str, Any]) -> tuple[int, float]:
        """Return how many options differ from those of a release, and how far its numbers are.

        Examples
        --------
        >>> measured = Reached("48% (k=20, edits=add).", {"k": 20, "edits": "add"})
        >>> measured.distance({"k": 20, "edits": "add"}), measured.distance({"k": 5})[0]
        ((0, 0.0), 1)
        """
        pairs = self._pairs(published)
        ratios = [math.log(own / value) for _, value, own in pairs if value and own]
        return len(self.differing(published)), round(sum(map(abs, ratios)), 9)

    def differing(self, published: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the names of the options that differ, but for numbers."""
        pairs = self._pairs(published)
        return tuple(
            name
            for name, value, own in pairs
            if not (value and own) and self.options[name] != published.get(name)
        )

    def _pairs(self, published: Mapping[str, Any]) -> list[tuple[str, float, float]]:
        """Return the options and those of a release as numbers; what is not a number is 0."""
        return [(n, _number(value), _number(published.get(n))) for n, value in self.options.items()]


def _said_of(one: Reached, kind: str | None) -> bool:
    return kind is None or not one.kinds or kind in one.kinds


def reached_by_k(
    said: str, *rows: tuple[int, float, float, str], **options: str
) -> tuple[Reached, ...]:
    """Return what attacks reached: by k two figures, in percent, and the number of people."""
    return tuple(
        Reached(said.format(k=k, one=one, other=other, people=people), {"k": k, **options})
        for k, one, other, people in rows
    )


class NewIds(NamedTuple):
    """Which position of the input stands where, and the ids, ascending; None where 0..n-1."""

    order: Ints
    ids: Ints | None = None

    def of_the_input(self) -> Ints:
        """Return the published id of every position of the input.

        >>> NewIds(np.array([2, 0, 1]), np.array([5, 7, 9])).of_the_input().tolist()
        [7, 9, 5]
        """
        released = np.empty_like(self.order)
        released[self.order] = np.arange(self.order.size) if self.ids is None else self.ids
        return released


class MethodResult(NamedTuple):
    """What a method hands over.

    Position i of `data` still stands for the input's position i. `facts` are what only the method
    knows of the run, for the private record; `advice` is for the owner. `guarantee` is None where
    it is what the method guarantees; `unprotected` are those for whom a partial one does not hold.

    The record at i was chosen to fit the persons of row i of `witness`, its own among them.
    `unrecorded` are arguments that no file keeps. `order` says which position of the input stands
    at each of the release, where something is stated by released node. `assignment` and `ancestors`
    are as in `graphveil.claims.record.Record`.
    """

    data: Data
    facts: Mapping[str, float | int] = {}
    advice: tuple[str, ...] = ()
    guarantee: AnyGuarantee | None = None
    conditions: tuple[AnyCondition, ...] = ()
    unprotected: Ints | None = None
    levels: Ints | None = None
    witness: tuple[Ints, NDArray[np.int32]] | None = None
    unrecorded: tuple[str, ...] = ()
    order: Ints | None = None
    assignment: str | None = None
    generalized: Generalization | None = None
    ancestors: Mapping[str, Mapping[str, Sequence[str]]] = {}


class EditedTies(NamedTuple):
    """What a method makes of a graph on the disk by few edits of it.

    `added, deleted`: smaller end first; `check`: refuses degrees of the published file that are not
    as planned.
    """

    added: NDArray[np.int32]
    deleted: NDArray[np.int32]
    check: Callable[[Ints], None]
    facts: Mapping[str, float | int] = {}
    advice: tuple[str, ...] = ()


class NoisyTies(NamedTuple):
    """How a method draws every pair of nodes of a graph on the disk, each for itself.

    `at_most`: a number of edges that the release hardly ever exceeds; `state`: draws what chances
    follow from: epsilon is spent by then; `exact_size`: whether edges are added or removed evenly
    until the noisy number is there.
    """

    at_most: int
    state: Callable[[], RandomizedCells]
    advice: Callable[[RandomizedCells, int], tuple[str, ...]]
    exact_size: bool = False


def _but_for_parameters(change: Callable[..., None]) -> Callable[..., None]:
    """Return what sets or deletes attributes, but for parameters."""

    def checked(method: object, name: str, *value: object) -> None:
        if not name.startswith("_"):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        change(method, name, *value)

    return checked


_GUARDS = {
    "__setattr__": _but_for_parameters(object.__setattr__),
    "__delattr__": _but_for_parameters(object.__delattr__),
}


@dataclass(frozen=True, kw_only=True)
class Anonymizer(ABC, Generic[D]):
    """A published method with its parameters; `anonymize` is its one pure method.

    What belongs to the method stands on its class: `name`, what it `accepts`, its `promise` in one
    line, its `source`, its `limits` (what it does not protect against, fixed text that says nothing
    of the data at hand), what attacks `reached` with which options, its `cost`, an `example` of
    parameters, whether it `nests`.

    ``sklearn.base.clone`` and ``Pipeline`` take it as an estimator that keeps nothing of the data.
    Parameters are frozen, but a pipeline sets private attributes on each step while it runs. A
    frozen dataclass refuses these too, so both checks are replaced once the class is complete.
    """

    name: ClassVar[str]
    accepts: ClassVar[tuple[Container, ...]]
    """Every kind of data that it takes. Where features come first, it reads others as features;
    what was a table is released as a table."""
    when: ClassVar[str] = ""
    """When to use it, in a sentence: lists of methods show it, else the guarantee."""
    promise: ClassVar[str]
    source: ClassVar[str]
    limits: ClassVar[str]
    """What no release protects against, whatever its options."""
    reached: ClassVar[tuple[Reached, ...]] = ()
    """What attacks reached in our tests; of two that are equally near the first, so that the
    options that protect less come first."""
    limits_of_attributes: ClassVar[str] = ""
    """What a release with attributes does not protect against, in addition to `limits`."""
    cost: ClassVar[str]
    example: ClassVar[Mapping[str, Any]]
    may_state: ClassVar[tuple[type[Condition], ...]] = ()
    """Types of conditions without fields that depend on parameters which only the owner knows."""
    nests: ClassVar[bool] = False
    spends: ClassVar[bool] = False
    """Whether it claims an epsilon, which adds up over releases."""
    sources: ClassVar[tuple[SourceName, ...]] = ("memory",)
    """Where its data may lie, see `SourceName`."""

    reads_exactly: ClassVar[bool] = False
    """Whether a table is read with its fractions as they are written: it groups them itself."""

    directed: ClassVar[bool] = False
    """Whether it takes edges with directions alone."""

    trial_size: ClassVar[int] = 20_000
    """The edges or entries on which advice tries it: about a second of work."""

    def __init_subclass__(cls) -> None:
        """Refuse a class whose `accepts` is not a tuple."""
        super().__init_subclass__()
        accepts = cls.__dict__.get("accepts", (Table,))
        if not isinstance(accepts, tuple):
            raise TypeError(
                f"{cls.__name__}.accepts is {accepts!r}. Use a tuple of types, such as (Graph,)."
            )

    def __new__(cls, *values: Any, **_parameters: Any) -> Self:
        """Make a method of parameters with their names; they alone are frozen."""
        for name, guard in _GUARDS.items():
            if vars(cls).get(name) is not guard:
                setattr(cls, name, guard)
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
        for name, value in self.published_parameters().items():
            if isinstance(value, float) and name.startswith("epsilon") and hasattr(self, name):
                object.__setattr__(self, name, rounded_down(name, value))
            elif isinstance(value, float):
                check_digits(name, value)

    @abstractmethod
    def _anonymize(self, data: D, randomness: Randomness) -> MethodResult:
        """Return the anonymized data with position i still standing for the input's position i."""

    def from_ties(self, graph: Graph, randomness: Randomness) -> EditedTies | NoisyTies:
        """Return what is made of a graph whose edges the disk holds, for the source ``ties``.

        Few pages of its lists are to be read. A run that goes on gets the same randomness again.
        """
        raise NotImplementedError

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
    def unstated(self) -> Collection[str]:
        """The parameters that no manifest states because they do not bear on a release."""
        return ()

    @property
    def concealing(self) -> Mapping[str, Any]:
        """What a manifest states in place of values that the owner's record alone keeps."""
        return {}

    @property
    def withheld_columns(self) -> tuple[str, ...]:
        """The columns of a table that parameters name, and that no release has."""
        return ()

    @property
    def epsilon_cells(self) -> Fraction | None:
        """What noisy counts leave of epsilon for cells, exactly; None where nothing is counted."""
        return None

    @property
    def rows_needed(self) -> int:
        """The fewest rows (or nodes) for which the guarantee can be kept: as a rule its k."""
        return int(getattr(self.guarantee, "k", 1))

    @property
    def may_run_again(self) -> bool:
        """Whether an attack may run it with parameters that it read in a private record."""
        return True

    def expected_cost(self, data: D) -> Figures | None:
        """Return what releases of the data cost on average, where public numbers say it."""
        del data
        return None

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
        return self._release(self.prepared(data), self._anonymize, seed, ledger)

    def entered(self, data: Data, ledger: Ledger | None, seed: int | None) -> LedgerReceipt | None:
        """Enter what a run will claim in a ledger, before it draws anything; None without one."""
        if ledger is None:
            return None
        check_outside(ledger.path)
        claimed = self.claimed(self.promised(data), Randomness(seed=seed))
        cells = kind_of(data).cells_of_one(data)
        return ledger.spend(claimed, method=self.name, person_cells=cells)

    def prepared(self, data: Any) -> D:
        """Return data that was handed in as the kind that a release of it has, or refuse it."""
        container = self._container(data)
        with read_anew(data, container):
            self.check(container)
        return cast("D", as_released(container, self.accepts[0]))

    def _container(self, data: Any) -> Data:
        return as_container(data, self.accepts, wanted_by=self.name)

    def _release(
        self,
        data: Any,
        draw: Callable[[Any, Randomness], MethodResult],
        seed: int | None,
        ledger: Ledger | None = None,
        nested_in: tuple[str, ...] = (),
    ) -> Release[D]:
        """Return the release of what `draw` makes of the data, under new ids in a new order."""
        from graphveil.release import (  # noqa: PLC0415  help needs no release
            Linkage,
            OwnersLevels,
            Release,
            Witness,
            digest_of,
            digests_of_origins,
        )

        randomness = Randomness(seed=seed)
        spent = self.entered(data, ledger, seed)
        started = worked()
        draft = self._drawn(data, draw, randomness)
        cost = cost_of(changes_between(data, draft.data), draft.facts)
        done = worked()
        new = self._new_ids(data, randomness) if draft.order is None else NewIds(draft.order)
        people = getattr(data, "items", None) == "people"
        guarantee = draft.guarantee or self.promised(data)
        of_items = (PEOPLE_AS_ITEMS,) if people else _ids_as_things(data)
        if people and isinstance(guarantee, EdgeDP | NodeDP):
            of_items = ()  # it covers entries, also those of the rows that list a person
        stated = self.stated(
            randomness,
            people=people,
            left_out=data.left_out,
            guarantee=guarantee.of_rows(getattr(data, "person", None)),
            conditions=draft.conditions,
            kind=kind_of(draft.data).name,
            advice=(*draft.advice, *of_items),
            input_sha256=digest_of(data),
            origins_sha256=digests_of_origins(data),
            cost=cost,
            seconds={"anonymize": done - started, "new ids": worked() - done},
            linkage=Linkage(data.labels(), new.of_the_input()),
            unprotected=()
            if draft.unprotected is None
            else tuple(data.labels()[draft.unprotected].tolist()),
            unrecorded=draft.unrecorded,
            assignment=draft.assignment,
            nested_in=nested_in,
            spent=spent,
            levels=None if draft.levels is None else OwnersLevels(data.labels(), draft.levels),
            witness=None if draft.witness is None else Witness(*draft.witness),
            ancestors=draft.ancestors,
        )
        published = cast("D", _published(draft.data, data, new))
        generalized = draft.generalized
        in_order = generalized is not None
        types = _types_of(data, generalized)
        return Release(
            data=published, generalized=generalized, in_order=in_order, types=types, **stated
        )

    def _drawn(
        self, data: Any, draw: Callable[[Any, Randomness], MethodResult], randomness: Randomness
    ) -> MethodResult:
        """Return what `draw` makes of the data; of a table, a table with its columns."""
        read = encoded(data, self.accepts[0])
        if isinstance(data, Table) and isinstance(read, Bipartite):
            read = dataclasses.replace(read, column_of=data.column_of_features())
        draft = draw(read, randomness)
        if isinstance(data, Table) and isinstance(draft.data, Bipartite):
            return draft._replace(data=data.showing(draft.data))
        return draft

    def stated(
        self,
        randomness: Randomness,
        *,
        people: bool = False,
        left_out: tuple[str, ...] = (),
        guarantee: AnyGuarantee | None = None,
        conditions: tuple[AnyCondition, ...] = (),
        advice: tuple[str, ...] = (),
        kind: str | None = None,
        **private: Any,
    ) -> dict[str, Any]:
        """Return the fields that a release and a publication share, and warn the owner."""
        from graphveil.release import Private  # noqa: PLC0415  help needs no release

        given = (*advice, *((SEED,) if randomness.seeded else ()))
        for text in given:
            errors.warn(text)
        advised = (str(errors.Message(text)) for text in given)
        private |= {"seed": randomness.seed, "withheld": self.withheld()}
        run = [private.get(name, ()) for name in ("input_sha256", "withheld", "nested_in")]
        purpose = f"release id of {self.name} {self.published_parameters()} {run}"
        private["release_id"] = randomness.secret(purpose).hex()
        claimed = self.claimed(guarantee, randomness)
        return {
            "guarantee": claimed,
            "conditions": (*self.conditions, *conditions, *((ItemsAreUsers(),) if people else ())),
            "provenance": dataclasses.replace(
                self.provenance, limits=self.limits_of(claimed, kind)
            ),
            "private": Private(warnings=(*advised, *left_out_words(left_out)), **private),
        }

    def _new_ids(self, data: D, randomness: Randomness) -> NewIds:
        """Return the order of the release: uniform, so that it says nothing of the input's."""
        return NewIds(randomness.permutation(data.size))

    def promised(self, data: Data) -> AnyGuarantee:
        """Return what is guaranteed of this data: with noise, the unit of epsilon and the lists.

        It reads names of items and what the owner says, nothing that the guarantee covers.
        """
        promise: AnyGuarantee = self.guarantee.of_rows(getattr(data, "person", None))
        if not isinstance(promise, EdgeDP | NodeDP):
            return promise
        public = getattr(data, "public_lists", ())
        collected = tuple(one for one in kind_of(data).lists if one not in public)
        if isinstance(promise, EdgeDP):
            items = str(getattr(data, "items", None))
            of = {"people": "listing", "values": "value"}.get(items, "entry")
            promise = msgspec.structs.replace(promise, of=of)
        return msgspec.structs.replace(promise, collected=collected)

    def claimed(self, guarantee: AnyGuarantee | None, randomness: Randomness) -> AnyGuarantee:
        """Return what a run claims: what the method guarantees, or less.

        `guarantee`: None where it is what the method guarantees. A seeded run claims nothing about
        the draw.
        """
        claimed = self.guarantee if guarantee is None else guarantee
        if not self.guarantee.covers(claimed):
            raise TypeError(f"{self.name} guarantees {self.guarantee}, but a run claims {claimed}")
        if randomness.seeded and claimed.check_word != "recomputed":
            return unclaimed(claimed, "repeatable")
        return claimed

    @property
    def stated_limits(self) -> str:
        """What a release with these parameters does not protect against.

        It follows from parameters that the manifest states. Figures are those of the releases
        nearest to these options that were attacked in our tests; where options differ, it says so.

        >>> import graphveil as gv
        >>> plain, said = gv.KDegree(k=5), gv.KDegree(k=5, known="sex")
        >>> said.stated_limits.removeprefix(plain.stated_limits).partition(",")[0]
        ' If attributes are published'
        """
        return self.limits_for(None)

    def limits_for(self, kind: str | None) -> str:
        """Return what a release of this kind of data does not protect against; None for any."""
        roles = getattr(self, "known", None), getattr(self, "attach", None)
        more = self.limits_of_attributes if any(roles) else ""
        kinds = dict.fromkeys(one.kinds for one in self.reached if _said_of(one, kind))
        nearest = map(self._nearest_reached, kinds)
        return " ".join(filter(None, (self.limits, *nearest, more)))

    def limits_of(self, claimed: AnyGuarantee, kind: str | None = None) -> str:  # noqa: ARG002  as a rule they are the same
        """Return what a release that claims this does not protect against: its manifest says so."""
        return self.limits_for(kind)

    def _nearest_reached(self, kinds: tuple[str, ...]) -> str:
        """Return what was reached on the most similar releases of these kinds of data."""
        published = self.published_parameters()
        fitting = (one for one in self.reached if one.kinds == kinds)
        nearest = min(fitting, key=lambda one: one.distance(published))
        differing = nearest.differing(published)
        if not differing:
            return nearest.said
        own = ", ".join(f"{name}={published.get(name)}" for name in differing)
        return (
            f"Releases with {own} were not attacked in our tests; the most similar ones were. "
            f"{nearest.said}"
        )

    @classmethod
    def example_limits(cls) -> str:
        """Return what a release with the parameters of the example does not protect against."""
        return cls.from_parameters(cls.example).stated_limits

    @property
    def provenance(self) -> Provenance:
        """Where a release of this method comes from, as far as the public may know."""
        from graphveil.release import Provenance  # noqa: PLC0415  as above

        return Provenance(
            method=self.name,
            source=self.source,
            limits=self.stated_limits,
            parameters=self.published_parameters(),
        )

    def published_parameters(self) -> dict[str, Any]:
        """Return the parameters that the public manifest states, with their values."""
        hidden, said = {*self.private_parameters(), *self.unstated}, self.concealing
        return {n: said.get(n, v) for n, v in self.parameters().items() if n not in hidden}

    @classmethod
    def private_parameters(cls) -> frozenset[str]:
        """Return the names of the parameters that no manifest states."""
        return frozenset(p.name for p in flat_parameters(cls) if p.metadata.get("private"))

    def withheld(self) -> dict[str, Any]:
        """Return what is for the owner's record alone: private parameters, and concealed values."""
        private = {*self.private_parameters(), *self.concealing}
        return {n: v for n, v in self.parameters().items() if n in private}

    def concealed(self) -> dict[str, Any]:
        """Return what a manifest states in place of values that the owner's record alone keeps."""
        return {name: said for name, said in self.concealing.items() if said is not None}

    def check(self, data: Data) -> None:
        """Refuse data that this method cannot anonymize with these parameters."""
        if not isinstance(data, self.accepts):
            self._container(data)  # which says what it is, and what is taken
        kind = kind_of(data)
        kind.check(data)
        self.check_size(data.size, noun=kind.people)

    def check_size(self, n: int, *, noun: str = "rows") -> None:
        """Refuse so few rows or nodes that the guarantee cannot be kept, and an empty guarantee."""
        self.check_promise()
        if n < self.rows_needed:
            cure = "Lower k, or provide" if hasattr(self, "k") else "Provide"
            needs = f"needs at least {self.rows_needed} {noun}; the data has {n}"
            raise InfeasibleError(f"{self.name} with these parameters {needs}. {cure} more data.")

    def check_promise(self) -> None:
        """Refuse parameters whose guarantee is true of any data, such as k-anonymity with k=1."""
        empty = self.guarantee.empty
        if empty:
            raise ParameterError(
                f"{self.name} with these parameters protects nobody: {empty}. Choose at least 2."
            )

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
        known = {item.name: item for item in flat_parameters(cls)}
        fields = {item.name for item in dataclasses.fields(cls)}
        unknown = sorted(set(parameters) - set(known) - fields)
        if unknown:
            raise unknown_parameter(cls.name, unknown[0], known)
        for name, item in known.items():
            if item.default is MISSING and name not in parameters:
                raise ParameterError(f"{cls.name} requires {name}: {item.metadata['help']}")
        return cls(**arguments_of(cls, parameters))

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002  scikit-learn's
        """Return every parameter by name, as the class takes it; `deep` is for scikit-learn.

        >>> import graphveil as gv
        >>> gv.SuppressK(k=5).get_params()["k"]
        5
        """
        del deep
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self) if one.init}

    def set_params(self, **given: Any) -> Self:
        """Change parameters of this method and return it; the rest stays.

        scikit-learn changes the steps of a pipeline with it. Elsewhere make a new method instead:
        everything that holds this one sees the change.

        `**given`: the new values by name, checked as those of a new method. Raises `ParameterError`
        if a name is unknown, or a value is out of range: then nothing is changed.

        >>> import graphveil as gv
        >>> gv.SuppressK(k=5).set_params(k=7).k
        7
        """
        own = self.get_params()
        unknown = [name for name in given if name not in own]
        if unknown:
            raise unknown_parameter(type(self).__name__, unknown[0], own)
        new = type(self)(**own | given)
        vars(self).clear()
        vars(self).update(vars(new))
        return self

    def fit_transform(self, X: Any, y: None = None, *, seed: int | None = None) -> Any:  # noqa: N803  scikit-learn's
        """Return the released rows of a table in the type that came in, in a new order.

        Use `anonymize` for the release itself, with its guarantee.

        `X`: a table: a frame of pandas, polars, Arrow or DuckDB, or a `Table`; `y`: none. The rows
        of the release are in a new order, so that others would not match them; `seed`: as
        `anonymize` takes it. Returns of pandas, polars or DuckDB, or a `Table`, if `X` is one; else
        an Arrow table. Raises `UsageError` if `y` is given, or the data is not a table.

        >>> import pandas as pd
        >>> import graphveil as gv
        >>> people = pd.DataFrame({"sex": [*"ffmm"], "zip": [*"xxyy"], "job": [*"aabb"]})
        >>> sorted(gv.SuppressK(k=2).fit_transform(people)["sex"])
        ['f', 'f', 'm', 'm']
        """
        if y is not None:
            raise UsageError(
                "y does not match the released rows, because they are in a new order. Add it to "
                "the table as a column, for example as the label."
            )
        release = self.anonymize(X, seed=seed)
        if not isinstance(release.data, Table):
            raise UsageError(
                f"fit_transform takes a table, but the data is a {type(release.data).__name__}. "
                "Use anonymize."
            )
        if isinstance(X, Table):
            return release.data
        library = type(X).__module__.partition(".")[0]
        if library == "pandas":
            return release.to_pandas()
        if library in {"duckdb", "_duckdb"}:
            return release.to_duckdb()
        return release.to_polars() if library == "polars" else release.to_arrow()

    def transform(self, X: Any) -> NoReturn:  # noqa: N803  scikit-learn's
        """Refuse rows that the classes were not formed with; scikit-learn asks for the method."""
        del X
        raise UsageError(
            f"{type(self).__name__} has no transform for unseen rows: anonymizing rows that the "
            "classes were not formed with protects nobody. Use fit_transform or anonymize."
        )


def _types_of(data: Data, generalized: Generalization | None) -> Mapping[str, ColumnType]:
    """Return the types that columns without intervals had in the frame of a table."""
    attached = [] if generalized is None else generalized.columns
    names = {one.name for one in attached if one.levels in {None, "stars"}}
    return {
        name: kind
        for origin in getattr(data, "origins", ())
        if isinstance(origin, ObjectOrigin)
        for name, kind in origin.types.items()
        if name in names
    }


def _number(value: object) -> float:
    """Return a value as a number, 0 if it is not one; levels are published as text."""
    try:
        return float(value) if isinstance(value, str | int | float) else 0.0
    except (ValueError, OverflowError):
        return 0.0


def _ids_as_things(data: Data) -> tuple[str, ...]:
    """Return the advice on ids of users among the names of items, where both are text."""
    features: Ids | None = getattr(data, "features", None)
    if features is None or features.dtype.kind == "i" or data.labels().dtype.kind == "i":
        return ()
    return ids_as_things(shared_ids(data.labels(), features).n, features.size)


def _published(data: Data, original: Data, new: NewIds) -> Data:
    """Return the data in a new order, without the names of what it no longer shows.

    Items that are people get the new ids that they have as users.
    """
    if isinstance(data, Bipartite) and getattr(original, "items", None) == "people":
        users = original.labels()
        people = dataclasses.replace(data, users=users, features=users, items="people")
        people = people.permuted(new.order, ids=new.ids)
        return people.without_unused().with_items("things")
    return data.without_unused().permuted(new.order, ids=new.ids)
