"""The verb attack: what an attacker still learns, next to a guess without the release.

Attacks know no method: where this version knows the one of a release, they get a way to run it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from graphveil.attacks.attack import NOT_AGAIN, Attack, AttackInput, Outcome, Rerun, TooLargeError
from graphveil.attacks.networks.signatures import published_attributes
from graphveil.attacks.registry import (
    ATTACKS,
    EVERY,
    QUICK_SECONDS,
    SECONDS_UNASKED,
    STRONGEST,
    WORTH_SAYING,
    not_run,
    spelled,
    stopped,
)
from graphveil.attacks.wording import Counted, counted_in, reworded
from graphveil.claims.conditions import AttachedColumns
from graphveil.claims.guarantees import (
    AdaptiveAnonymity,
    AnyGuarantee,
    KAnonymity,
    SmoothKAnonymity,
)
from graphveil.claims.record import ATTACKED, private_folder
from graphveil.core.atomic import OWNER_ONLY, whole_file
from graphveil.core.errors import GraphveilWarning, ParameterError, ResourceError, UsageError
from graphveil.core.hints import one_of
from graphveil.core.libraries import pa, parquet
from graphveil.core.parameters import separate_names
from graphveil.core.progress import Deadline, OutOfTimeError, notice, stage, within, worked
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row, Rows
from graphveil.core.text import counted
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import Advice, AttachedColumnWarning, attached_column
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.ids import as_text, positions, to_arrow
from graphveil.evaluate.comparison import (
    BipartiteComparison,
    Comparison,
    NetworkComparison,
    TableComparison,
)
from graphveil.evaluate.measuring import comparison_of, kind_compared
from graphveil.evaluate.metric import NEEDS_LINKAGE, NotMeasuredError
from graphveil.methods.registry import known_method, method_named
from graphveil.methods.roles import TableRoles
from graphveil.release import Release, read_release
from graphveil.release.files import OwnersLevels
from graphveil.verbs.evaluate import with_levels
from graphveil.verbs.read import answered, as_release, original_data

if TYPE_CHECKING:
    from graphveil.evaluate.comparison import Attached

IN_FULL = "in full"
"""What is not run of an attack that is made shorter to fit."""


class Reason(NamedTuple):
    """Why there is no figure, and about how many seconds it would take where that is why."""

    text: str
    seconds: float | None = None

    @classmethod
    def too_long(cls, seconds: float) -> Reason:
        """Return that an attack was omitted that takes long."""
        return cls(not_run(seconds), seconds)


Missing = dict[tuple[str, str], Reason]
"""Reasons by attack and part, which is empty for all of it."""


class Planned(NamedTuple):
    """An attack that will be tried, on what it reads, with its options and seconds of CPU time."""

    name: str
    entry: Attack[Any, Any]
    seen: AttackInput[Any]
    options: Any
    seconds: float


def planned_of(
    asked: Sequence[str] | None,
    situation: AttackInput[Any],
    given: Mapping[str, Any],
    deadline: Deadline,
) -> tuple[list[Planned], Missing]:
    """Return what will be tried, and why the rest is not; say how long the slow ones take."""
    missing: Missing = {}
    kind = kind_compared(situation.comparison)
    chosen = _chosen(asked, kind, situation.release.guarantee)
    planned = list(_priced(chosen, asked, situation, given, missing, deadline))
    if not asked:
        room = _within(planned, given, deadline.left)
        for one in planned:
            if room.get(one.name) is not one:
                part = IN_FULL if one.name in room else ""
                missing[one.name, part] = Reason.too_long(one.seconds)
        planned = [room[p.name] for p in planned if p.name in room]
        others = (a for a in ATTACKS.values() if reads(a, kind) and a.by_name)
        missing |= {(a.name, ""): _left_out(a, situation, given, deadline) for a in others}
    for one in planned:
        _say_long(one)
    return planned, missing


def _say_long(one: Planned) -> None:
    """Say how long an attack takes, unless that is short."""
    if one.seconds >= WORTH_SAYING:
        notice(f"{one.name} takes about {spelled(one.seconds)} of CPU time")


def _priced(
    chosen: Sequence[Attack[Any, Any]],
    asked: Sequence[str] | None,
    situation: AttackInput[Any],
    given: Mapping[str, Any],
    missing: Missing,
    deadline: Deadline,
) -> Iterator[Planned]:
    """Yield the attacks that can be tried, with what they cost; write why the others cannot."""
    for entry in chosen:
        name, seen = entry.name, seen_by(entry, situation)
        if entry.needs_linkage and situation.comparison.position is None:
            missing[name, ""] = Reason(NEEDS_LINKAGE)
            continue
        options = given.get(name, entry.options())
        try:
            with _attacking(name, deadline):
                seconds = entry.seconds(seen, options)
        except NotMeasuredError as error:
            missing[name, ""] = Reason(refused(name, error, asked))
            continue
        except OutOfTimeError:
            missing[name, ""] = Reason(stopped(deadline.seconds))
            continue
        yield Planned(name, entry, seen, options, seconds)


def _within(
    planned: Sequence[Planned], given: Mapping[str, Any], left: float
) -> dict[str, Planned]:
    """Return which are tried where nobody asks: the strongest first, and what is short anyway.

    What was spent on foreseeing what they cost, for which some run the method, is of the time.
    """
    room = {one.name: one for one in planned if one.seconds < WORTH_SAYING}
    left -= sum(one.seconds for one in room.values())
    for one in sorted(planned, key=_rank):
        if one.name in room:
            continue
        way, options = one, one.entry.shorter
        if one.seconds > left and one.name not in given and options is not None:
            way = one._replace(options=options, seconds=one.entry.seconds(one.seen, options))
        if way.seconds <= left:
            room[one.name] = way
            left -= way.seconds
    return room


def _rank(one: Planned) -> int:
    return STRONGEST.index(one.name) if one.name in STRONGEST else len(STRONGEST)


def _left_out(
    chosen: Attack[Any, Any],
    situation: AttackInput[Any],
    given: Mapping[str, Any],
    deadline: Deadline,
) -> Reason:
    """Return why an attack that was not asked for is not run, and how long it would take."""
    if chosen.needs_linkage and situation.comparison.position is None:
        return Reason(NEEDS_LINKAGE)
    options = given.get(chosen.name, chosen.options())
    try:
        seen = seen_by(chosen, situation)
        if chosen.foreseen is not None:
            return Reason.too_long(chosen.foreseen(seen, options))
        with _attacking(chosen.name, deadline):
            return Reason.too_long(chosen.seconds(seen, options))
    except NotMeasuredError as error:
        return Reason(str(error))
    except OutOfTimeError:
        return Reason(stopped(deadline.seconds))


def refused(name: str, error: NotMeasuredError, asked: Sequence[str] | None) -> str:
    """Return why an attack is not measured; one that is asked for and too large ends the run."""
    if isinstance(error, TooLargeError) and name in (asked or ()):
        raise ResourceError(f"{name}: {error}.") from error
    return str(error)


def entry_of(name: str) -> Attack[Any, Any]:
    """Return the entry of an attack."""
    if name not in ATTACKS:
        raise ParameterError(f"unknown attack {name!r}. {one_of(name, ATTACKS)}")
    return ATTACKS[name]


def reads(chosen: Attack[Any, Any], data: type[Any]) -> bool:
    """Whether an attack reads a kind of data: also a table's features, a network's edges."""
    return data in chosen.kinds or (chosen.kind, data) in {(Bipartite, Table), (Graph, Network)}


def concerns(chosen: Attack[Any, Any], data: type[Any], guarantee: AnyGuarantee) -> bool:
    """Whether an attack reads a kind of data, and is about releases with such a guarantee."""
    return reads(chosen, data) and (not chosen.claims or isinstance(guarantee, chosen.claims))


def _chosen(
    asked: Sequence[str] | None, kind: type[Any], guarantee: AnyGuarantee
) -> list[Attack[Any, Any]]:
    """Return the attacks that are asked for, or all about such a release that need not be."""
    if not asked:
        return [a for a in ATTACKS.values() if concerns(a, kind, guarantee) and not a.by_name]
    chosen = [entry_of(name) for name in dict.fromkeys(asked) if name != EVERY]
    if EVERY in asked:
        return [a for a in ATTACKS.values() if concerns(a, kind, guarantee)]
    for other in chosen:
        if not reads(other, kind):
            fitting = [name for name, known in ATTACKS.items() if reads(known, kind)]
            raise UsageError(
                f"{other.name} reads a {other.kind.__name__}, but the release is a "
                f"{kind.__name__}. Use {' or '.join(fitting)}."
            )
    return chosen


def seen_by(chosen: Attack[Any, Any], situation: AttackInput[Any]) -> AttackInput[Any]:
    """Return the situation as the attack reads it: tables as features where it reads features."""
    if chosen.kind is not Bipartite or not isinstance(situation.comparison, TableComparison):
        return situation
    second = situation.second
    return situation._replace(
        comparison=situation.comparison.one_hot(),
        second=None if second is None else second.one_hot(),
        tables=situation.comparison,
    )


def attack_release(  # noqa: PLR0913  each is one question of the same call
    release: Release[Any] | str | Path,
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
    """Return what an attacker learns from a release, each figure next to a guess without it.

    Attacks are lower bounds: that one fails proves nothing. Attackers who make many releases share
    them among the processes of `graphveil.engines.using`, where it is worth it. Next to a
    release
    that is in a folder, everybody's own risk is written into ``attacks/NAME.parquet`` of the
    private folder.

    Parameters
    ----------
    release
        A release, or the folder of one.
    original
        The data it was made from, an object of another library that holds it, or the name of its
        file, which is read as the owner's record says.
    attacks
        Names of `ATTACKS`, which commas may separate, or ``all`` for every one that reads this kind
        of data. Where not given: those that need not be asked for by name, as many as the time has
        room for by what they say of their cost, the strongest first; time that is left goes to the
        shortest of the others. What is omitted is not measured.
    seed
        For what is sampled; entropy where not given.
    options
        Parameters of attacks, by the attack's name and the parameter's, as
        ``{"linkage": {"targets": 100}}``.
    second
        A second release of the same people, or its folder, for attacks that read two.
    attached
        A column that is published next to the release, for attacks that read one.
    rerun
        Runs the method again, for attackers who know it; None for attackers who do not. Where not
        given: the method that the release names, with the parameters of its record.
    seconds
        The time that all attacks have together; compiling once for this machine does not count. An
        attack that is not done by then is not measured: it gives all of its figures or none. Where
        not given: 60 where no attack is named, else as long as they take.
    quick_seconds
        Attacks that otherwise run by name alone also get time that is left, if they take less than
        this.

    Returns
    -------
    Rows
        One row for each figure, with its guess, sample size and interval; what was not measured is
        in `Rows.not_measured`, with the reason.

    Raises
    ------
    ParameterError
        Where an attack or a parameter is unknown, or out of range, or the time is not positive.
    UsageError
        Where original and release are of different kinds or sizes, the owner's record is of
        another original, or an attack reads another kind.
    ResourceError
        Where an attack that is asked for by name is above its limit; one that is not is then not
        measured.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = gv.KDegree(k=2).anonymize(graph)
    >>> [row] = [
    ...     row
    ...     for row in gv.attack_release(release, original=graph, attacks=["candidate-set"])
    ...     if row.part == "degree, right guess"
    ... ]
    >>> row.value, row.guess
    (0.5, 0.25)
    """
    asked = separate_names(attacks)
    wanted = options or {}
    parsed = {name: entry_of(name).options.of(name, some) for name, some in wanted.items()}
    given = {name: parsed[name] for name, some in wanted.items() if some}
    release = as_release(release, wanted_by="attack")
    folder = None if isinstance(release, Release) else release
    read = release if isinstance(release, Release) else read_release(release)
    original = original_data(release, original)
    pair = comparison_of(read, original, Randomness(seed=seed), wanted_by="attack")
    every = (attached,) if attached is not None else _attached_columns(read, pair.original)
    attached = next(iter(every), None)
    _warn_of_narrowed(read, pair.original)
    pair = with_levels(of_known_columns(pair, read), read)
    _check_attached(attached, pair.original)
    network = isinstance(pair, NetworkComparison)  # no method takes its ties without its attributes
    situation = AttackInput(
        comparison=pair,
        release=read,
        levels=_levels(read, pair.original),
        rerun=(None if network else rerun_of(read)) if rerun == "automatic" else rerun,
        not_again=_why_not(read, network=network) if rerun == "automatic" else NOT_AGAIN,
        second=_second(second, original, pair),
        attached=attached,
        further=every[1:],
        rows=published_attributes(pair) if network else None,
    )
    if pair.position is not None:
        for column in every:
            _warn_of(column, situation)
    called = "release" if folder is None else folder.name
    deadline = _deadline(seconds, asked)
    planned, missing = planned_of(asked, situation, given, deadline)
    outcomes = _outcomes(planned, asked, deadline, missing)
    for name in [name for name, _ in missing if not asked and ATTACKS[name].by_name]:
        if ATTACKS[name].foreseen is not None:  # by what runs of the method took meanwhile
            missing[name, ""] = _left_out(ATTACKS[name], situation, given, deadline)
    if not asked:
        outcomes |= _in_what_is_left(quick_seconds, situation, given, deadline, missing)
    rows: list[Row] = []
    for name, outcome in outcomes.items():
        rows.extend(_rows(called, name, outcome, counted_in(pair.original)))
        missing |= {(name, part): Reason(why) for part, why in outcome.not_measured.items()}
        if folder is not None:
            write_risks(folder, name, pair.original, outcome)
    for (name, part), (why, takes) in missing.items():
        rows.append(Row(release=called, question=name, part=part, reason=why, seconds=takes))
    return Rows(rows)


def attack_with_quick(
    release: Release[Any] | str | Path,
    original: Any,
    *,
    further: Sequence[str] = (),
    seconds: float | None = None,
    **how: Any,
) -> Rows:
    """Return the rows of what runs unasked, of what else is quick, and of `further` attacks.

    Quick is what takes less than `QUICK_SECONDS` and fits into what is left of the time. Other
    arguments as in `attack_release`.
    """
    started = worked()
    rows = attack_release(release, original, seconds=seconds, quick_seconds=QUICK_SECONDS, **how)
    run = {row.question for row in rows}
    chosen = [name for name in dict.fromkeys(further) if name not in run]
    if not chosen:
        return rows
    left = None if seconds is None else max(seconds - (worked() - started), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphveilWarning)  # they were said
        named = attack_release(release, original, attacks=chosen, seconds=left, **how)
    missing = [row for row in rows.missing if row.question not in chosen]
    return Rows([*rows, *missing, *named, *named.missing])


def of_known_columns(pair: Comparison[Any], release: Release[Any]) -> Comparison[Any]:
    """Return an original next to its release without attached columns, which classes omit.

    >>> import graphveil as gv
    >>> table = gv.Table.from_columns({"sex": ["f", "f"], "ill": ["flu", "cold"]})
    >>> release = gv.SuppressK(k=2, known="sex", attach="ill").anonymize(table)
    >>> pair = comparison_of(release, table, Randomness(seed=1), wanted_by="attack")
    >>> of_known_columns(pair, release).released.columns
    ('sex',)
    """
    names = attached_names(release)
    if not names or not isinstance(pair, TableComparison):
        return pair
    tables: Any = pair
    original, released = (one.without(names) for one in (tables.original, tables.released))
    return replace(tables, original=original, released=released)


def attached_names(release: Release[Any]) -> tuple[str, ...]:
    """Return the attached columns, labels first."""
    stated = [one for one in release.conditions if isinstance(one, AttachedColumns)]
    return tuple(name for one in stated for name in (*(one.label or ()), *one.attach))


def _attached_columns(release: Release[Any], original: Data) -> tuple[Attached, ...]:
    """Return the attached columns of a table with the values of everybody, labels first."""
    from graphveil.evaluate.comparison import Attached  # noqa: PLC0415  few attach one

    if not isinstance(original, Table):
        return ()
    found = []
    for name in attached_names(release):
        at = original.columns.index(name)
        words = [*as_text(original.categories[at]).tolist(), "*"]
        values = np.array(words, np.dtypes.StringDType())
        found.append(Attached(name, values[original.codes[:, at]]))
    return tuple(found)


def _deadline(seconds: float | None, asked: Sequence[str] | None) -> Deadline:
    """Return when attacks have to be done: those that nobody asks for have a minute."""
    if seconds is not None and not seconds > 0:
        raise ParameterError(f"seconds={seconds} is not a time. Use a number above 0, such as 60.")
    if seconds is None:
        seconds = math.inf if asked else SECONDS_UNASKED
    return Deadline(seconds)


def _outcomes(
    planned: Sequence[Planned], asked: Sequence[str] | None, deadline: Deadline, missing: Missing
) -> dict[str, Outcome]:
    """Return what attacks came to, in the order planned; write why the others came to nothing."""
    outcomes: dict[str, Outcome] = {}
    for name, chosen, seen, options, _ in sorted(planned, key=_turn):
        try:
            with _attacking(name, deadline):
                outcomes[name] = chosen.compute(seen, options)
        except NotMeasuredError as error:
            missing[name, ""] = Reason(refused(name, error, asked))
        except OutOfTimeError:
            missing[name, ""] = Reason(stopped(deadline.seconds))
    return {one.name: outcomes[one.name] for one in planned if one.name in outcomes}


def _in_what_is_left(
    quick: float,
    situation: AttackInput[Any],
    given: Mapping[str, Any],
    deadline: Deadline,
    missing: Missing,
) -> dict[str, Outcome]:
    """Return what more attacks came to that the time has room for, the shortest first.

    What was planned often takes less than was foreseen. What runs by its name alone is tried where
    it takes less than `quick`.
    """
    outcomes: dict[str, Outcome] = {}
    costs = {name: why.seconds for (name, part), why in missing.items() if not part}
    priced = {name: seconds for name, seconds in costs.items() if seconds is not None}
    for name, foreseen in sorted(priced.items(), key=lambda item: item[1]):
        entry = ATTACKS[name]
        most = min(deadline.left, quick) if entry.by_name else deadline.left
        if foreseen >= most:
            continue
        reason = missing.pop((name, ""))
        for one in _priced([entry], None, situation, given, missing, deadline):
            if one.seconds >= deadline.left:
                missing[name, ""] = reason
                continue
            _say_long(one)
            outcomes |= _outcomes([one], None, deadline, missing)
    return outcomes


@contextmanager
def _attacking(name: str, deadline: Deadline) -> Iterator[None]:
    """Work on an attack until the deadline; every stage that is shown meanwhile names it."""
    with within(deadline=deadline), stage(f"attacking with {name}"), within(work=name):
        yield


def _turn(one: Planned) -> tuple[bool, int]:
    """Return when an attack is tried: what is short is, however long the others take."""
    return one.seconds >= WORTH_SAYING, _rank(one)


def _check_attached(attached: Attached | None, original: Data) -> None:
    """Refuse a column that does not have one value for everybody."""
    if attached is not None and attached.value.size != original.size:
        raise UsageError(
            f"the attached column {attached.name!r} has {counted(attached.value.size, 'value')}, "
            f"but the original has {counted(original.size, 'person')}. Give one value per person, "
            "in the order of the original."
        )


def _warn_of(attached: Attached, situation: AttackInput[Any]) -> None:
    """Warn that a column is published next to the release, and of how many people it tells."""
    if not attached.value.size:
        return
    pair, share = situation.comparison, 0.0
    if isinstance(pair, TableComparison):
        pair = pair.one_hot()
    if isinstance(pair, NetworkComparison):
        from graphveil.attacks.homogeneity import certain_beside  # noqa: PLC0415  few attach one

        share = certain_beside(attached, pair, situation.release)
    elif isinstance(pair, BipartiteComparison):
        from graphveil.attacks.homogeneity import in_classes_of_one  # noqa: PLC0415  few attach one

        share = float(in_classes_of_one(attached, pair).mean())
    if share > 0:
        warn(attached_column(attached.name, share))


def _warn_of_narrowed(release: Release[Any], original: Data) -> None:
    """Warn of what attached columns show of known ones, where the owner accepted it."""
    stated = [one for one in release.conditions if isinstance(one, AttachedColumns)]
    linkage = release.private.linkage if release.private else None
    accepted = [one for one in stated if one.may_narrow is not UNSET]
    if not accepted or linkage is None:
        return
    from graphveil.measures.narrowing import narrowings  # noqa: PLC0415  few accept any
    from graphveil.methods.attached import narrowed_words  # noqa: PLC0415  as above

    position = linkage.positions_of(original.labels(), release.data.labels())
    in_order = release.data.permuted(position)
    for one in narrowings(original, in_order, accepted[0].columns):
        if one.beyond:
            words = f"{narrowed_words(one)}; its owner accepted this"
            warn(Advice(words, AttachedColumnWarning))


def _second(
    second: Release[Any] | str | Path | None, original: Any, first: Comparison[Any]
) -> Comparison[Any] | None:
    """Return the same original next to a second release of the same kind."""
    if second is None:
        return None
    read = second if isinstance(second, Release) else read_release(second)
    pair = of_known_columns(
        comparison_of(read, original, first.randomness, wanted_by="attack"), read
    )
    if type(pair) is not type(first):
        raise UsageError(
            f"the second release is a {type(pair.released).__name__}, but the first is a "
            f"{type(first.released).__name__}. Give two releases of the same kind."
        )
    return pair


def _levels(release: Release[Any], original: Data) -> NDArray[np.int64] | None:
    """Return how many candidates everybody was guaranteed; None where that is not known."""
    promise = release.guarantee
    n = original.size
    if isinstance(promise, KAnonymity | SmoothKAnonymity):
        return np.full(n, promise.k, dtype=np.int64)
    if not isinstance(promise, AdaptiveAnonymity):
        return None
    if promise.common:
        return np.full(n, promise.level, dtype=np.int64)
    levels = release.private.levels if release.private else None
    if levels is None:
        return None
    return levels.level[positions(original.labels(), levels.original, what="levels")]


def _rows(release: str, name: str, outcome: Outcome, counted: Counted) -> Iterator[Row]:
    for figure in outcome.figures:
        sample = figure.sample
        yield Row(
            release=release,
            question=name,
            figure=figure.figure,
            setting=figure.setting,
            value=float(figure.value),
            guess=None if figure.baseline is None else float(figure.baseline),
            unit=reworded(figure.unit, counted),
            direction=figure.direction,
            known=figure.exact,
            sample_size=None if sample is None else sample.size,
            low=None if sample is None else sample.low,
            high=None if sample is None else sample.high,
        )


def write_risks(folder: Path, name: str, original: Data, outcome: Outcome) -> Path:
    """Write everybody's own risk into the private folder, for its owner alone; return the file."""
    place = private_folder(folder) / ATTACKED
    place.mkdir(mode=0o700, exist_ok=True)
    path = place / f"{name}.parquet"
    columns = {
        "original": to_arrow(original.labels()),
        # null, not NaN, for those who were not attacked
        "risk": pa.array(outcome.risk, from_pandas=True),
        "baseline": pa.array(outcome.baseline, from_pandas=True),
    }
    with whole_file(path, mode=OWNER_ONLY) as part, part.open("wb") as stream:
        parquet.write_table(pa.table(columns), stream)
    return path


