"""The base of every method: parameters in, Release out.

The fields of a method are the Python arguments, the flags of the command line, the keys of a
configuration file and the columns of a sweep: one definition, four uses.
"""

from __future__ import annotations

import dataclasses
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, get_args
from typing import get_type_hints as hints_of

import numpy as np
from numpy.typing import NDArray

from graphveil.advice import warn_owner
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.data.ids import Ids
from graphveil.errors import InfeasibleError, ParameterError, UsageError
from graphveil.parameters import checked, is_spelled
from graphveil.randomness import Randomness
from graphveil.release import Linkage, Private, Provenance, Release, digest_of

D = TypeVar("D", Graph, Bipartite, Table)


class Draft(NamedTuple):
    """What a method hands over.

    Parameters
    ----------
    data
        The anonymized data; position i still stands for the input's position i.
    guarantee
        What is promised of it.
    cost
        What it cost against the input.
    advice
        What the owner should know.
    left
        The positions of those for whom the promise does not hold, where it is a partial one.
    """

    data: Data
    guarantee: AnyGuarantee
    cost: Mapping[str, float | int]
    advice: tuple[str, ...] = ()
    left: NDArray[np.int64] | None = None


@dataclass(frozen=True, kw_only=True)
class Anonymizer(ABC, Generic[D]):
    """A published method with its parameters; `anonymize` is its one pure method.

    There is no ``transform`` for unseen rows: anonymizing rows that the groups were not formed
    with protects nobody.
    """

    name: ClassVar[str]
    accepts: ClassVar[type[Graph | Bipartite | Table]]
    promise: ClassVar[str]
    source: ClassVar[str]
    cost: ClassVar[str]
    example: ClassVar[Mapping[str, Any]]
    nests: ClassVar[bool] = False
    runs_on_disk: ClassVar[bool] = False
    """Whether it can anonymize rows in chunks, which processes share and the disk can hold."""

    def __post_init__(self) -> None:
        """Check every parameter against its type and range."""
        hints = hints_of(type(self))
        for item in dataclasses.fields(self):
            value = checked(getattr(self, item.name), hints[item.name], item)
            object.__setattr__(self, item.name, value)

    @abstractmethod
    def _anonymize(self, data: D, randomness: Randomness) -> Draft:
        """Return the anonymized data with position i still standing for the input's position i."""

    @property
    def rows_needed(self) -> int:
        """The fewest rows (or nodes) for which the promise can be kept."""
        return 1

    @property
    def chunk_rows(self) -> int | None:
        """The rows of a chunk, None where all data is anonymized as one."""
        return None

    def anonymize(self, data: D | Table, *, seed: int | None = None) -> Release:
        """Return a release of the data that keeps the promise, under new ids in a new order.

        Parameters
        ----------
        data
            The container that the method accepts. A method for `Bipartite` also takes a `Table`
            and anonymizes its one-hot encoding, which is what it releases.
        seed
            None draws from the operating system's entropy. With a seed the same data gives the
            same release; a seed is a secret of the owner.

        Raises
        ------
        UsageError
            Where the data is of another kind.
        InfeasibleError
            Where the data has too few rows.

        Warns
        -----
        GraphveilWarning
            What the owner should know before publishing.
        """
        self.check(data)
        return self._release(self._encoded(data), self._anonymize, seed)

    def _release(
        self, taken: Any, draw: Callable[[Any, Randomness], Draft], seed: int | None
    ) -> Release:
        """Return the release of what `draw` makes of the data, under new ids in a new order."""
        randomness = Randomness(seed=seed)
        started = time.perf_counter()
        draft = draw(taken, randomness)
        done = time.perf_counter()
        order = randomness.permutation(taken.size)
        advice = warn_owner(draft.advice, seeded=randomness.seeded, stacklevel=3)
        return Release(
            data=_published(draft.data).permuted(order),
            guarantee=draft.guarantee,
            provenance=Provenance(
                method=self.name, source=self.source, parameters=self.parameters()
            ),
            private=Private(
                input_sha256=digest_of(taken),
                seed=randomness.seed,
                cost=draft.cost,
                warnings=advice,
                seconds={"anonymize": done - started, "new ids": time.perf_counter() - done},
                linkage=Linkage(taken.labels(), _inverse(order)),
                left=() if draft.left is None else tuple(taken.labels()[draft.left].tolist()),
            ),
        )

    def check(self, data: Data) -> None:
        """Refuse data that this method cannot anonymize with these parameters.

        Raises
        ------
        UsageError
            Where the data is of another kind.
        InfeasibleError
            Where the data has too few rows.
        """
        kinds = kinds_taken(self.accepts)
        if not isinstance(data, kinds):
            taken = " or a ".join(kind.__name__ for kind in kinds)
            raise UsageError(
                f"{self.name} takes a {taken}, not {type(data).__name__}. "
                f"Convert it, or choose a method for {type(data).__name__}."
            )
        self.check_size(data.size, noun="nodes" if isinstance(data, Graph) else "rows")

    def check_size(self, n: int, *, noun: str = "rows") -> None:
        """Refuse so few rows or nodes that the promise cannot be kept.

        Raises
        ------
        InfeasibleError
            Where they are fewer than `rows_needed`.
        """
        if n < self.rows_needed:
            raise InfeasibleError(
                f"{self.name} with these parameters needs at least {self.rows_needed} {noun}, "
                f"the data has {n}. Lower k, or give more data."
            )

    def _encoded(self, data: D | Table) -> Any:
        """Return the data as the method accepts it: a table one-hot where it reads features."""
        if isinstance(data, Table) and self.accepts is Bipartite:
            return data.one_hot()
        return data

    def parameters(self) -> dict[str, Any]:
        """Return every parameter by name, as JSON and TOML can hold them."""
        values = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        return {name: str(v) if is_spelled(type(v)) else v for name, v in values.items()}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """Return the method with these parameters.

        Raises
        ------
        ParameterError
            Where a name is unknown, one is missing, or a value is out of range.
        """
        known = {item.name: item for item in dataclasses.fields(cls)}
        unknown = sorted(set(parameters) - set(known))
        if unknown:
            raise ParameterError(
                f"{cls.name} has no parameter {unknown[0]!r}. It has {', '.join(known)}."
            )
        for name, item in known.items():
            if item.default is MISSING and name not in parameters:
                raise ParameterError(f"{cls.name} needs {name}. {item.metadata['help']}")
        return cls(**parameters)


def kinds_taken(accepts: Any) -> tuple[type[Graph | Bipartite | Table], ...]:
    """Return every kind of data that a method takes: tables where it reads features alone.

    Parameters
    ----------
    accepts
        A kind, several in a tuple, or their union.

    Examples
    --------
    >>> [kind.__name__ for kind in kinds_taken(Bipartite)]
    ['Bipartite', 'Table']
    """
    kinds = accepts if isinstance(accepts, tuple) else get_args(accepts) or (accepts,)
    return (*kinds, Table) if kinds == (Bipartite,) else kinds


def _published(data: Data) -> Data:
    """Return the data without the names of what it no longer shows."""
    return data if isinstance(data, Graph) else data.without_unused()


def _inverse(order: Ids) -> Ids:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(order.size)
    return inverse
