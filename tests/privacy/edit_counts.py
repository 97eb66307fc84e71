"""How often a random edit of a release reached its claim.

Most random edits break a digest, a count or a row, and the checker stops there: a test of such
edits alone would pass with a checker that recounts nothing. A test that is marked
``counts_edits("classes")`` notes what failed after every edit. It fails where no edit left files
that are whole, so that nothing but the claim, or the owner's own digest, could tell; and where the
named condition never was what failed.
"""

from __future__ import annotations

from collections.abc import Iterable

OWNER = "owner's record"
"""What notices every edit as long as the owner's folder is there."""


class EditCounts:
    """Counts of the edits that one test made.

    Parameters
    ----------
    claim
        The names of the conditions that recount the claim.

    Attributes
    ----------
    tried
        All edits.
    reached
        Those after which the files are whole.
    refuted
        Those of them after which the claim does not hold.

    Examples
    --------
    >>> counts = EditCounts({"classes"})
    >>> for failed in (["files", "data"], ["owner's record"], ["classes", "owner's record"]):
    ...     counts.note(failed)
    >>> counts.tried, counts.reached, counts.refuted
    (3, 2, 1)
    """

    def __init__(self, claim: Iterable[str] = ()) -> None:
        self.claim = frozenset(claim)
        self.tried = self.reached = self.refuted = 0

    def note(self, failed: Iterable[str]) -> None:
        """Count an edit after which these conditions fail."""
        names = set(failed)
        self.tried += 1
        if names <= self.claim | {OWNER}:
            self.reached += 1
            self.refuted += bool(names & self.claim)

    def check(self) -> None:
        """Fail where no edit reached the claim, or none refuted it."""
        assert self.tried, "no edit was noted"
        assert self.reached, f"none of {self.tried} edits left whole files: the claim was not tried"
        assert self.refuted, f"{self.reached} of {self.tried} edits left whole files, none refuted"


class _Running:
    """The counts of the test that runs now."""

    def __init__(self) -> None:
        self.counts = EditCounts()


_RUNNING = _Running()


def start(claim: Iterable[str]) -> EditCounts:
    """Begin to count the edits of a test."""
    _RUNNING.counts = EditCounts(claim)
    return _RUNNING.counts


def note(failed: Iterable[str]) -> None:
    """Count an edit of the test that runs now, after which these conditions fail."""
    _RUNNING.counts.note(failed)