def rerun_of(release: Release[Any]) -> Rerun | None:
    """Return what runs the method of a release again; None where this version does not know it.

    Levels that differ are those of the owner's private folder: an attacker who knows them is the
    worst. Where an argument of the first run was kept in no file, what is returned refuses to run.
    """
    name, private = release.provenance.method, release.private
    if private is None or _why_not(release):
        return None
    parameters = {**release.provenance.parameters, **private.withheld}
    if attached_names(release):
        about_columns = {*TableRoles._fields, "may_narrow"}
        parameters |= dict.fromkeys(parameters.keys() & about_columns)
    levels = private.levels if parameters.get("levels", "") is None else None
    return _Again(name, parameters, levels, tuple(private.unrecorded))


def _why_not(release: Release[Any], *, network: bool = False) -> str:
    """Return why the method of a release is not run again; empty where it can be."""
    method, private = release.provenance.method, release.private
    if known_method(method) is None:
        return "this version does not know the method"
    if private is None:
        return "the private record is missing"
    if network:
        return "methods are run again on undirected edges without attributes only"
    given = {**release.provenance.parameters, **private.withheld}
    conditions = [name for name in ("diverse", "close") if given.get(name)]
    if conditions and attached_names(release):
        return f"{method} with {' and '.join(conditions)} reads the attached columns, too"
    return ""


