"""What neighbors tell about an attribute of a person: the attack `attribute-inference`.

The attacker has the release alone: its edges and published attributes. Two guesses for every
attribute: the most common value among a person's neighbors (Zheleva and Getoor, WWW 2009), and
label propagation (Zhu and Ghahramani, CMU-CALD-02-107, 2002), in which shares of values are passed
from neighbor to neighbor while people who show a value keep it. They are counted for people whose
value is suppressed, and the first also for everybody.

The baseline is the most frequent published value. All people are counted, so figures have no
interval; equal values share the guess. Cost: ends of edges times attributes; label propagation ends
of edges times values times `ROUNDS`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphveil.attacks import attack
from graphveil.attacks.wording import inferred
from graphveil.core.array_types import Floats
from graphveil.core.progress import in_time
from graphveil.core.rows import Setting
from graphveil.core.text import printable
from graphveil.data import Graph, Network
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import Int32s, NetworkComparison, sparse
from graphveil.evaluate.metric import NotMeasuredError

Codes = Int32s

Shares = Floats
"""Shares of values, float64, shape (n, values), or a number per node."""

ROUNDS = 30
"""How often values are passed on: they reach this many steps."""

_CELLS_AT_ONCE = 1 << 20
"""Cells of shares that are compared at once; it bounds memory alone."""

MOST_CELLS = 50_000_000
"""If people times values are more, nothing is passed on: shares would need 400 MB and more."""


def attribute_inference(
    situation: attack.AttackInput[NetworkComparison], _options: attack.AttackOptions
) -> attack.Outcome:
    """Return how often a value is guessed from the values that a person's neighbors show.

    A person's risk is that of the attribute that is guessed best, next to that attribute's
    baseline.
    """
    pair = situation.comparison
    people = pair.people
    if people is None or pair.released.n_nodes == 0:
        raise NotMeasuredError("no attributes are published")
    n = pair.released.n_nodes
    figures: list[attack.AttackFigure] = []
    risk, baseline = np.zeros(n), np.zeros(n)
    for column, name in enumerate(in_time(people.released.columns)):
        # True values in the order of the release, to count; the guess reads `shown` alone.
        own = np.empty(n, dtype=np.int32)
        own[pair.linked] = people.before[:, column]
        shown = people.after[:, column]
        if (own == SUPPRESSED).all() or (shown == SUPPRESSED).all():
            continue
        near = _of_neighbors(pair.released, shown, own)
        figures += _figures_of_neighbors(pair.released, printable(name), shown, own, near)
        right, guess = near
        better = right > risk
        risk[better], baseline[better] = right[better], guess
    if not figures:
        raise NotMeasuredError("all cells of the published attributes are suppressed")
    return attack.Outcome(figures, risk[pair.linked], baseline[pair.linked])


def _figures_of_neighbors(
    graph: Graph, name: str, shown: Codes, own: Codes, near: tuple[Floats, float]
) -> Iterator[attack.AttackFigure]:
    """Yield the figures of one attribute: for people with a suppressed value, and for everybody."""
    right, baseline = near
    known = own != SUPPRESSED
    # For suppressed values both guesses, next to the most frequent published one.
    hidden = known & (shown == SUPPRESSED)
    share = "share of people"
    if hidden.any():
        least = float(np.mean(own[hidden] == _most_frequent(shown)))
        passed_on = _passed_on(graph, shown, own)
        for how, guess in (("neighbors", right), ("passed on", passed_on)):
            if guess is not None:
                value = float(guess[hidden].mean())
                hidden_of = Setting(column=name, among="suppressed")
                yield attack.AttackFigure(how, value, share, least, setting=hidden_of)
    value = float(right[known].mean())
    every = Setting(column=name, among="everybody")
    yield attack.AttackFigure("neighbors", value, share, baseline, setting=every)


def _of_neighbors(graph: Graph, shown: Codes, own: Codes) -> tuple[Floats, float]:
    """Return how likely a guess of the neighbors' most common value is right, and the baseline.

    float64, shape (n,); equal values are guessed equally often; without neighbors that show one the
    most frequent published value is guessed.
    """
    n, values = graph.n_nodes, int(max(shown.max(), own.max())) + 1
    # Count the values around each node: pairs of a node and a value, once per neighbor that shows
    # it.
    row = np.repeat(np.arange(n), graph.degrees())
    codes = shown[graph.indices]
    pairs, counts = np.unique(row[codes >= 0] * values + codes[codes >= 0], return_counts=True)
    person, value = np.divmod(pairs, values)
    most = np.zeros(n, dtype=np.int64)
    np.maximum.at(most, person, counts)
    # Of several most common values each is guessed equally often.
    best = counts == most[person]
    ties = np.bincount(person[best], minlength=n)
    right = np.zeros(n)
    hit = best & (value == own[person])
    right[person[hit]] = 1 / ties[person[hit]]
    common = _most_frequent(shown)
    right[ties == 0] = own[ties == 0] == common
    known = own != SUPPRESSED
    return right, float(np.mean(own[known] == common))


def _passed_on(graph: Graph, shown: Codes, own: Codes) -> Shares | None:
    """Return the chance that label propagation guesses a value; None if there are too many cells.

    float64, shape (n,). Values that are shown stay; the others take the mean of their neighbors,
    again and again.
    """
    n, values = graph.n_nodes, int(max(shown.max(), own.max())) + 1
    if n * values > MOST_CELLS:
        return None
    degrees = np.maximum(graph.degrees(), 1).astype(float)
    weight = np.repeat(1 / degrees, graph.degrees())
    # The matrix that takes means over neighbors; everybody begins with the published shares.
    means = sparse.csr_array((weight, graph.indices, graph.indptr), shape=(n, n))
    fixed = shown != SUPPRESSED
    start = np.bincount(shown[fixed], minlength=values) / max(int(fixed.sum()), 1)
    shares = np.tile(start, (n, 1))
    shares[fixed] = 0.0
    shares[np.flatnonzero(fixed), shown[fixed]] = 1.0
    for _ in in_time(range(ROUNDS)):
        # One round: means of neighbors; isolated nodes keep the start, shown values stay.
        passed = means @ shares
        alone = graph.degrees() == 0
        passed[alone] = start
        passed[fixed] = shares[fixed]
        shares = passed
    right: Shares = np.zeros(n)
    rows = max(_CELLS_AT_ONCE // max(values, 1), 1)
    for first in in_time(range(0, n, rows)):
        block = slice(first, first + rows)
        # Values with equal shares share the guess.
        best = np.isclose(shares[block], shares[block].max(axis=1, keepdims=True))
        is_best = best[np.arange(len(best)), own[block]]
        right[block] = np.where(own[block] >= 0, is_best, False) / best.sum(axis=1)
    return right


def _most_frequent(shown: Codes) -> int:
    return int(np.argmax(np.bincount(shown[shown != SUPPRESSED])))


PER_END, PER_VALUE = 1e-6, 8e-8
"""Seconds per end of an edge and attribute; to pass on its values, per end and value, all
rounds."""


def seconds(
    situation: attack.AttackInput[NetworkComparison], _options: attack.AttackOptions
) -> float:
    """Return about how long it takes."""
    pair = situation.comparison
    if pair.people is None:
        return 0.0
    values = 0
    # Values are passed on only where some are suppressed and shares fit into memory.
    for column in pair.people.after.T:
        number = int(column.max(initial=-1)) + 1
        if (column == SUPPRESSED).any() and number * len(column) <= MOST_CELLS:
            values += number
    columns = pair.people.released.n_columns
    return attack.ends_of(pair) * (PER_END * columns + PER_VALUE * values)


ATTRIBUTE_INFERENCE = attack.Attack(
    name="attribute-inference",
    kind=Network,
    knows="only the release: the edges, and the published attributes of the neighbors",
    definition="how often the most common published value among a person's neighbors is that "
    "person's own, for people whose value is suppressed and for everyone; and the same if shares "
    "of values are passed from neighbor to neighbor. Compared with the most frequent value",
    source="Zheleva & Getoor, To join or not to join, WWW 2009; label propagation: Zhu & "
    "Ghahramani, CMU-CALD-02-107, 2002",
    cost="linear in the edges and the attributes",
    compute=attribute_inference,
    seconds=seconds,
    said=(
        inferred(
            "neighbors",
            does="looks at the neighbors of a person whose {column} is suppressed",
            line="suppressed {column}, inferred from the neighbors",
            label="{column}, suppressed",
            says="it is guessed correctly for {n} people",
            when=lambda setting: setting.among == "suppressed",
            if_measured=True,
        ),
    ),
)
