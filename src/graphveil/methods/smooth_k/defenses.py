"""Defenses beyond the rule: noisy thresholds, and named features that must not become certain."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite
from graphveil.errors import DataError, ParameterError, UsageError
from graphveil.methods.equivalence_classes.rule import Profiles, Rule


class Names(tuple[str, ...]):
    """Names of features; as text separated by commas, or a JSON list where a name holds one.

    Examples
    --------
    >>> Names.parse("hiv, income=>50K")
    ('hiv', 'income=>50K')
    >>> str(Names.parse('["a,b"]'))
    '["a,b"]'
    """

    __slots__ = ()

    @staticmethod
    def parse(text: object) -> Names:
        """Return the names in a text, or in a list of texts.

        Raises
        ------
        ParameterError
            Where there are none.
        """
        listed: Iterable[object]
        if isinstance(text, str) and text.lstrip().startswith("["):
            try:
                listed = json.loads(text)
            except ValueError as error:
                raise ParameterError(
                    f"{text!r} is no JSON list of names: {error}. Quote every name."
                ) from error
        elif isinstance(text, str):
            listed = [name.strip() for name in text.split(",")]
        elif isinstance(text, Iterable):
            listed = text
        else:
            raise ParameterError(f"{text!r} is no list of names. Give names of features.")
        names = Names(str(name) for name in listed if str(name))
        if not names:
            raise ParameterError(f"{text!r} names no feature. Give at least one.")
        return names

    def __str__(self) -> str:
        """Return the text that `Names.parse` reads."""
        plain = ",".join(self)
        is_plain = not plain.lstrip().startswith("[") and Names.parse(plain) == self
        return plain if is_plain else json.dumps(list(self), ensure_ascii=False)


def noisy(
    profiles: Profiles, rule: Rule, rate: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which pairs reach their least count plus a random number.

    Parameters
    ----------
    profiles
        The features of every cluster.
    rule
        The least counts.
    rate
        The random number is g >= 0 with probability proportional to ``exp(-rate * g)``.
    rng
        The randomness.

    Examples
    --------
    >>> one = Profiles(*(np.array(x) for x in ([0], [0], [2], [2])))
    >>> noisy(one, Rule(), 50.0, np.random.Generator(np.random.PCG64(1))).tolist()
    [True]
    """
    raised = rng.geometric(-np.expm1(-rate), size=profiles.counts.size) - 1
    return np.asarray(profiles.counts >= rule.least(profiles.sizes)[profiles.clusters] + raised)


def named_features(data: Bipartite, names: Names) -> NDArray[np.bool_]:
    """Return which features of the data these names name, shape (n_features,).

    Raises
    ------
    DataError
        Where the data has no feature of a name.
    UsageError
        Where features are people.
    """
    if data.items == "people":
        raise UsageError("sensitive features are things, and items are people here. Leave it out.")
    labels = list(map(str, data.feature_labels().tolist()))
    known, sensitive = set(labels), set(names)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise DataError(
            f"sensitive names {unknown[0]!r}, which is no feature of the data. Check the spelling."
        )
    return np.array([label in sensitive for label in labels], dtype=np.bool_)


def without_near_certain(
    data: Bipartite, profiles: Profiles, theta_max: float, sensitive: Names
) -> NDArray[np.bool_]:
    """Return which pairs are not of a sensitive feature that more than this share have.

    Raises
    ------
    DataError
        Where the data has no feature of a name.
    """
    is_sensitive = named_features(data, sensitive)
    share = profiles.counts / profiles.sizes[profiles.clusters]
    return np.asarray(~is_sensitive[profiles.features] | (share <= theta_max))
