"""The ledger of one group of people: the epsilon that all releases about them have used.

It is a file of the owner. An entry is written before anything is sampled, and stays if the run
fails: noise that was drawn and discarded could still have been seen.

Totals follow from sequential composition (Dwork and Roth, The algorithmic foundations of
differential privacy, 2014, section 3.5): epsilons of releases of the same data add up. They are
summed as exact fractions and printed rounded up. Releases of different units are added in one
unit by group privacy: changing a value is changing two entries, and a person has a known number
of cells.

Cost: the complete file is read and written again for each entry.
"""

from __future__ import annotations

import math
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from graphveil.claims.guarantees import EdgeDP, Guarantee, NodeDP
from graphveil.core.atomic import OWNER_ONLY, flush_names, whole_file
from graphveil.core.errors import InputError, ParameterError, ResourceError, UsageError
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import LedgerWarning

Unit = Literal["edge", "value", "node"]

PLACES = 12
"""Decimal places of a printed total, which is rounded up."""

_DECIMAL = re.compile(r"[0-9]{1,3}(\.[0-9]{1,400})?(e-[0-9]{1,3})?")
"""An epsilon as `repr` writes a float; numbers of another form cost much to read."""

_LIMIT = re.compile(r"[0-9]{1,15}(\.[0-9]{1,400})?(e-[0-9]{1,3})?")

LIMITS = 10.0**15
"""A limit is below it: Python holds whole numbers up to there exactly, and prints every digit."""

_A_LIMIT = "a number above 0 and below 10^15"


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One release."""

    id: str
    method: str
    unit: Unit | None
    epsilon: str | None
    person_cells: int

    def __post_init__(self) -> None:
        """Check that what is claimed has a unit and a number."""
        if (self.unit is None) != (self.epsilon is None) or self.person_cells < 0:
            raise ParameterError(f"the entry {self.id} is not valid.")
        if self.epsilon is not None and not _DECIMAL.fullmatch(self.epsilon):
            raise ParameterError(f"epsilon={self.epsilon!r} is not a number.")

    def spent(self, unit: Unit) -> Fraction | None:
        """Return what it counts for in this unit; None where it has no bound."""
        if self.epsilon is None:
            return None
        return Fraction(self.epsilon) * self.times(unit)

    def times(self, unit: Unit) -> Fraction:
        """Return what its epsilon is multiplied with in this unit.

        >>> entry = Entry(id="a", method="m", unit="value", epsilon="1.0", person_cells=10)
        >>> [str(entry.times(unit)) for unit in ("edge", "value", "node")]
        ['1/2', '1', '5']
        """
        if self.unit == "node" or self.unit is None:
            return Fraction(1)
        cells = {"edge": 1, "value": 2, "node": max(self.person_cells, 1)}
        return Fraction(cells[unit], cells[self.unit])


class Composed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a ledger holds, this release included: public."""

    releases: int
    unit: Unit
    epsilon: str


class LedgerReference(msgspec.Struct, frozen=True, kw_only=True):
    """What the private record says of the ledger: its file, and the entry of the release."""

    file: str
    entry: str


class Limit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most that the total of a ledger may reach; once set it stays."""

    epsilon: str
    unit: Unit

    def __post_init__(self) -> None:
        """Check that it is a number in range."""
        if not _LIMIT.fullmatch(self.epsilon) or not Fraction(self.epsilon):
            raise ParameterError(f"the limit {self.epsilon!r} is not {_A_LIMIT}.")


class LedgerFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a ledger."""

    schema: int
    entries: list[Entry]
    limit: Limit | None = None


def rounded_up(total: Fraction) -> str:
    """Return a total as decimal text that is not below it."""
    return _printed(math.ceil(total * 10**PLACES))


def rounded_down(remainder: Fraction) -> str:
    """Return what remains as decimal text that is not above it.

    >>> rounded_down(Fraction(7, 5)), rounded_down(Fraction(1, 3))
    ('1.4', '0.333333333333')
    """
    return _printed(math.floor(remainder * 10**PLACES))


def _printed(units: int) -> str:
    whole, places = divmod(units, 10**PLACES)
    return f"{whole}.{places:0{PLACES}d}".rstrip("0").rstrip(".")


def total_of(entries: list[Entry], unit: Unit) -> Fraction | None:
    """Return the exact total in this unit; None where an entry claims nothing."""
    total = Fraction(0)
    for entry in entries:
        spent = entry.spent(unit)
        if spent is None:
            return None
        total += spent
    return total


