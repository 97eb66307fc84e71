"""The base of all conditions."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import msgspec


class Condition(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """A further statement about a release, exact enough to be checked.

    Subclasses are frozen values with a `sentence` that says it in plain words.
    """

    without_seed: ClassVar[bool] = False
    """Whether a run with a seed leaves it out: what it says would tell a guessed seed."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The statement in one sentence."""
