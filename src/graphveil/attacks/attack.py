"""What an attack is: what the attacker knows, how success is counted, how long it takes.

Rates of operations are seconds of CPU time on one core of 2020 or later, from
``benchmarks/attack_costs``. A forecast is good to a factor of two there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np

from graphveil.attacks.wording import Said
from graphveil.core.errors import GraphveilError, ParameterError, one_of
from graphveil.core.parameters import Options, hints_of, is_spelled, options_of
from graphveil.core.progress import worked
from graphveil.core.rows import ANY, Setting
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.evaluate.comparison import Comparison, Floats, GraphComparison, Ints, TableComparison
from graphveil.evaluate.metric import NotMeasuredError, Sample
from graphveil.release import Release

if TYPE_CHECKING:
    from graphveil.attacks.networks.signatures import KnownRows
    from graphveil.evaluate.comparison import Attached

ENTRY = 3e-8
"""A few passes over the entries of original and release."""


def run_again(situation: Any) -> float:
    """Return how long the run of the method took that made the release; 0 where nobody noted it.

    It stands in the owner's record: CPU seconds without compiling, or how long a run on disk took.
    The first run in a process also loads code, so a quicker one that was timed since counts.
    """
    private = situation.release.private
    if situation.rerun is None or private is None:
        return 0.0
    people, noted = situation.comparison.original.size, float(sum(private.seconds.values()))
    quickest: float = getattr(situation.rerun, "timed", {}).get(people, noted)
    return min(noted, quickest)


def seconds_of_one(run: Callable[[], object]) -> float:
    """Return the CPU seconds of a run: the second of two, as one may compile; 0 if refused."""
    try:
        run()
        started = worked()
        run()
    except GraphveilError:
        return 0.0
    return worked() - started


def seconds_of_passes(situation: Any, _options: object) -> float:
    """Return how long an attack takes that passes over original and release a few times."""
    pair = situation.comparison
    return ENTRY * float(_entries(pair.original) + _entries(pair.released))


def _entries(data: Graph | Bipartite) -> int:
    return data.size + data.indices.size


def ends_of(pair: GraphComparison) -> int:
    """Return how many nodes and ends of edges the release has."""
    return _entries(pair.released)


def squares(pair: GraphComparison) -> int:
    """Return the sum of the squared degrees: of the original or of the release, the larger one."""
    return max(int(np.square(g.degrees()).sum()) for g in (pair.original, pair.released))


class WholeNumbers(tuple[int, ...]):
    """Whole numbers from 0 on; as text separated by commas.

    >>> WholeNumbers.parse("2, 4,8"), str(WholeNumbers((2, 4)))
    ((2, 4, 8), '2,4')
    """

    __slots__ = ()

    @staticmethod
    def parse(text: object) -> WholeNumbers:
        """Return the numbers in a text, in a list, or the one."""
        listed: Iterable[object] = [text]
        if isinstance(text, str):
            listed = [part.strip() for part in text.split(",")]
        elif isinstance(text, list | tuple):
            listed = text
        numbers = WholeNumbers(int(some) for some in map(str, listed) if some.isdecimal())
        if not numbers or len(numbers) < len(list(listed)):
            raise ParameterError(
                f"{text!r} is not a list of integers. Use integers separated "
                "by commas, such as 2,4,8."
            )
        return numbers

    def __str__(self) -> str:
        """Return the text that `WholeNumbers.parse` reads."""
        return ",".join(map(str, self))


C = TypeVar("C", bound=Comparison[Any])
P = TypeVar("P", bound="AttackOptions")

Rerun = Callable[[Data, int | None], Release[Any]]
"""Runs the method again: on the original or data like it, under a seed; without one its randomness
is the operating system's, as in the run that made the release."""

Exact = Literal["exact", "estimate", "sampled"]
"""Counted, approximated by an algorithm, or drawn."""


@dataclass(frozen=True, kw_only=True)
class AttackOptions(Options):
    """What can be said of an attack: optional fields, made by `parameter`.

    Every attack with parameters has a subclass, which takes the attack's name as its `label`.
    """

    label: ClassVar[str] = "attack"

    def __init_subclass__(cls, *, label: str = "", **more: Any) -> None:
        """Name the options after their attack."""
        super().__init_subclass__(**more)
        cls.label = label or cls.label

    @classmethod
    def of(cls, attack: str, given: Mapping[str, Any]) -> Self:
        """Return the options of an attack by name; whole numbers may be text.

        >>> AttackOptions.of("matching", {})
        AttackOptions()
        """
        fields = {item.name for item in dataclasses.fields(cls)}
        hints = hints_of(cls)
        spelled = {name for name in fields if any(map(is_spelled, options_of(hints[name])))}
        for name in given:
            if name not in fields:
                known = one_of(name, sorted(fields)) if fields else "It has no parameters."
                raise ParameterError(f"the attack {attack} has no parameter {name!r}. {known}")
        return cls(
            **{
                name: value if name in spelled else _as_number(value)
                for name, value in given.items()
            }
        )


def _as_number(value: Any) -> Any:
    """Return the number that a text spells; anything else as it is."""
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


