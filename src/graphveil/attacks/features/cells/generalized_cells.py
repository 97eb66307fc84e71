"""What a class says about a column by publishing a value that includes several.

A class publishes the narrowest node of the levels that all of its members share, such as 20-29:
they are not all below one of the next narrower nodes. So a member is the less likely to have a
value, the likelier it is that all others are below the same narrower node. The counterpart of
`suppressed_cells.py` for generalized tables; graphveil's own, in the idea of Wong et al., 2007.
Cost: kinds of cells times values.
"""

from __future__ import annotations

import numpy as np

from graphveil.attacks.attack import TooLargeError
from graphveil.attacks.features.cells.published_cells import MOST_CELLS
from graphveil.attacks.features.cells.suppressed_cells import SuppressedCells
from graphveil.core.array_types import Ints
from graphveil.evaluate.comparison import Bools, Int32s, Nested
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.release.release import ALL


def cells_below(nested: Nested, shown: list[str], own: Ints, sizes: Ints) -> SuppressedCells:
    """Return the cells of a column that publish more than one value, and what their nodes say.

    A class publishes the narrowest node that all of its members share: they are not all below one
    of the nodes next below it. One of s members has a value the less likely, the likelier the s-1
    others are all below the same one of these. How many people have each value is known, and how
    many cells publish it: the rest are below other nodes.

    Parameters
    ----------
    nested : tuple
        The levels of the column: int32, shape (levels, leaves), the node of every leaf at each
        level; the texts of the nodes, level by level; int64, shape (n,), the leaf of every person.
    shown : list of str
        What each class publishes.
    own : int64, shape (n,)
        Everybody's class.
    sizes : int64, shape (classes,)
        Members of each class.

    Returns
    -------
    SuppressedCells
        One kind per node and size of a class.

    Raises
    ------
    TooLargeError
        If there are too many kinds times values.

    Examples
    --------
    Of three people two are 20. Their class of three is neither all 20 nor all 21.

    >>> nodes, texts = np.array([[0, 1], [0, 0]], np.int32), (("20", "21"), ("*",))
    >>> cells = cells_below((nodes, texts, np.array([0, 0, 1])), ["*"], np.zeros(3, int), [3])
    >>> cells.chances.round(2).tolist(), cells.shares.round(2).tolist()
    ([[0.56, 0.44]], [[0.67, 0.33]])
    """
    nodes, texts, value = nested
    present = np.array([text != ALL for text in texts[0]])
    # Which leaves are below each published node, and in which narrower node each of them is.
    listed, text_of = np.unique(shown, return_inverse=True)
    below, child = _nodes_of(nodes, texts, listed.tolist())
    single = (below & present).sum(axis=1) == 1
    sizes = np.asarray(sizes)
    # How many people have each value; those in classes that publish exactly it are taken off.
    totals = np.bincount(value, minlength=present.size).astype(np.float64)
    exactly = np.zeros(present.size)
    exact = np.flatnonzero(single[text_of])
    np.add.at(exactly, (below & present)[text_of[exact]].argmax(axis=1), sizes[exact])
    rest = np.maximum(totals - exactly, 0.0)
    # Cells with more than one value below their node; kinds are pairs of a node and a size.
    people = np.flatnonzero(~single[text_of[own]] & present[value])
    classes = own[people]
    kinds, kind = np.unique(
        np.column_stack([text_of[classes], sizes[classes]]), axis=0, return_inverse=True
    )
    if kinds.shape[0] * present.size > MOST_CELLS:
        raise TooLargeError(
            f"{kinds.shape[0]:,} kinds of cells and {present.size:,} values exceed the limit of "
            f"{MOST_CELLS:,}. Use a release with fewer rows"
        )
    chances = np.zeros((kinds.shape[0], present.size))
    for row, (text, size) in enumerate(kinds.tolist()):
        # Below the node by what is left; times the chance that not all others share the narrower
        # node.
        prior = np.where(below[text], rest, 0.0)
        if not prior[present].any():
            prior = np.where(below[text], totals, 0.0)
        alike = np.bincount(child[text], weights=prior / prior.sum())[child[text]]
        weights = np.where(present, prior * (1.0 - alike ** (size - 1.0) if size > 1 else 1.0), 0.0)
        weights = weights if weights.any() else np.where(present, prior, 0.0)
        chances[row] = weights / weights.sum()
    # Baselines: the column's own frequencies below each node.
    allowed = below[kinds[:, 0]] & present
    shares = np.where(allowed, totals, 0.0)
    plain = [np.where(allowed, counts, -1.0).argmax(axis=1) for counts in (exactly, totals)]
    return SuppressedCells(
        people=people,
        value=value[people],
        kind=kind.ravel(),
        chances=chances,
        shares=shares / np.maximum(shares.sum(axis=1, keepdims=True), 1.0),
        plain=np.stack(plain),
    )


def _nodes_of(
    nodes: Int32s, texts: tuple[tuple[str, ...], ...], listed: list[str]
) -> tuple[Bools, Int32s]:
    """Return which leaves are below nodes of these texts, and which node next below each is in.

    bool and int32, shape (texts, leaves).
    """
    below = np.zeros((len(listed), nodes.shape[1]), dtype=np.bool_)
    child = np.zeros(below.shape, dtype=np.int32)
    for row, text in enumerate(listed):
        levels = [level for level, of_level in enumerate(texts) if text in of_level]
        if not levels:
            raise NotMeasuredError(f"the release publishes {text}, which the levels do not have")
        level = len(texts) - 1 if text == ALL else levels[0]
        below[row] = nodes[level] == texts[level].index(text)
        # Skip levels at which all of these leaves are still together.
        while level and np.unique(nodes[level][below[row]]).size == 1:
            level -= 1
        child[row] = nodes[level]
    return below, child
