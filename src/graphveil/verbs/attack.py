"""The verb attack: what an attacker still learns, beside a guess without the release.

Attacks know no method. Where this version of the program knows the one that a manifest names, they
are handed a way to run it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.attacks.attack import AttackInput, Outcome, Rerun
from graphveil.attacks.networks.besides import published_attributes
from graphveil.claims.guarantees import AdaptiveAnonymity, KAnonymity, SmoothKAnonymity
from graphveil.data import Data, Network
from graphveil.data.ids import positions, to_arrow
from graphveil.errors import (
    GraphveilWarning,
    UsageError,
    warn,
)
from graphveil.evaluate.comparing import comparison_of
from graphveil.evaluate.comparison import (
    BipartiteComparison,
    Comparison,
    NetworkComparison,
    TableComparison,
)
from graphveil.evaluate.held_back import Attached
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.methods import METHODS
from graphveil.owner_warnings import attached_column
from graphveil.progress import stage, within
from graphveil.randomness import Randomness
from graphveil.records.record import ATTACKED, private_folder
from graphveil.release import Release, read_release
from graphveil.release.matched_pairs import OwnersLevels
from graphveil.rows import Row, Rows
from graphveil.verbs.attack_plan import entry_of, planned_of, refused
from graphveil.verbs.read import as_release, original_data

AUTOMATIC: Any = object()
"""Stands for running the method again as the release says."""


def attack_release(
    release: Release[Any] | str | Path,
    original: Any,
    *,
    attacks: Sequence[str] | None = None,
    seed: int | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    second: Release[Any] | str | Path | None = None,
    attached: Attached | None = None,
    rerun: Rerun | None = AUTOMATIC,
) -> Rows:
    """Return what an attacker learns from a release, each figure beside a guess without it.

    Attacks are lower bounds: that one fails proves nothing. Attackers who make many releases share
    them among the processes of `graphveil.engines.using`, where it is worth it. Beside a release
    that lies in a folder, everybody's own risk is written into ``attacks/NAME.parquet`` of the
    private folder.

    Parameters
    ----------
    release
        A release, or the folder of one.
    original
        The data it was made from, an object of another library that holds it, or the name of its
        file, which is read as the owner's record says.
    attacks
        Names of `ATTACKS`, or ``all`` for every one that reads this kind of data. Where not given:
        those that need not be asked for by name, as many as a minute of CPU time has room for by
        what they say of their cost, the strongest first; what is left out is not measured.
    seed
        For what is sampled; entropy where not given.
    options
        Parameters of attacks, by the attack's name and the parameter's, as
        ``{"linkage": {"targets": 100}}``.
    second
        A second release of the same people, or its folder, for attacks that read two.
    attached
        A column that is published beside the release, for attacks that read one.
    rerun
        Runs the method again, for attackers who know it; None for attackers who do not. Where not
        given: the method that the release names, with the parameters of its record.

    Raises
    ------
    ParameterError
        Where an attack or a parameter is unknown, or out of range.
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
    asked = [attacks] if isinstance(attacks, str) else attacks
    wanted = options or {}
    every = {name: entry_of(name).options.of(name, some) for name, some in wanted.items()}
    given = {name: every[name] for name, some in wanted.items() if some}
    release = as_release(release, wanted_by="attack")
    folder = None if isinstance(release, Release) else release
    read = release if isinstance(release, Release) else read_release(release)
    original = original_data(release, original)
    pair = comparison_of(read, original, Randomness(seed=seed), wanted_by="attack")
    _check_attached(attached, pair.original)
    network = isinstance(read.data, Network)  # no method takes its ties without its attributes
    situation = AttackInput(
        comparison=pair,
        release=read,
        levels=_levels(read, pair.original),
        rerun=(None if network else rerun_of(read)) if rerun is AUTOMATIC else rerun,
        second=_second(second, original, pair),
        attached=attached,
        rows=published_attributes(pair) if network else None,
    )
    if attached is not None and pair.position is not None:
        _warn_of(attached, situation)
    called = "release" if folder is None else folder.name
    planned, not_measured = planned_of(asked, situation, given)
    rows: list[Row] = []
    for name, chosen, seen, options_of_it, _ in planned:
        try:
            with stage(f"attacking with {name}"):
                outcome = chosen.compute(seen, options_of_it)
        except NotMeasuredError as error:
            not_measured[name] = refused(name, error, asked)
            continue
        rows.extend(_rows(called, name, outcome))
        not_measured |= {f"{name}: {part}": why for part, why in outcome.not_measured.items()}
        if folder is not None:
            write_risks(folder, name, pair.original, outcome)
    for name, why in not_measured.items():
        question, _, part = name.partition(": ")
        rows.append(Row(release=called, question=question, part=part, reason=why))
    return Rows(rows)


