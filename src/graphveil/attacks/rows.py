"""Attacks on a release as tidy rows: each number beside a guess without the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.attacks.attack import (
    Attack,
    Exact,
    NotMeasuredError,
    Outcome,
    Rerun,
    Situation,
)
from graphveil.attacks.registry import ATTACKS
from graphveil.claims.guarantees import AdaptiveAnonymity, KAnonymity
from graphveil.data import Data
from graphveil.data.ids import positions, to_arrow
from graphveil.errors import ParameterError, UsageError
from graphveil.evaluate import comparison_of
from graphveil.html import html_table
from graphveil.progress import stage
from graphveil.randomness import Randomness
from graphveil.records.record import ATTACKED, private_folder
from graphveil.release import Release, read_release

if TYPE_CHECKING:
    import pandas as pd

NEEDS_LINKAGE = "needs the owner's linkage, which is not beside the release"


class AttackRow(msgspec.Struct, frozen=True, kw_only=True):
    """One number of one attack on one release."""

    release: str
    attack: str
    part: str
    value: float
    baseline: float | None
    unit: str
    direction: str
    exact: Exact = "exact"
    sample_size: int | None = None
    ci_low: float | None = None
    ci_high: float | None = None


class Attacked(msgspec.Struct, frozen=True, kw_only=True):
    """The rows, and for every attack that could not be measured the reason."""

    rows: list[AttackRow]
    not_measured: dict[str, str]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __iter__(self) -> Iterator[AttackRow]:
        """Iterate over the rows."""
        return iter(self.rows)

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, one column a field of `AttackRow`."""
        return attack_rows_to_arrow(self.rows)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas frame, one column a field of `AttackRow`."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def _repr_html_(self) -> str:
        """Return the rows, and what was not measured, as tables for notebooks."""
        columns = ("attack", "part", "value", "without the release", "unit", "")
        rows = [[r.attack, r.part, f"{r.value:g}", r.baseline, r.unit, r.exact] for r in self]
        measured = html_table("What an attacker learns", columns, rows)
        if not self.not_measured:
            return measured
        return measured + html_table(
            "Not measured", ("attack", "reason"), list(self.not_measured.items())
        )


def attack(
    release: Release | str | Path,
    *,
    original: Any,
    attacks: Sequence[str] | None = None,
    seed: int | None = None,
    rerun: Rerun | None = None,
) -> Attacked:
    """Return what an attacker learns from the release, as tidy rows.

    Attacks are lower bounds: that one fails proves nothing. Everybody's own risk is written into
    the private folder beside a release that lies in a folder.

    Parameters
    ----------
    release
        A release, or the folder of one.
    original
        The data it was made from.
    attacks
        Names of `ATTACKS`. Where not given: all that read this kind of data.
    seed
        For what is sampled; entropy where not given.
    rerun
        Runs the method again, for attackers who know it; `graphveil.attack_release` hands it over.

    Raises
    ------
    ParameterError
        Where an attack is unknown.
    UsageError
        Where original and release are of different kinds or sizes, the owner's record is of
        another original, or an attack reads another kind.
    """
    for asked in attacks or ():
        if asked not in ATTACKS:
            raise ParameterError(f"no attack {asked!r}. Use one of {', '.join(ATTACKS)}.")
    folder = None if isinstance(release, Release) else Path(release)
    read = release if isinstance(release, Release) else read_release(release)
    pair = comparison_of(read, original, Randomness(seed=seed), wanted_by="attack")
    situation = Situation(pair, _levels(read, pair.original), rerun)
    rows: list[AttackRow] = []
    not_measured: dict[str, str] = {}
    for chosen in _chosen(attacks, type(pair.original)):
        if chosen.needs_linkage and pair.position is None:
            not_measured[chosen.name] = NEEDS_LINKAGE
            continue
        try:
            with stage(f"attacking with {chosen.name}"):
                outcome = chosen.compute(situation)
        except NotMeasuredError as error:
            not_measured[chosen.name] = str(error)
            continue
        rows.extend(_rows("release" if folder is None else folder.name, chosen.name, outcome))
        not_measured |= {f"{chosen.name}: {n}": why for n, why in outcome.not_measured.items()}
        if folder is not None:
            write_risks(folder, chosen.name, pair.original, outcome)
    return Attacked(rows=rows, not_measured=not_measured)


def _chosen(asked: Sequence[str] | None, kind: type[Any]) -> list[Attack[Any]]:
    fitting = {name: known for name, known in ATTACKS.items() if known.kind is kind}
    for name in asked or ():
        if name not in fitting:
            raise UsageError(
                f"{name} reads a {ATTACKS[name].kind.__name__}, the release is a {kind.__name__}. "
                f"Use {' or '.join(fitting) or 'evaluate: no attack reads it in this version'}."
            )
    return [fitting[name] for name in dict.fromkeys(asked or fitting)]


def _levels(release: Release, original: Data) -> NDArray[np.int64] | None:
    """Return how many candidates everybody was promised; None where that is not known."""
    promise = release.guarantee
    n = original.size
    if isinstance(promise, KAnonymity):
        return np.full(n, promise.k, dtype=np.int64)
    if not isinstance(promise, AdaptiveAnonymity):
        return None
    if promise.common:
        return np.full(n, promise.level, dtype=np.int64)
    levels = release.private.levels if release.private else None
    if levels is None:
        return None
    return levels.level[positions(original.labels(), levels.original, what="levels")]


def _rows(release: str, name: str, outcome: Outcome) -> Iterator[AttackRow]:
    for figure in outcome.figures:
        sample = figure.sample
        yield AttackRow(
            release=release,
            attack=name,
            part=figure.part,
            value=float(figure.value),
            baseline=figure.baseline,
            unit=figure.unit,
            direction=figure.direction,
            exact=figure.exact,
            sample_size=None if sample is None else sample.size,
            ci_low=None if sample is None else sample.low,
            ci_high=None if sample is None else sample.high,
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
    from pyarrow import parquet  # noqa: PLC0415  loaded when a file is written

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


def attack_rows_to_arrow(rows: Sequence[AttackRow]) -> pa.Table:
    """Return rows as an Arrow table, one column a field."""
    records: list[Mapping[str, Any]] = [msgspec.structs.asdict(row) for row in rows]
    texts = [(name, pa.string()) for name in ("unit", "direction", "exact")]
    numbers = [(name, pa.float64()) for name in ("ci_low", "ci_high")]
    schema = pa.schema(
        [
            *((name, pa.string()) for name in ("release", "attack", "part")),
            ("value", pa.float64()),
            ("baseline", pa.float64()),
            *texts,
            ("sample_size", pa.int64()),
            *numbers,
        ]
    )
    return pa.Table.from_pylist(records, schema=schema)
