"""The method `mondrian`: rows are cut in two along one feature at a time, down to k or more.

LeFevre, DeWitt and Ramakrishnan, *Mondrian multidimensional k-anonymity*, ICDE 2006, on binary
features, as the baseline of Esfandiari et al., *Smooth Anonymity for Sparse Graphs*.

1. `order_of_features`: the order of the features.
2. `kernels.cuts.divide`: all rows are one part, which is cut along a feature into the rows that
   have it and those that have not, if both sides hold at least k rows; then each side likewise.
3. `equivalence_classes.rule`: every part publishes what all of its rows have, or the majority.

Departures from LeFevre et al.: a feature has two values, so that a cut is not at a median but
between having the feature or not; which feature is the first one allowed or the most balanced one,
not the widest range. Costs: each entry is read at most log2(n) + 1 times.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.core.parameters import Columns, parameter
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite, Graph, Table
from graphveil.data.feature_names import column_and_value
from graphveil.data.ids import Ids
from graphveil.methods import roles as table_roles
from graphveil.methods.card import MethodCard, reached_by_k
from graphveil.methods.equivalence_classes import rule
from graphveil.release.draft import Draft

RULES = {"suppress": rule.Rule(Fraction(1)), "majority": rule.Rule(Fraction(1, 2))}
"""Which features a part keeps: those of all of its rows, or of at least half of them."""


CARD = MethodCard(
    when="You compare with the classic algorithm for k-anonymity by partitioning.",
    promise="Every row of the release equals at least k-1 others in all published features.",
    source=(
        "LeFevre, DeWitt & Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006, as"
        " the baseline of Esfandiari et al., Smooth Anonymity for Sparse Graphs"
    ),
    limits=(
        "What the members of a class have in common. The method is deterministic: an attacker "
        "who knows it can run it again."
    ),
    reached=reached_by_k(
        "In our tests with release=suppress, {one}% of the original entries were published as "
        "true of everyone in their class; knowing the method and all but one item of a person "
        "made that item certain in {other}% of 300 cases ({people} people, k={k}).",
        (2, 76, 85, "2,000"),
        (8, 40, 49, "2,000"),
        (16, 28, 32, "2,000"),
        release="suppress",
    ),
    cost="near-linear in the number of entries",
    example={"k": 5},
    counts_people=True,
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class Mondrian(table_roles.WithRoles[Bipartite]):
    """Every row of the release equals at least k-1 others in all published features.

    All rows are one part at first. A part is cut along a feature into the rows that have it and
    those that have not, as long as both sides hold at least k rows. At the end a part publishes
    the features that all of its rows have (``release="suppress"``: nothing is added), or at least
    half of them (``release="majority"``).

    Parameters
    ----------
    k
        The smallest class of equal rows.
    known
        For a table, the columns that an attacker may know, in which rows are equal. Default: all.
    attach
        Columns of a table that are published unchanged, outside of the guarantee.
    label
        Attached columns that a model is to predict.
    may_narrow
        The share of the hidden cells of a known column that attached columns may narrow to one
        value, beyond chance: the answer to the question that a run asks above 0.05.
    split
        ``"first"``, the paper's baseline, cuts along the first feature that at most half of a
        part's rows have (one more if their number is odd) and that leaves k rows on both sides.
        ``"balanced"`` cuts along the feature whose smaller side is largest, the first of equals.
    column_order
        The order of the features: ``"sorted"`` by attribute and then value if a name such as
        ``age=30`` has both, by the complete name if it has no ``=``, and by value if names are
        numbers; ``"given"`` as the data lists them.
    release
        ``"suppress"`` or ``"majority"``.

    Raises
    ------
    ParameterError
        A parameter is out of range, or a column has two roles.

    Notes
    -----
    LeFevre, DeWitt and Ramakrishnan, *Mondrian multidimensional k-anonymity*, ICDE 2006, on
    binary features, as the baseline of Esfandiari et al., *Smooth Anonymity for Sparse Graphs*.
    With s rows in a part, o of which have a feature and z have not, *first* asks for o >= k,
    z >= k, z >= floor(s/2) and floor(s/2) >= k. An entry is read at most log2(n) + 1 times.

    Examples
    --------
    >>> data = Bipartite.from_lists([["tea", "rye"], ["tea"], ["gin"], ["gin", "rye"]])
    >>> release = Mondrian(k=2).anonymize(data)
    >>> sorted(release.data.feature_labels()[release.data.row(u)].tolist() for u in range(4))
    [['gin'], ['gin'], ['tea'], ['tea']]
    """

    name: ClassVar[str] = "mondrian"
    accepts = (Bipartite, Table, Graph)
    card: ClassVar[MethodCard] = CARD

    k: int = parameter(text="smallest class of equal rows", minimum=2)
    known: Columns | None = table_roles.known_columns_parameter()  # noqa: RUF009  a field
    attach: Columns | None = table_roles.attached_columns_parameter()  # noqa: RUF009  a field
    label: Columns | None = table_roles.label_columns_parameter()  # noqa: RUF009  a field
    may_narrow: float | None = table_roles.may_narrow_parameter()
    split: Literal["first", "balanced"] = parameter(
        default="first", text="cut along the first allowed feature, or the most balanced one"
    )
    column_order: Literal["sorted", "given"] = parameter(
        default="sorted", text="feature order: by attribute and value, or as in the data"
    )
    release: Literal["suppress", "majority"] = parameter(
        default="suppress",
        text="publish what all rows of a class have, or what at least half have",
    )

    @property
    def guarantee(self) -> KAnonymity | SmoothKAnonymity:
        """What is guaranteed."""
        promised = KAnonymity if self.release == "suppress" else SmoothKAnonymity
        return promised(k=self.k, known=self.roles.known or UNSET)

    def draft(self, data: Bipartite, _randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        # Steps 1 and 2: order the features, and cut. Equal rows are collapsed to one with a
        # weight, because no cut separates them.
        rows = rule.collapse(data)
        parts = self._parts(rows, data.feature_labels())
        # Step 3: per part and feature, count the rows that have it. "suppress" publishes a feature
        # that all rows of the part have, "majority" one that half of them have.
        profiles = rule.profiles_of(rows, parts)
        published = profiles.kept(RULES[self.release])
        adds = self.release != "suppress"
        return rule.draft_of(data, parts, profiles, published, self.k, adds=adds)

    def groups(self, data: Bipartite) -> rule.Labels:
        """Return the part of every row, each of at least k rows.

        Parameters
        ----------
        data
            Users and items.

        Returns
        -------
        Labels
            The number of the part of every row, int32, shape (n,), from 0.

        Examples
        --------
        >>> from graphveil import Bipartite
        >>> data = Bipartite.from_lists([["tea", "rye"], ["tea"], ["gin"], ["gin", "rye"]])
        >>> Mondrian(k=2).groups(data).tolist()
        [0, 0, 1, 1]
        """
        return self._parts(rule.collapse(data), data.feature_labels())

    def _parts(self, rows: rule.CollapsedRows, names: Ids) -> rule.Labels:
        """Return the part of every row."""
        from graphveil.methods.equivalence_classes.kernels import cuts  # noqa: PLC0415  compiled code, when needed

        # Step 1: number the features in the order in which they are tried; the kernel knows no
        # names. `rank` (int32, shape (features,)): the place of each feature in that order.
        order = order_of_features(names) if self.column_order == "sorted" else np.arange(names.size)
        rank = np.empty(names.size, dtype=np.int32)
        rank[order] = np.arange(names.size, dtype=np.int32)
        # Step 2: the kernel cuts from the top down, and writes the part of each distinct row into
        # `parts`; `rows.kinds` says which distinct row each row is.
        distinct = cuts.Distinct(rows.indptr, rank[rows.indices], rows.weights)
        choice = cuts.FIRST if self.split == "first" else cuts.BALANCED
        parts = np.empty(rows.n_distinct, dtype=np.int32)
        cuts.divide(distinct, cuts.work_for(distinct, names.size), self.k, choice, parts)
        return parts[rows.kinds]


def order_of_features(names: Ids) -> NDArray[np.int64]:
    """Return the positions of the features in the order in which they are tried, int64.

    `names` that are numbers are ordered by value, text such as ``age=30`` by the part before the
    first ``=``, then by the part behind it, each by code points.
    """
    if names.dtype.kind == "i":
        return np.argsort(names, kind="stable").astype(np.int64, copy=False)
    split = [column_and_value(name) or (name, "") for name in names.tolist()]
    return np.array(sorted(range(names.size), key=split.__getitem__), dtype=np.int64)
