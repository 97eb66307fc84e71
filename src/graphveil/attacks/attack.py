"""What an attack is: what the attacker knows, how success is counted, how long it takes.

An `Attack` is an entry of the registry around one function, ``compute``, from an `AttackInput`
(original and release, the linkage between them, and what else the attacker may use) to an `Outcome`
(figures, everybody's own risk, and what could not be measured). Success is counted with the
linkage. An attack reads ``comparison.linked`` to judge its answers, and to hand out what this
attacker is defined to know (a class, a few nodes, in two attacks all identities), for nothing else.
Every figure has a *baseline*, what a guess without the release reaches, and an interval if people,
draws or runs were sampled. Attacks are lower bounds: one that fails proves nothing.

Where new work goes:

- A new kind of knowledge about single people: for nodes, a class with `distances_to` as in
  ``networks/signatures.py``, which ``networks/candidate_set.py`` then counts candidates for; for
  rows, a builder of `Known` as `known_items` in ``features/linkage.py``. Knowledge that is a copy
  of the network belongs into `SideInformation` (``networks/copies/side_information.py``). Knowledge
  that comes with the call and not with the data is one more field of `AttackInput`.
- A new linking step: for rows, `guesses` in ``features/scoring.py`` scores every person by itself;
  an assignment of all people at once replaces the choice of the best class there and has to respect
  the sizes of classes, as `_shared_out` in ``features/membership.py`` does. For networks, a further
  start of ``networks/assignment/one_to_one.py`` or a further distance of
  ``networks/assignment/surroundings.py``. What a condition of the release rules out, as edits in
  one direction do, is a `Fits` of ``networks/signatures.py``.

Rates of operations in the functions `seconds` of all attacks are seconds of CPU time on one core of
2020 or later, from ``benchmarks/attack_costs``. A forecast is good to a factor of two there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np

from graphveil.attacks.wording import Said
from graphveil.core.array_types import Floats, Ints
from graphveil.core.errors import GraphveilError, ParameterError
from graphveil.core.hints import one_of
from graphveil.core.parameters import Options, hints_of, is_spelled, options_of
from graphveil.core.progress import worked
from graphveil.core.rows import ANY, Setting
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.evaluate.comparison import Comparison, GraphComparison, TableComparison
from graphveil.evaluate.metric import NotMeasuredError, Sample
from graphveil.release import Release

if TYPE_CHECKING:
    from graphveil.attacks.networks.signatures import KnownRows
    from graphveil.evaluate.comparison import Attached

ENTRY = 3e-8
"""Seconds per entry of original and release, for an attack that passes over them a few times (rate
from ``benchmarks/attack_costs``, as all rates of this room)."""


def run_again(situation: Any) -> float:
    """Return how long the run of the method took that made the release; 0 if it was not noted.

    It is in the owner's record: CPU seconds without compiling, or how long a run on disk took. The
    first run in a process also loads code, so a quicker one that was timed since counts.
    """
    private = situation.release.private
    if situation.rerun is None or private is None:
        return 0.0
    # The record adds up stages; a rerun that was timed on as many rows may be quicker than the
    # first run.
    people, noted = situation.comparison.original.size, float(sum(private.seconds.values()))
    quickest: float = getattr(situation.rerun, "timed", {}).get(people, noted)
    return min(noted, quickest)


def seconds_of_one(run: Callable[[], object]) -> float:
    """Return the CPU seconds of a run: the second of two, as one may compile; 0 if refused."""
    # The first run may compile and load code; only the second is timed.
    try:
        run()
        started = worked()
        run()
    except GraphveilError:
        return 0.0
    return worked() - started


def seconds_of_passes(situation: Any, _options: object) -> float:
    """Return how long an attack takes that passes over original and release a few times.

    The default of `Attack.seconds`: `ENTRY` per row or node and entry.
    """
    pair = situation.comparison
    return ENTRY * float(_entries(pair.original) + _entries(pair.released))


def _entries(data: Graph | Bipartite) -> int:
    return data.size + data.indices.size


def ends_of(pair: GraphComparison) -> int:
    """Return how many nodes and ends of edges the release has."""
    return _entries(pair.released)


def squares(pair: GraphComparison) -> int:
    """Return the sum of the squared degrees: of the original or of the release, the larger one.

    It bounds how many pairs of neighbors there are, and so the work of counting triangles or common
    neighbors and of spreading marks.
    """
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
        # A list, a text with commas, or one number.
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
"""How a figure came about: counted, approximated by an algorithm, or measured on a sample."""


@dataclass(frozen=True, kw_only=True)
class AttackOptions(Options):
    """Parameters of an attack: frozen, keyword-only, with optional fields made by `parameter`.

    Every attack with parameters has a subclass, which takes the attack's name as its `label`. Its
    fields are the command line's flags, the keys of ``[attack.NAME]`` in a configuration, and the
    keyword arguments in Python; `help` texts are in the fields.

    Raises
    ------
    ParameterError
        If a value is not of the field's type or outside its bounds.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from graphveil.core.parameters import parameter
    >>> @dataclass(frozen=True, kw_only=True)
    ... class MyOptions(AttackOptions, label="my-attack"):
    ...     draws: int = parameter(default=3, text="number of copies", minimum=1)
    >>> MyOptions.of("my-attack", {"draws": "5"})
    MyOptions(draws=5)
    """

    label: ClassVar[str] = "attack"

    def __init_subclass__(cls, *, label: str = "", **more: Any) -> None:
        """Name the options after their attack."""
        super().__init_subclass__(**more)
        cls.label = label or cls.label

    @classmethod
    def of(cls, attack: str, given: Mapping[str, Any]) -> Self:
        """Return the options of an attack by name; numbers may be text.

        Parameters
        ----------
        attack : str
            The name of the attack, for messages.
        given : mapping of str to object
            Values by parameter, as numbers or as text from a command line.

        Returns
        -------
        AttackOptions
            The options, with defaults for what is not given.

        Raises
        ------
        ParameterError
            If the attack has no such parameter, or a value is not valid.

        Examples
        --------
        >>> AttackOptions.of("matching", {})
        AttackOptions()
        """
        # Unknown names are refused with the names there are; texts become numbers unless a type of
        # option reads them itself.
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
"""Why a method cannot be run again, unless the caller gives another reason."""


class AttackInput(NamedTuple, Generic[C]):
    """What an attack is computed from: the original, the release, and what else is at hand.

    Parameters
    ----------
    comparison : Comparison
        The original next to the release, linked by ``comparison.position`` if the linkage is there.
        Attacks use ``comparison.linked`` to count what is correct, and for what the attacker is
        defined to know.
    release : Release
        What the release states of itself: its guarantee, its conditions, its provenance.
    levels : int64 array, shape (n,), optional
        How many candidates every person was guaranteed, in the order of the original; None if the
        guarantee is not about candidates.
    rerun : callable, optional
        Runs the method again, see `Rerun`; None if that cannot be done.
    not_again : str
        Why it cannot be run again, if it cannot.
    second : Comparison, optional
        The original next to a second release of the same people.
    attached : Attached, optional
        A column that is published next to the release, or an attached one of it.
    further : tuple of Attached
        The other attached columns of the release.
    tables : TableComparison, optional
        The same data as tables, if `comparison` is of their one-hot features: the method reads the
        original when it is run again, and a generalized cell is a node and not a feature.
    rows : KnownRows, optional
        What is known of people's attributes, if `comparison` is of the edges of networks.

    Examples
    --------
    >>> import graphveil as gv
    >>> from graphveil.attacks import ATTACKS
    >>> from graphveil.core.randomness import Randomness
    >>> from graphveil.evaluate import comparison_of
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = gv.KDegree(k=2).anonymize(graph)
    >>> pair = comparison_of(release, graph, Randomness(seed=1), wanted_by="attack")
    >>> situation = AttackInput(pair, release)
    >>> outcome = ATTACKS["degree-matching"].compute(situation, AttackOptions())
    >>> outcome.figures[0].part, outcome.figures[0].value, outcome.figures[0].baseline
    ('right guess', 0.5, 0.25)
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
        """Return the random stream of a purpose.

        Parameters
        ----------
        purpose : str
            What is sampled; begin it with the name of the attack, so that streams of attacks
            differ.

        Returns
        -------
        numpy.random.Generator
            The same stream whenever the same purpose is asked for under the same seed.
        """
        return self.comparison.randomness.stream(purpose)