@dataclass(frozen=True)
class _Again:
    """Runs a method again; it can be handed to another process."""

    method: str
    parameters: Mapping[str, Any]
    levels: OwnersLevels | None
    unrecorded: tuple[str, ...]
    timed: dict[int, float] = field(default_factory=dict, compare=False)
    """The CPU seconds of the quickest run in this process, by the size of the data."""

    def __call__(self, data: Data, seed: int | None) -> Release[Any]:
        """Return the release of this data."""
        if self.unrecorded:
            raise UsageError(
                f"the release was made with {', '.join(self.unrecorded)} that no file records, "
                "so the run cannot be repeated. Method parameters are recorded."
            )
        from graphveil.methods.external import External  # noqa: PLC0415  few need it

        known: dict[str, Any] = {}
        if self.levels is not None:
            rows = positions(data.labels(), self.levels.original, what="levels")
            known["levels"] = self.levels.level[rows]
        with within(engine=None), warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphveilWarning)
            made = method_named(self.method).from_parameters(self.parameters)
            if isinstance(made, External) and not made.may_run_again:
                raise UsageError(
                    "the release was made by a command, and a private record could name any. "
                    "Attacks run it again only in a sweep, or in the process that made the release."
                )
            started = worked()
            release: Release[Any] = made.anonymize(answered(data), seed=seed, **known)
            self.timed[data.size] = min(worked() - started, self.timed.get(data.size, math.inf))
            return release
