"""Rows that equal others, or that several people could own: the promises about rows."""

from __future__ import annotations

from fractions import Fraction

from graphveil.claims.conditions import AnyCondition, NothingAdded, TrueOfShare, share_in
from graphveil.claims.guarantee import Guarantee, check_class_size
from graphveil.errors import ParameterError


class KAnonymity(Guarantee, frozen=True, kw_only=True, tag="k-anonymity"):
    """Every row equals at least k-1 others, and nothing stands in it that is not in the original.

    Rows are users by features, or rows of a table. In a table a suppressed cell `*` equals only
    another `*`, and every published cell is the original's.

    Parameters
    ----------
    k
        The smallest class of equal rows, at least 1.

    Examples
    --------
    >>> KAnonymity(k=5).sentence
    'Every row of the release equals at least 4 others on every published feature, and nothing was \
added.'
    """

    k: int

    def __post_init__(self) -> None:
        """Check the parameter."""
        check_class_size(self.k)

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        return f"{_equal_rows(self.k)}, and nothing was added."

    @property
    def implied(self) -> tuple[AnyCondition, ...]:
        """That nothing was added."""
        return (NothingAdded(),)

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        return _among_equal_rows(self.k)


class SmoothKAnonymity(Guarantee, frozen=True, kw_only=True, tag="smooth-k-anonymity"):
    """Every row equals at least k-1 others; every entry is true of a share theta of its class.

    Parameters
    ----------
    k
        The smallest class of equal rows, at least 1.
    theta
        The share, a fraction in [1/2, 1] in lowest terms such as ``1/2``, kept exact as text.

    Examples
    --------
    >>> SmoothKAnonymity(k=5).sentence
    'Every row of the release equals at least 4 others on every published feature, and every \
published entry is true of at least half of the rows of its class.'
    """

    k: int
    theta: str = "1/2"

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_class_size(self.k)
        share_in(self.theta)

    @property
    def share(self) -> Fraction:
        """Theta as a number."""
        return Fraction(self.theta)

    @property
    def implied(self) -> tuple[AnyCondition, ...]:
        """That every entry is true of a large enough share of its class."""
        return (TrueOfShare(theta=self.theta),)

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        share = {"1/2": "at least half", "1": "all"}.get(self.theta, f"at least {self.theta}")
        return (
            f"{_equal_rows(self.k)}, and every published entry is true of {share} of the rows of "
            "its class."
        )

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        return _among_equal_rows(self.k)


class AdaptiveAnonymity(Guarantee, frozen=True, kw_only=True, tag="adaptive-anonymity"):
    """Everybody could own as many records as the level they asked for, and records as many people.

    A record fits a person where each of its cells is that person's or `*`. A pair counts only where
    it is part of a full assignment: one that gives every person a record that fits. The level of a
    record is that of its owner.

    Parameters
    ----------
    level
        What all asked for, at least 1; where not all asked for the same, a level that the owner
        set and no data decides, which nobody's lies below.
    common
        Whether all asked for the same. Who asked for how much is published nowhere.

    Examples
    --------
    >>> print(AdaptiveAnonymity(level=5).sentence)
    Each person could own at least as many of these records as the level they asked for (5), and \
each record could belong to as many people; each such pair is part of a full assignment that fits \
the data.
    """

    level: int
    common: bool = True

    def __post_init__(self) -> None:
        """Check the level."""
        if self.level < 1:
            raise ParameterError(f"level={self.level} is below 1. Give a number of records.")

    @property
    def implied(self) -> tuple[AnyCondition, ...]:
        """That nothing was added: the record of a person shows nothing but that person's cells."""
        return (NothingAdded(),)

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        least = f" (at least {self.level})" if self.level > 1 else ""
        level = f" ({self.level})" if self.common else least
        return (
            "Each person could own at least as many of these records as the level they asked "
            f"for{level}, and each record could belong to as many people; each such pair is part "
            "of a full assignment that fits the data."
        )

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        levels = "" if self.common else ", but not who asked for how much"
        ruled_out = "" if self.common else "Who knows the levels can rule candidates out. "
        return (
            f"Someone who holds the whole original table and the release{levels}, and uses nothing "
            f"else. {ruled_out}This counts candidates; it does not make them equally likely."
        )


def _equal_rows(k: int) -> str:
    others = "other" if k == 2 else "others"
    return f"Every row of the release equals at least {k - 1} {others} on every published feature"


def _among_equal_rows(k: int) -> str:
    return (
        "Someone who knows any of a person's features, and uses nothing but the released rows, is "
        f"left with at least {k} equal rows that may be that person's."
    )
