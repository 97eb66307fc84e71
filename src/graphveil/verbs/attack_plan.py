"""Which attacks are tried: those that are asked for, or the strongest that fit into a minute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import process_time
from typing import Any, NamedTuple

from graphveil.attacks.attack import Attack, AttackInput, TooLargeError
from graphveil.attacks.costs import SECONDS_UNASKED, WORTH_SAYING, not_run, spelled
from graphveil.attacks.registry import ATTACKS, EVERY, STRONGEST
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.errors import ParameterError, ResourceError, UsageError, one_of
from graphveil.evaluate.comparison import TableComparison
from graphveil.evaluate.measuring import kind_compared
from graphveil.evaluate.metric import NEEDS_LINKAGE, NotMeasuredError
from graphveil.progress import notice

IN_FULL = "in full"
"""What is not run of an attack that is made shorter to fit."""


class Planned(NamedTuple):
    """An attack that will be tried, on what it reads, with its options and seconds of CPU time."""

    name: str
    entry: Attack[Any, Any]
    seen: AttackInput[Any]
    options: Any
    seconds: float


def planned_of(
    asked: Sequence[str] | None, situation: AttackInput[Any], given: Mapping[str, Any]
) -> tuple[list[Planned], dict[str, str]]:
    """Return what will be tried, and why the rest is not; say how long what takes long will take.

    Parameters
    ----------
    asked
        Names of attacks, or `EVERY`; empty or None where nobody asks.
    situation
        What attacks are computed from.
    given
        Options by the names of attacks.

    Raises
    ------
    ResourceError
        Where an attack that was asked for by its name is above its limit: before any is tried.
    """
    not_measured: dict[str, str] = {}
    kind = kind_compared(situation.comparison)
    chosen = _chosen(asked, kind)
    began = process_time()
    planned = list(_priced(chosen, asked, situation, given, not_measured))
    if not asked:
        room = _within_a_minute(planned, given, process_time() - began)
        not_measured |= {p.name: not_run(p.seconds) for p in planned if p.name not in room}
        cut = (p for p in planned if p.name in room and room[p.name] is not p)
        not_measured |= {f"{p.name}: {IN_FULL}": not_run(p.seconds) for p in cut}
        planned = [room[p.name] for p in planned if p.name in room]
        others = (a for a in ATTACKS.values() if _reads(a, kind) and a.by_name)
        not_measured |= {a.name: _left_out(a, situation, given) for a in others}
    for one in planned:
        if one.seconds >= WORTH_SAYING:
            notice(f"{one.name} takes about {spelled(one.seconds)} of CPU time")
    return planned, not_measured


def _priced(
    chosen: Sequence[Attack[Any, Any]],
    asked: Sequence[str] | None,
    situation: AttackInput[Any],
    given: Mapping[str, Any],
    not_measured: dict[str, str],
) -> Iterator[Planned]:
    """Yield the attacks that can be tried, with what they cost; write why the others cannot."""
    for entry in chosen:
        name, seen = entry.name, seen_by(entry, situation)
        if entry.needs_linkage and situation.comparison.position is None:
            not_measured[name] = NEEDS_LINKAGE
            continue
        options = given.get(name, entry.options())
        try:
            seconds = entry.seconds(seen, options)
        except NotMeasuredError as error:
            not_measured[name] = refused(name, error, asked)
            continue
        yield Planned(name, entry, seen, options, seconds)


def _within_a_minute(
    planned: Sequence[Planned], given: Mapping[str, Any], spent: float
) -> dict[str, Planned]:
    """Return which are tried where nobody asks: the strongest first, and what is short anyway.

    What was spent on foreseeing what they cost, for which some run the method, is of the minute.
    """
    room = {one.name: one for one in planned if one.seconds < WORTH_SAYING}
    left = SECONDS_UNASKED - spent - sum(one.seconds for one in room.values())
    for one in sorted(planned, key=_rank):
        if one.name in room:
            continue
        way = one if one.seconds <= left or one.name in given else _shorter(one)
        if way.seconds <= left:
            room[one.name] = way
            left -= way.seconds
    return room


def _shorter(one: Planned) -> Planned:
    """Return the same attack in less time, where there is such a way."""
    options = one.entry.shorter
    if options is None:
        return one
    return one._replace(options=options, seconds=one.entry.seconds(one.seen, options))


def _rank(one: Planned) -> int:
    return STRONGEST.index(one.name) if one.name in STRONGEST else len(STRONGEST)


def _left_out(
    chosen: Attack[Any, Any], situation: AttackInput[Any], given: Mapping[str, Any]
) -> str:
    """Return why an attack that was not asked for is not run, and how long it would take."""
    if chosen.needs_linkage and situation.comparison.position is None:
        return NEEDS_LINKAGE
    options = given.get(chosen.name, chosen.options())
    try:
        return not_run((chosen.foreseen or chosen.seconds)(seen_by(chosen, situation), options))
    except NotMeasuredError as error:
        return str(error)


def refused(name: str, error: NotMeasuredError, asked: Sequence[str] | None) -> str:
    """Return why an attack is not measured; one that is asked for and too large ends the run.

    Parameters
    ----------
    name
        The attack's.
    error
        What it says.
    asked
        Names that were asked for.

    Raises
    ------
    ResourceError
        In the latter case.
    """
    if isinstance(error, TooLargeError) and name in (asked or ()):
        raise ResourceError(f"{name}: {error}.") from error
    return str(error)


def entry_of(name: str) -> Attack[Any, Any]:
    """Return the entry of an attack.

    Parameters
    ----------
    name
        As on the command line.

    Raises
    ------
    ParameterError
        Where there is none of this name.
    """
    if name not in ATTACKS:
        raise ParameterError(f"no attack {name!r}. {one_of(name, ATTACKS)}")
    return ATTACKS[name]


def _reads(chosen: Attack[Any, Any], data: type[Any]) -> bool:
    """Whether an attack reads a kind of data: also a table's features, a network's ties."""
    return data in chosen.kinds or (chosen.kind, data) in {(Bipartite, Table), (Graph, Network)}


def _chosen(asked: Sequence[str] | None, kind: type[Any]) -> list[Attack[Any, Any]]:
    """Return the attacks that are asked for, or all of this kind of data that need not be."""
    if not asked:
        return [a for a in ATTACKS.values() if _reads(a, kind) and not a.by_name]
    chosen = [entry_of(name) for name in dict.fromkeys(asked) if name != EVERY]
    if EVERY in asked:
        return [a for a in ATTACKS.values() if _reads(a, kind)]
    for other in chosen:
        if not _reads(other, kind):
            fitting = [name for name, known in ATTACKS.items() if _reads(known, kind)]
            raise UsageError(
                f"{other.name} reads a {other.kind.__name__}, the release is a {kind.__name__}. "
                f"Use {' or '.join(fitting)}."
            )
    return chosen


def seen_by(chosen: Attack[Any, Any], situation: AttackInput[Any]) -> AttackInput[Any]:
    """Return the situation as the attack reads it: tables as features where it reads features.

    Parameters
    ----------
    chosen
        The entry of the attack.
    situation
        What attacks are computed from.
    """
    if chosen.kind is not Bipartite or not isinstance(situation.comparison, TableComparison):
        return situation
    second = situation.second
    return situation._replace(
        comparison=situation.comparison.one_hot(),
        second=None if second is None else second.one_hot(),
        table=situation.comparison.original,
    )
