"""The base of all conditions."""

from __future__ import annotations

from abc import abstractmethod

import msgspec


class Condition(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """A further statement about a release, exact enough to be checked.

    Subclasses are frozen values with a `sentence` that says it in plain words.
    """

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The statement in one sentence."""