def composed_of(entries: list[Entry], unit: Unit | None) -> Composed | None:
    """Return what a manifest states of these releases; None where they have no total."""
    total = None if unit is None else total_of(entries, unit)
    if unit is None or total is None:
        return None
    return Composed(releases=len(entries), unit=unit, epsilon=rounded_up(total))


SCHEMA = 1
MOST_BYTES = 64 << 20
"""The largest ledger that is read, in bytes, by a run as by `verify`: some 350,000 releases."""

_TOO_LARGE = f"is larger than {MOST_BYTES >> 20} MiB, the largest ledger that is read."

PATIENCE_SECONDS = 5.0
"""So long a run waits for another that holds the ledger."""

_OF: dict[Unit, str] = {
    "edge": "for one edge or entry",
    "value": "for one value of a column",
    "node": "for one person",
}

_NO_TOTAL = (
    "{} contains, or would contain, a release without a guarantee, so no total can keep the "
    "limit. Use another ledger, or set no limit at its first release."
)


class LedgerReceipt(NamedTuple):
    """What was entered for a run."""

    note: LedgerReference
    known: frozenset[str]
    composed: Composed | None


class Ledger:
    """What all releases about one group of people have spent of epsilon, added as fractions.

    Parameters
    ----------
    path
        The file, or a link to it; it is made with the first entry, for its owner alone to read.
    limit
        The most that the total may reach. The first call that names one sets it, in the unit of
        what it claims, and the file keeps it: later calls keep to it, and may not name another.
    unclaimed
        Whether a release that claims nothing may be entered: from then on there is no total, and
        no limit can be kept.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder, "friends.ledger"), limit=1.5)
    ...     for _ in range(2):
    ...         _ = gv.AsymmetricResponse(epsilon=0.7).anonymize(graph, ledger=ledger)
    ...     float(ledger.total("edge"))
    1.4
    """

    def __init__(
        self, path: str | Path, *, limit: float | None = None, unclaimed: bool = False
    ) -> None:
        if limit is not None and not (0 < limit < LIMITS and float(limit)):
            raise ParameterError(f"limit={limit} is not valid. Give {_A_LIMIT}.")
        self.path = Path(os.path.realpath(path))
        self.limit = None if limit is None else repr(float(limit))
        self.unclaimed = unclaimed

    def entries(self) -> list[Entry]:
        """Return what was entered, oldest first; nothing where there is no file yet.

        Raises
        ------
        InputError
            Where the file is not a ledger, or others than its owner may read or change it.

        Returns
        -------
        list of Entry
            The method, the unit and epsilon of each release.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import graphveil as gv
        >>> with TemporaryDirectory() as folder:
        ...     ledger = Ledger(Path(folder, "friends.ledger"), limit=1.5)
        ...     _ = ledger.spend(gv.EdgeDP(epsilon=0.4), method="top-m-filter", person_cells=9)
        ...     [(entry.method, entry.unit, entry.epsilon) for entry in ledger.entries()]
        [('top-m-filter', 'edge', '0.4')]
        """
        return self._content().entries

    def kept_limit(self) -> Limit | None:
        """Return the limit that the file keeps; None where none was set.

        Raises
        ------
        InputError
            As in `entries`.

        Returns
        -------
        Limit or None
            The unit, and the most that the total may reach.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import graphveil as gv
        >>> with TemporaryDirectory() as folder:
        ...     ledger = Ledger(Path(folder, "friends.ledger"), limit=1.5)
        ...     _ = ledger.spend(gv.EdgeDP(epsilon=0.4), method="top-m-filter", person_cells=9)
        ...     Ledger(ledger.path).kept_limit().epsilon
        '1.5'
        """
        return self._content().limit

    def _content(self) -> LedgerFile:
        """Return what the file holds; no entry where there is no file yet."""
        # Whatever is not a ledger of this version, readable by its owner alone, is refused: a total
        # that is too small would claim too much.
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"{self.path} is not a file. Give the ledger's file.")
        try:
            with self.path.open("rb") as file:
                _check_owner(os.fstat(file.fileno()), self.path)
                raw = file.read(MOST_BYTES + 1)
                if len(raw) > MOST_BYTES:
                    raise InputError(f"{self.path} {_TOO_LARGE} Give the ledger's file.")
        except FileNotFoundError:
            return LedgerFile(schema=SCHEMA, entries=[])
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror}. Give the ledger's file.") from error
        try:
            content = msgspec.json.decode(raw, type=LedgerFile)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ParameterError) as error:
            raise InputError(
                f"{self.path} is not a ledger, or is damaged: {error} Restore it from a backup; "
                "epsilon already spent still counts."
            ) from error
        if content.schema != SCHEMA or len({e.id for e in content.entries}) < len(content.entries):
            raise InputError(
                f"{self.path} is damaged, or is not a ledger of this version. "
                "Restore it from a copy."
            )
        return content

    def total(self, unit: Unit) -> Fraction | None:
        """Return the total in this unit, exactly; None where a release claimed nothing.

        The epsilon of a node counts for an edge as it is; that of an edge counts for a node as many
        times as a node has cells.

        Parameters
        ----------
        unit
            ``edge``, ``value`` or ``node``: what one unit of epsilon protects.

        Returns
        -------
        Fraction or None
            The sum of epsilons.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import graphveil as gv
        >>> with TemporaryDirectory() as folder:
        ...     ledger = Ledger(Path(folder, "friends.ledger"), limit=1.5)
        ...     _ = ledger.spend(gv.EdgeDP(epsilon=0.4), method="top-m-filter", person_cells=9)
        ...     ledger.total("edge"), ledger.total("node")
        (Fraction(2, 5), Fraction(18, 5))
        """
        return total_of(self.entries(), unit)

    def known(self) -> frozenset[str]:
        """Return the entries, by which releases are recognized that the ledger holds.

        Returns
        -------
        frozenset of str
            The random id of every entry.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import graphveil as gv
        >>> with TemporaryDirectory() as folder:
        ...     ledger = Ledger(Path(folder, "friends.ledger"), limit=1.5)
        ...     _ = ledger.spend(gv.EdgeDP(epsilon=0.4), method="top-m-filter", person_cells=9)
        ...     ledger.known() == {entry.id for entry in ledger.entries()}
        True
        """
        return frozenset(entry.id for entry in self.entries())

    def spend(self, guarantee: Guarantee, *, method: str, person_cells: int) -> LedgerReceipt:
        """Enter a release before it is drawn.

        Parameters
        ----------
        guarantee
            What it will claim.
        method
            The method's name.
        person_cells
            How many cells one person has.

        Returns
        -------
        LedgerReceipt
            The entry, and what the ledger held before.

        Raises
        ------
        UsageError
            Where the total would pass the limit, the release claims nothing that adds up, or
            another limit was set before.
        InputError
            As in `entries`.
        ResourceError
            Where another run holds the ledger, or it cannot be written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import graphveil as gv
        >>> with TemporaryDirectory() as folder:
        ...     ledger = Ledger(Path(folder, "friends.ledger"), limit=1.5)
        ...     _ = ledger.spend(gv.EdgeDP(epsilon=0.4), method="top-m-filter", person_cells=9)
        ...     ledger.spend(gv.EdgeDP(epsilon=1.2), method="top-m-filter", person_cells=9)
        Traceback (most recent call last):
            ...
        graphveil.core.errors.UsageError: ...
        """
        # Step 1: the entry, under a random id that says nothing of the release.
        entry = _entry(guarantee, method, person_cells)
        if entry.unit is None and not self.unclaimed:
            raise UsageError(
                f"{method} with these parameters claims no epsilon, so the ledger would no "
                "longer have a total. Remove the seed, choose another method, or allow it "
                "(unclaimed=True, --ledger-unclaimed)."
            )
        # Step 2: with the ledger locked, check the limit with this release and write the new
        # content: of two runs at a time, the second one sees the first.
        with self._locked():
            content = self._content()
            entries = [*content.entries, entry]
            limit = self._limit(content.limit, entry)
            self._check_limit(entries, limit)
            self._write(LedgerFile(schema=SCHEMA, entries=entries, limit=limit))
        # Step 3: warn where units are mixed, and return what the manifest states.
        _warn_of_persons(entries, limit)
        return LedgerReceipt(
            note=LedgerReference(file=str(self.path), entry=entry.id),
            known=frozenset(e.id for e in entries),
            composed=composed_of(entries, entry.unit),
        )

    def _limit(self, kept: Limit | None, entry: Entry) -> Limit | None:
        """Return the limit that a release is entered under: the one that is kept, else the own."""
        # The first limit stays: a later one would undo what the owner decided.
        if self.limit is None:
            return kept
        if kept is not None and Fraction(self.limit) == Fraction(kept.epsilon):
            return kept
        if kept is not None:
            raise UsageError(
                f"{self.path.name} has the limit {kept.epsilon} {_OF[kept.unit]}; {self.limit} "
                "was given. Remove the limit. Runs that exceed the stored limit are refused."
            )
        if entry.unit is None:
            raise UsageError(_NO_TOTAL.format(self.path.name))
        return Limit(epsilon=self.limit, unit=entry.unit)

    def _check_limit(self, entries: list[Entry], limit: Limit | None) -> None:
        """Refuse what would pass the limit, in its own unit, whatever the release is about."""
        if limit is None:
            return
        # The limit is in one unit, in which every release counts.
        total = total_of(entries, limit.unit)
        if total is None:
            raise UsageError(_NO_TOTAL.format(self.path.name))
        most = Fraction(limit.epsilon)
        if total > most:
            before = total_of(entries[:-1], limit.unit) or Fraction(0)
            last = entries[-1]
            remaining = rounded_down(max(most - before, Fraction(0)) / last.times(limit.unit))
            way_out = (
                "nothing more can be released"
                if remaining == "0"
                else f"use an epsilon of at most {remaining}"
            )
            raise UsageError(
                f"total epsilon {_OF[limit.unit]} would become {rounded_up(total)}, above the "
                f"limit {limit.epsilon} ({rounded_up(before)} already spent): {way_out}."
            )

    def _write(self, content: LedgerFile) -> None:
        raw = msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
        # A file that could not be read again would lose all that was spent.
        if len(raw) > MOST_BYTES:
            raise ResourceError(
                f"with this release {self.path} {_TOO_LARGE} No budget was spent and no noise was "
                "sampled."
            )
        # Write a new file in full, then rename it: an interrupted run leaves the old ledger.
        try:
            with whole_file(self.path, mode=OWNER_ONLY) as part, part.open("r+b") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ResourceError(
                f"{self.path}: {error.strerror}. No budget was spent and no noise was sampled."
            ) from error
        # The rename must reach the disk as well, or the entry could vanish with the power.
        try:
            flush_names(self.path.parent)
        except OSError as error:
            raise ResourceError(
                f"{self.path}: {error.strerror}. The run is recorded in the ledger, but no "
                "noise was sampled."
            ) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the ledger; of two runs one waits for the other."""
        from filelock import FileLock, Timeout  # noqa: PLC0415  help needs no lock

        lock = FileLock(
            self.path.with_name(f".{self.path.name}.lock"),
            timeout=PATIENCE_SECONDS,
            mode=OWNER_ONLY,
        )
        try:
            lock.acquire()
        except Timeout as error:
            raise ResourceError(
                f"{self.path} is in use by another run. No budget was spent; try again when that "
                "run has ended."
            ) from error
        except OSError as error:
            raise ResourceError(
                f"{lock.lock_file}: {error.strerror}. No budget was spent."
            ) from error
        try:
            yield
        finally:
            lock.release()


def _entry(guarantee: Guarantee, method: str, person_cells: int) -> Entry:
    unit: Unit | None = None
    epsilon = None
    if isinstance(guarantee, EdgeDP | NodeDP):
        unit = "node" if isinstance(guarantee, NodeDP) else "edge"
        unit = "value" if getattr(guarantee, "of", None) == "value" else unit
        epsilon = repr(guarantee.epsilon)
    key = secrets.token_hex(16)
    return Entry(id=key, method=method, unit=unit, epsilon=epsilon, person_cells=person_cells)


def _warn_of_persons(entries: list[Entry], limit: Limit | None) -> None:
    """Say what the totals are, where releases of several units are mixed."""
    units = [unit for unit in _OF if unit in {one.unit for one in entries}]
    if len(units) < 2 or total_of(entries, "node") is None:
        return
    if units[-1] != "node":
        units.append("node")
    bounds = "" if limit is None else f"; the limit {limit.epsilon} is {_OF[limit.unit]}"
    totals = [f"{rounded_up(total_of(entries, unit) or Fraction(0))} {_OF[unit]}" for unit in units]
    warn(
        "the ledger contains releases with epsilon "
        f"{' and others '.join(_OF[unit] for unit in units[:2])}; the total epsilon is "
        f"{', '.join(totals)}{bounds}",
        LedgerWarning,
    )


def _check_owner(found: os.stat_result, path: Path) -> None:
    """Refuse a file of several names or another user, and one that others may read or change."""
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path} is not a file. Give the ledger's file.")
    # The file is replaced as a whole, so a second name would keep the old total.
    if found.st_nlink > 1:
        raise InputError(
            f"{path} has {found.st_nlink} names (hard links), and each would keep a total of its "
            "own. Remove the other names, or replace this one by a symbolic link to the ledger."
        )
    if sys.platform == "win32":
        return
    if found.st_uid != os.geteuid():
        raise InputError(f"{path} belongs to another user. Give a ledger of your own.")
    # Others who may change the file could lower the total.
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise InputError(
            f"other users may read or change {path}. Restrict it to yourself: chmod 600."
        )