NOT_AGAIN = "this version does not know the method, or the private record is missing"
"""Why a method is not run again, where nobody says more."""


class AttackInput(NamedTuple, Generic[C]):
    """What an attack is computed from.

    - `comparison`: the original next to the release, linked where the linkage is there.
    - `release`: what the release says of itself: its guarantee, its conditions, its provenance.
    - `levels`: int64, shape (n,): how many candidates everybody was guaranteed, in the order of the
      original; None where the guarantee is not about candidates.
    - `rerun`: runs the method again; None where that cannot be done.
    - `not_again`: why it cannot, where it cannot.
    - `second`: the original next to a second release of the same people; None where there is none.
    - `attached`: a column that is published next to the release, or an attached one of it; None
      where there is none.
    - `further`: the other attached columns of the release.
    - `tables`: the same as tables, where the comparison is of their one-hot features: the method
      reads the original when it is run again, and a generalized cell is a node and no feature.
    - `rows`: what is known of people's attributes, where the comparison is of the edges of
      networks.
    """

    comparison: C
    release: Release[Any]
    levels: Ints | None = None
    rerun: Rerun | None = None
    not_again: str = NOT_AGAIN
    second: C | None = None
    attached: Attached | None = None
    further: tuple[Attached, ...] = ()
    tables: TableComparison | None = None
    rows: KnownRows | None = None

    def rng(self, purpose: str) -> np.random.Generator:
        """Return the random stream of a purpose; the name of the attack belongs into it."""
        return self.comparison.randomness.stream(purpose)


class AttackFigure(NamedTuple):
    """One number of an attack.

    - `baseline`: what a guess without the release reaches; None where there is no such guess.
    - `direction`: which way is better for the people.
    - `estimated`: whether an algorithm approximates it.
    - `sample`: what a number that is drawn depends on; None where it is not.
    - `setting`: what it was measured under.
    """

    figure: str
    value: float
    unit: str
    baseline: float | None = None
    direction: Literal["lower is better", "higher is better"] = "lower is better"
    estimated: bool = False
    sample: Sample | None = None
    setting: Setting = ANY

    @property
    def part(self) -> str:
        """Which number it is, with its setting in words."""
        return self.setting.part(self.figure)

    @property
    def exact(self) -> Exact:
        """How the number came about."""
        if self.sample is not None:
            return "sampled"
        return "estimate" if self.estimated else "exact"


class Outcome(NamedTuple):
    """What an attack came to.

    `figures`: its numbers; `risk, baseline`: float64, shape (n,): everybody's own risk, in the
    order of the original, and what it is without the release; NaN for those who were not attacked.
    For the owner alone; `not_measured`: the parts that are missing, each with the reason.
    """

    figures: list[AttackFigure]
    risk: Floats
    baseline: Floats
    not_measured: Mapping[str, str] = MappingProxyType({})


class TooLargeError(NotMeasuredError):
    """Data is above the limit of an attack; the message says the limit and the way out."""


def refuse_more_nodes(n: int, most: int, way_out: str) -> None:
    """Refuse a network of more nodes than an attack takes."""
    if n > most:
        raise TooLargeError(f"{n:,} nodes exceed the limit of {most:,}. {way_out}")


@dataclass(frozen=True, kw_only=True)
class Attack(Generic[C, P]):
    """One attack.

    - `kind`: the container it reads.
    - `knows`: what the attacker knows in addition to the release.
    - `definition`: what is counted; `source`: where it is defined.
    - `needs_linkage`: whether success is counted by the linkage.
    - `cost`: how its time grows, and up to which size it is computed.
    - `compute`: from an `AttackInput` and options to an outcome; raises `NotMeasuredError` where
      there is none, and `TooLargeError` where only the work shows that there is too much.
    - `seconds`: from an `AttackInput` and options to about how long it takes, in seconds of CPU
      time, by a count of operations; raises `TooLargeError` above the limit.
    - `foreseen`: the same for an attack that is omitted, without running anything; raises
      `NotMeasuredError` where it does not apply. None where `seconds` runs nothing.
    - `by_name`: runs only where it is asked for: it takes long, or needs what is rarely there.
    - `also`: a further container that it reads, and in another way.
    - `said`: how its figures are said: what answers no question is in the rows alone.
    - `shorter`: options by which it takes less time, for where nobody asks for it and the minute
      has no room for more. Its figures say on how few draws they rest.
    """

    name: str
    kind: type[Graph | Bipartite | Table | Network]
    knows: str
    definition: str
    source: str
    compute: Callable[[AttackInput[C], P], Outcome]
    options: type[P] = AttackOptions  # type: ignore[assignment]  # of attacks without parameters
    needs_linkage: bool = True
    cost: str = "linear"
    seconds: Callable[[AttackInput[C], P], float] = seconds_of_passes
    foreseen: Callable[[AttackInput[C], P], float] | None = None
    by_name: bool = False
    also: type[Network] | None = None
    said: tuple[Said, ...] = ()
    shorter: P | None = None

    @property
    def kinds(self) -> tuple[type, ...]:
        """The containers that it reads by itself: tables are turned into what it reads."""
        return (self.kind,) if self.also is None else (self.kind, self.also)
