"""Attacks on a release by somebody who also knows the method: it is run again as the manifest says.

Attacks know no method. Where this version of the program knows the one that a manifest names, they
are handed a way to run it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphveil.attacks import Attached, Attacked, Rerun, attack
from graphveil.data import Data
from graphveil.data.ids import positions
from graphveil.errors import GraphveilWarning, UsageError
from graphveil.methods import METHODS
from graphveil.release import Release, read_release


def attack_release(
    release: Release[Any] | str | Path,
    *,
    original: Any,
    attacks: Sequence[str] | None = None,
    seed: int | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    second: Release[Any] | str | Path | None = None,
    attached: Attached | None = None,
) -> Attacked:
    """Return what an attacker learns from a release, each figure beside a guess without it.

    Attacks are lower bounds: that one fails proves nothing. Beside a release that lies in a folder,
    everybody's own risk is written into ``attacks/NAME.parquet`` of the private folder.

    Parameters
    ----------
    release
        A release, or the folder of one.
    original
        The data it was made from, also as an object of another library.
    attacks
        Names of `ATTACKS`. Where not given: all that read this kind of data and need not be asked
        for by name.
    seed
        For what is sampled; entropy where not given.
    options
        Parameters of attacks, by the attack's name and the parameter's, as
        ``{"linkage": {"targets": 100}}``.
    second
        A second release of the same people, or its folder, for attacks that read two.
    attached
        A column that is published beside the release, for attacks that read one.

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
    >>> row.value, row.baseline
    (0.5, 0.25)
    """
    read = release if isinstance(release, Release) else read_release(release)
    return attack(
        release,
        original=original,
        attacks=attacks,
        seed=seed,
        options=options,
        second=second,
        attached=attached,
        rerun=rerun_of(read),
    )


def rerun_of(release: Release[Any]) -> Rerun | None:
    """Return what runs the method of a release again; None where this version does not know it.

    Levels that differ are those of the owner's private folder: an attacker who knows them is the
    worst. Where an argument of the first run was kept in no file, what is returned refuses to run.

    Parameters
    ----------
    release
        The release.
    """
    method = METHODS.get(release.provenance.method)
    if method is None or release.private is None:
        return None
    parameters = {**release.provenance.parameters, **release.private.withheld}
    levels = release.private.levels if parameters.get("levels", "") is None else None

    unrecorded = release.private.unrecorded

    def rerun(data: Data, seed: int | None) -> Release[Any]:
        if unrecorded:
            raise UsageError(
                f"it was run with {', '.join(unrecorded)} that no file keeps, so it cannot be run "
                "again. What is given as a parameter of the method is kept."
            )
        known: dict[str, Any] = {}
        if levels is not None:
            rows = positions(data.labels(), levels.original, what="levels")
            known["levels"] = levels.level[rows]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphveilWarning)
            return method.from_parameters(parameters).anonymize(data, seed=seed, **known)

    return rerun