class AttackFigure(NamedTuple):
    """One number of an attack, next to what a guess without the release reaches.

    Parameters
    ----------
    figure : str
        Which number it is, without its setting.
    value : float
        The number.
    unit : str
        What it is a share or a number of, such as ``share of people``.
    baseline : float, optional
        What the best guess without the release reaches; None if there is no such guess.
    direction : {"lower is better", "higher is better"}
        Which way is better for the people.
    estimated : bool
        Whether an algorithm approximates it.
    sample : Sample, optional
        The size and the 95% interval of a number that is sampled; None for one that is not.
    setting : Setting
        What it was measured under: how much is known, which copy, which column.

    Examples
    --------
    >>> setting = Setting(known=8)
    >>> figure = AttackFigure("own row", 0.25, "share of targets", 0.01, setting=setting)
    >>> figure.part, figure.exact
    ('8 known: own row', 'exact')
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

    Parameters
    ----------
    figures : list of AttackFigure
        Its numbers, in the order in which they are shown.
    risk : float64 array, shape (n,)
        Every person's own risk between 0 and 1, in the order of the original; NaN for those who
        were not attacked. For the owner alone: it goes into the private record.
    baseline : float64 array, shape (n,)
        What each risk is without the release; NaN as in `risk`.
    not_measured : mapping of str to str
        The parts that are missing, each with the reason.

    Examples
    --------
    >>> figure = AttackFigure("right guess", 0.5, "share of people", 0.25)
    >>> outcome = Outcome([figure], risk=np.array([1.0, 0.0]), baseline=np.array([0.25, 0.25]))
    >>> outcome.figures[0].value == outcome.risk.mean()
    np.True_
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
    """One attack: an entry of `ATTACKS`.

    Parameters
    ----------
    name : str
        Its name on the command line and in rows.
    kind : type
        The container it reads; tables are turned into what it reads.
    knows : str
        What the attacker knows in addition to the release.
    definition : str
        What is counted.
    source : str
        Where it is defined, or that it is graphveil's own.
    compute : callable
        From an `AttackInput` and options to an `Outcome`. It raises `NotMeasuredError` if there is
        nothing to measure, and `TooLargeError` if only the work shows that there is too much.
    options : type
        The class of its options.
    needs_linkage : bool
        Whether success is counted by the linkage.
    cost : str
        How its time grows, and up to which size it is computed.
    seconds : callable
        From an `AttackInput` and options to about how many seconds of CPU time it takes, by a count
        of operations; it raises `TooLargeError` above the limit.
    foreseen : callable, optional
        The same for an attack that is omitted, without running anything; it raises
        `NotMeasuredError` if the attack does not apply. None if `seconds` runs nothing.
    by_name : bool
        Whether it runs only if asked for: it takes long, or needs what is rarely there.
    also : type, optional
        A further container that it reads, in a different way.
    said : tuple of Said
        How its figures are worded; what answers no question is in the rows alone.
    claims : tuple of type
        The guarantees whose releases it is about, such as those that publish groups; empty for all
        releases. It is not tried unasked on releases with other guarantees.
    shorter : AttackOptions, optional
        Options by which it takes less time, used if nobody asks for it and the minute of unasked
        attacks has no room for more. Its figures state on how few draws they are based.

    Examples
    --------
    >>> from graphveil.attacks import ATTACKS
    >>> attack = ATTACKS["degree-matching"]
    >>> attack.kind.__name__, attack.needs_linkage, attack.by_name
    ('Graph', True, False)
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
    claims: tuple[type, ...] = ()
    shorter: P | None = None

    @property
    def kinds(self) -> tuple[type, ...]:
        """The containers that it reads by itself: tables are turned into what it reads."""
        return (self.kind,) if self.also is None else (self.kind, self.also)