def _check_attached(attached: Attached | None, original: Data) -> None:
    """Refuse a column that does not have one value for everybody."""
    if attached is not None and attached.value.size != original.size:
        raise UsageError(
            f"the attached column {attached.name!r} has {attached.value.size} values, the original "
            f"{original.size} people. Give one value for everybody, in the original's order."
        )


def _warn_of(attached: Attached, situation: AttackInput[Any]) -> None:
    """Warn that a column is published beside the release, and of how many people it tells."""
    if not attached.value.size:
        return
    pair = situation.comparison
    if isinstance(pair, NetworkComparison):
        from graphveil.attacks.networks.attached import (  # noqa: PLC0415  few attach one
            certain_beside,
        )

        warn(attached_column(attached.name, certain_beside(attached, pair, situation.release)))
        return
    if isinstance(pair, TableComparison):
        pair = pair.one_hot()
    if isinstance(pair, BipartiteComparison):
        from graphveil.attacks.features.homogeneity import (  # noqa: PLC0415  few attach one
            in_classes_of_one,
        )

        warn(attached_column(attached.name, float(in_classes_of_one(attached, pair).mean())))


def _second(
    second: Release[Any] | str | Path | None, original: Any, first: Comparison[Any]
) -> Comparison[Any] | None:
    """Return the same original beside a second release of the same kind."""
    if second is None:
        return None
    read = second if isinstance(second, Release) else read_release(second)
    pair = comparison_of(read, original, first.randomness, wanted_by="attack")
    if type(pair) is not type(first):
        raise UsageError(
            f"the second release is a {type(pair.released).__name__}, the first a "
            f"{type(first.released).__name__}. Give two of one kind."
        )
    return pair


def _levels(release: Release[Any], original: Data) -> NDArray[np.int64] | None:
    """Return how many candidates everybody was promised; None where that is not known."""
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


def _rows(release: str, name: str, outcome: Outcome) -> Iterator[Row]:
    for figure in outcome.figures:
        sample = figure.sample
        yield Row(
            release=release,
            question=name,
            part=figure.part,
            value=float(figure.value),
            guess=None if figure.baseline is None else float(figure.baseline),
            unit=figure.unit,
            direction=figure.direction,
            known=figure.exact,
            sample_size=None if sample is None else sample.size,
            low=None if sample is None else sample.low,
            high=None if sample is None else sample.high,
        )


def write_risks(folder: Path, name: str, original: Data, outcome: Outcome) -> Path:
    """Write everybody's own risk into the private folder, for its owner alone; return the file.

    Parameters
    ----------
    folder
        The release folder.
    name
        The attack's.
    original
        Whose ids name the people.
    outcome
        What the attack came to.
    """
    import pyarrow as pa  # noqa: PLC0415  loaded when a file is written
    from pyarrow import parquet  # noqa: PLC0415

    place = private_folder(folder) / ATTACKED
    place.mkdir(mode=0o700, exist_ok=True)
    path = place / f"{name}.parquet"
    columns = {
        "original": to_arrow(original.labels()),
        "risk": outcome.risk,
        "baseline": outcome.baseline,
    }
    with whole_file(path, mode=OWNER_ONLY) as part, part.open("wb") as stream:
        parquet.write_table(pa.table(columns), stream)
    return path


def rerun_of(release: Release[Any]) -> Rerun | None:
    """Return what runs the method of a release again; None where this version does not know it.

    Levels that differ are those of the owner's private folder: an attacker who knows them is the
    worst. Where an argument of the first run was kept in no file, what is returned refuses to run.

    Parameters
    ----------
    release
        The release.
    """
    name, private = release.provenance.method, release.private
    if name not in METHODS or private is None:
        return None
    parameters = {**release.provenance.parameters, **private.withheld}
    levels = private.levels if parameters.get("levels", "") is None else None
    return _Again(name, parameters, levels, tuple(private.unrecorded))


@dataclass(frozen=True)
class _Again:
    """Runs a method again; it can be handed to another process."""

    method: str
    parameters: Mapping[str, Any]
    levels: OwnersLevels | None
    unrecorded: tuple[str, ...]

    def __call__(self, data: Data, seed: int | None) -> Release[Any]:
        """Return the release of this data."""
        if self.unrecorded:
            raise UsageError(
                f"it was run with {', '.join(self.unrecorded)} that no file keeps, so it cannot be "
                "run again. What is given as a parameter of the method is kept."
            )
        known: dict[str, Any] = {}
        if self.levels is not None:
            rows = positions(data.labels(), self.levels.original, what="levels")
            known["levels"] = self.levels.level[rows]
        with within(engine=None), warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphveilWarning)
            made = METHODS[self.method].from_parameters(self.parameters)
            return made.anonymize(data, seed=seed, **known)
