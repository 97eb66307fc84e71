"""What is claimed of graphs: who looks like whom, and which edges and degrees may have changed."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import msgspec
import numpy as np

from graphveil.claims import conditions
from graphveil.claims.conditions import AttachedColumns
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.claims.knowledge import OF_DIRECTED_TIES
from graphveil.core.text import counted
from graphveil.data import Network, Table
from graphveil.verify.database import Database
from graphveil.verify.evidence import (
    BESIDE,
    CLASSES,
    LINKED,
    ClaimCheck,
    Evidence,
    Part,
    Rechecks,
    listed,
)
from graphveil.verify.kinds.networks import (
    MISSING,
    PEOPLE_ROWS,
    columns_of,
    described_layers,
    has_layers,
    is_directed,
)
from graphveil.verify.recount import classes as counts
from graphveil.verify.recount.linked import (
    classes_of_rows,
    had_and_shown,
    released_ids,
    strange_cell,
)
from graphveil.verify.recount.neighborhoods import Ints, TooMuchWorkError
from graphveil.verify.verdict import Check, fails, holds, judged, not_checked, row_of, shown

_FEW, _NAMING = 10, Fraction(9, 10)
"""Of so many cells at least, a larger share of different ones nearly identifies people."""

SUPERGRAPH, DEGREES, SUBGRAPH = "supergraph", "degrees grow", "subgraph"
SEQUENCE, KEPT, BUDGET = "degree sequence", "degrees kept", "budget"
OWN, ATTACHED, ATTACHED_CELLS = "own attributes", "attached columns", "attached cells"
PROTECTED = "protected people"

_OTHER_DEGREE = """
    SELECT node, degree, coalesce(before, 0) FROM degrees LEFT JOIN (
        SELECT node, count(*) AS before
        FROM (SELECT u AS node FROM placed UNION ALL SELECT v FROM placed) GROUP BY node)
    USING (node) WHERE degree <> coalesce(before, 0) ORDER BY node
"""
_FIRST = "SELECT first(source), first(target), count(*) FROM ({})"


def _supergraph(evidence: Evidence, _condition: conditions.Supergraph) -> Check:
    n = evidence.original_as(Network).n_ties
    return _within(evidence, MISSING, n, ("original", "release"))


def _subgraph(evidence: Evidence, _condition: conditions.Subgraph) -> Check:
    n = evidence.tables.number("SELECT count(*) FROM edges")
    return _within(evidence, evidence.kind.added, n, ("release", "original"))


def _within(evidence: Evidence, query: str, n: int, sides: tuple[str, str]) -> Check:
    """Return whether no edge of one side is missing on the other: the query gives those."""
    one, other = sides
    u, v, missing = evidence.tables.first(_FIRST.format(query)) or (None, None, 0)
    whose = "its nodes" if one == "original" else "nodes"
    lost = f"{missing} of the {one}'s {counted(n, 'edge')} are not in the {other}, the first is"
    problems = [f"{lost} between {whose} {u} and {v}"] if missing else []
    return judged(problems, f"every edge of the {one} is in the {other}, {n} in all")


def _degrees_grow(evidence: Evidence, _condition: conditions.Supergraph) -> Check:
    """Whether the i-th largest degree is nowhere below the original's: true of any supergraph.

    Of directed edges it is asked of the numbers of edges out, then of those in; of several kinds,
    of each.
    """
    described = evidence.manifest.data
    if is_directed(described) or has_layers(described):
        return _sides_grow(evidence)
    return _none_smaller(*_sorted_degrees(evidence))


def _sides_grow(evidence: Evidence) -> Check:
    before = evidence.original_as(Network).profiles()
    sides = counts.sides_of(described_layers(evidence.manifest.data))
    if before.shape[1] != len(sides):
        return fails("the original has different layers or edge directions")
    checks = []
    for (layer, side), numbers in zip(sides, before.T, strict=True):
        after = np.sort(counts.numbers_of_ties(evidence.tables, layer, side))[::-1]
        check = _none_smaller(np.sort(numbers)[::-1], after)
        what = ", ".join(filter(None, [layer, f"{side}-degree" if side else "degree"]))
        checks.append(msgspec.structs.replace(check, detail=f"{what}: {check.detail}"))
    return max(checks, key=lambda check: check.outcome == "fails")


def _none_smaller(before: Ints, after: Ints) -> Check:
    """Return whether no number is below that of the same rank before."""
    if before.size != after.size:
        return _other_size(before, after)
    smaller, n = np.flatnonzero(after < before), after.size
    problems = [
        f"{_at_rank(rank, before, after)} (degree class {after[rank]}); {smaller.size} of {n} are "
        "smaller"
        for rank in smaller[:1].tolist()
    ]
    kept = f"none of {n} sorted degrees is below the degree of the same rank in the original"
    return judged(problems, kept)


def _degree_sequence(evidence: Evidence, _condition: conditions.SameDegrees) -> Check:
    before, after = _sorted_degrees(evidence)
    if before.size != after.size:
        return _other_size(before, after)
    other = np.flatnonzero(before != after)
    problems = [
        f"{_at_rank(rank, before, after)}; {other.size} of {after.size} differ"
        for rank in other[:1].tolist()
    ]
    return judged(problems, f"the {after.size} sorted degrees are those of the original")


def _sorted_degrees(evidence: Evidence) -> tuple[Ints, Ints]:
    """Return the degrees of original and release, each from the largest to the smallest."""
    classes = counts.class_sizes(evidence.tables)
    values = np.fromiter(classes.keys(), dtype=np.int64)
    after = np.repeat(values, np.fromiter(classes.values(), dtype=np.int64))[::-1]
    return np.sort(evidence.original_as(Network).graph().degrees())[::-1], after


def _other_size(before: Ints, after: Ints) -> Check:
    return fails(f"{counted(after.size, 'node')} in the release, but {before.size} in the original")


def _at_rank(rank: int, before: Ints, after: Ints) -> str:
    return (
        f"the degree at rank {rank + 1} (largest first) is {after[rank]} in the release, but "
        f"{before[rank]} in the original"
    )


def _degrees_kept(evidence: Evidence, _condition: conditions.SameDegrees) -> Check:
    counts.count_degrees(evidence.tables)
    other = evidence.tables.rows(_OTHER_DEGREE)
    if not other:
        return holds("every node has the same degree as in the original")
    node, after, before = other[0]
    return fails(
        f"node {node} has degree {after}, but {before} in the original; "
        f"{counted(len(other), 'node', 'differs')}"
    )


def _budget(evidence: Evidence, condition: conditions.EditBudget) -> Check:
    limit = condition.most_changes(evidence.original_as(Network).n_ties)
    edits = evidence.changes()
    changed = edits.added + edits.deleted
    were = f"{counted(changed, 'edge')} {'was' if changed == 1 else 'were'}"
    detail = f"{were} added or deleted; the budget allows {limit}"
    return holds(detail) if changed <= limit else fails(detail)


def look_alikes(evidence: Evidence, promise: StructuralKAnonymity) -> Check:
    """Return whether all but the share omitted look like, or are similar to, k - 1 others."""
    problem = _roles(evidence, promise) or _rare_rows(evidence, promise)
    if problem is not None:
        return problem
    described = evidence.manifest.data
    try:
        layers = described_layers(described) if described.layers else {}
        classes = counts.alike(evidence.tables, promise.measure, promise.distance, layers)
    except TooMuchWorkError:
        most = evidence.tables.limit_bytes
        return not_checked(f"neighborhoods have more than {most} links", needs="--limit")
    if classes is None:
        return fails(
            "the release is not a simple graph, so no node counts as indistinguishable from another"
        )
    if promise.known:
        at = columns_of(evidence)
        classes = classes.among(
            classes_of_rows(evidence.tables, [at[name] for name in promise.known]), promise.known
        )
    if not classes.nodes.size:
        return holds("the release has no nodes, so no class is too small")
    if promise.phi and classes.network is not None:
        return _similar(counts.similar(classes.network, promise.phi), promise, classes)
    return _in_classes(promise, classes)


def _in_classes(promise: StructuralKAnonymity, classes: counts.EquivalenceClassIndex) -> Check:
    """Return whether all but the share omitted stand in classes of at least k nodes."""
    n = classes.nodes.size
    allowed = _most_unprotected(promise, n)
    values, firsts, sizes = np.unique(classes.labels, return_index=True, return_counts=True)
    unprotected = int(sizes[sizes < promise.k].sum())
    smallest = int(np.argmin(sizes))
    value = classes.words(int(firsts[smallest]))
    if unprotected > allowed:
        members = classes.nodes[classes.labels == values[smallest]].tolist()
        small = counted(int(np.count_nonzero(sizes < promise.k)), "class")
        return fails(
            f"the class of {value} holds {counted(len(members), 'node')}, fewer than "
            f"k={promise.k}: {listed(members, len(members))} ({counted(unprotected, 'node')} in "
            f"{small} below k, {allowed} allowed){classes.remark}"
        )
    detail = (
        f"{counted(n, 'node', 'has')} {sizes.size} {classes.kinds}; the smallest class "
        f"({value}) holds {counted(int(sizes[smallest]), 'node')}, k={promise.k}"
    )
    small = f"; {counted(unprotected, 'node')} in smaller classes, {allowed} allowed"
    return holds(detail + (small if allowed else "") + classes.remark)


def _most_unprotected(promise: StructuralKAnonymity, n: int) -> int:
    """Return how many of n nodes may stay unprotected: never all, which guarantees nothing."""
    return min(math.floor((1 - promise.share) * n + 1e-9), n - 1)


def _rare_rows(evidence: Evidence, promise: StructuralKAnonymity) -> Check | None:
    """Return what fails where fewer than k people have the same known attributes.

    A guarantee about a share of the nodes is about attributes and edges together: the attributes
    alone are to be those of k people for everyone.
    """
    if not promise.known or promise.share == 1:
        return None
    at = columns_of(evidence)
    sizes = np.bincount(classes_of_rows(evidence.tables, [at[name] for name in promise.known]))
    n = int(sizes[sizes < promise.k].sum())
    names, verb = " and ".join(map(shown, promise.known)), "has" if n == 1 else "have"
    problem = (
        f"{counted(n, 'node')} {verb} values of {names} that fewer than k={promise.k} nodes share"
    )
    return fails(problem) if n else None


def _similar(
    boxes: Ints, promise: StructuralKAnonymity, classes: counts.EquivalenceClassIndex
) -> Check:
    """Return whether all but the share omitted have at least k nodes in their boxes."""
    n = boxes.size
    allowed = _most_unprotected(promise, n)
    few = np.flatnonzero(boxes < promise.k)
    smallest = int(np.argmin(boxes))
    least = f"{classes.words(smallest)} has {counted(int(boxes[smallest]), 'node')} within"
    within = f"{promise.phi:g}%, including itself"
    if few.size > allowed:
        return fails(
            f"node {smallest} with {least} {within}, fewer than k={promise.k}: "
            f"{listed(few.tolist(), few.size)} ({counted(few.size, 'node')}, {allowed} allowed)"
        )
    sizes = np.bincount(np.unique(classes.labels, return_inverse=True)[1])
    alone = counted(int(sizes[sizes < promise.k].sum()), "node")
    return holds(
        f"{few.size} of {counted(n, 'node')} have fewer than k={promise.k} nodes within {within} "
        f"({allowed} allowed); with exact knowledge, {alone} would have fewer than {promise.k} "
        "candidates"
    )


def _roles(evidence: Evidence, promise: StructuralKAnonymity) -> Check | None:
    """Return what fails: a guarantee about other edges, or attributes without a role."""
    problem = _other_ties(evidence, promise)
    if problem is None and not evidence.tables.holds(PEOPLE_ROWS):
        if promise.known:
            problem = f"{shown(promise.known[0])} is known, but a graph has no attributes"
    elif problem is None:
        problem = _other_columns(evidence, promise)
    return None if problem is None else fails(problem)


def _other_ties(evidence: Evidence, promise: StructuralKAnonymity) -> str | None:
    described = evidence.manifest.data
    several = has_layers(described)
    names = tuple(described_layers(described)) if several else ()
    if promise.measure != "profile" and several:
        return "the release has several layers, but the guarantee is about a single layer"
    of_directed = promise.measure in OF_DIRECTED_TIES
    if not of_directed and is_directed(described):
        return "edges are directed, but the guarantee is about undirected edges"
    if of_directed and not several and not is_directed(described):
        return "edges are undirected, but the guarantee is about directed edges"
    if promise.layers != names:
        promised, has = (", ".join(map(shown, some)) or "one" for some in (promise.layers, names))
        return f"the guarantee is about these layers: {promised}; but the release has {has}"
    return None


def _naming(evidence: Evidence, among: Sequence[str]) -> list[str]:
    """Return which of these columns of people nearly identify them."""
    at = columns_of(evidence)
    cells = {name: f"nullif(c{at[name]}, '*')" for name in among if name in at}
    return [*naming_problems(evidence.tables, PEOPLE_ROWS, cells, "node")]


def _other_columns(evidence: Evidence, promise: StructuralKAnonymity) -> str | None:
    stated = evidence.manifest.claim.conditions
    attached = {n for one in stated if isinstance(one, AttachedColumns) for n in one.attach}
    published = list(columns_of(evidence))
    for name in promise.known:
        if name not in published:
            return f"{shown(name)} is known, but is not a column of the file of people"
    naming = _naming(evidence, promise.known)
    if naming:
        return naming[0]
    strange = [name for name in published if name not in attached | set(promise.known)]
    return (
        f"{shown(strange[0])} is published, but is neither known nor attached" if strange else None
    )


def _protected(evidence: Evidence, condition: conditions.ProtectedPeople) -> Check:
    """Return whether everyone on the list of the owner's record shares their degree with k - 1.

    Who is on it is read from the record and the original, and degrees from the released file.
    """
    named = _named_people(evidence)
    if isinstance(named, str):
        return fails(named)
    counts.count_degrees(evidence.tables)
    rows = evidence.tables.rows("SELECT node, degree FROM degrees")
    degree_of = {int(node): int(degree) for node, degree in rows}
    sizes = Counter(degree_of.values())
    released = np.asarray(released_ids(evidence.tables), dtype=np.int64)[named].tolist()
    people = f"{counted(len(released), 'person', 'is')} on the owner's list"
    gone = sorted({*released} - degree_of.keys())
    if gone:
        return fails(f"{people}, but the release has no node {gone[0]}")
    few = sorted(node for node in released if sizes[degree_of[node]] < condition.k)
    if few:
        with_it = counted(sizes[degree_of[few[0]]], "node", "has")
        return fails(
            f"{people}, and {len(few)} of them have a degree that fewer than k={condition.k} nodes "
            f"have: {listed(few, len(few))}; {with_it} the degree of node {few[0]}"
        )
    least = min(sizes[degree_of[node]] for node in released)
    return holds(
        f"{people}; the degree of each is that of at least {counted(least, 'node')}, k="
        f"{condition.k}"
    )


def _named_people(evidence: Evidence) -> Ints | str:
    """Return the positions of those on the owner's list in the original, or what is wrong."""
    record, original = evidence.record, evidence.original_as(Network)
    stated = record.withheld.get("people") if record else None
    if not isinstance(stated, str):
        return "the private record has no list of protected people"
    if stated.startswith("["):
        try:
            ids = set(json.loads(stated))
        except (ValueError, TypeError, RecursionError):
            return "the list of protected people in the private record cannot be read"
        found = [at for at, label in enumerate(original.labels().tolist()) if str(label) in ids]
        if len(found) != len(ids):
            return f"{len(ids) - len(found)} of {len(ids)} protected people are not in the original"
    else:
        column, _, value = stated.partition("=")
        if column not in original.attributes:
            return f"protected people are those with {shown(stated)}, but there is no such column"
        found = [at for at, cell in enumerate(_cells_of(original, column)) if cell == value]
    if not found:
        return f"the list of protected people names nobody ({shown(stated)})"
    return np.array(found, dtype=np.int64)


def _cells_of(original: Network, column: str) -> list[str | None]:
    """Return an attribute of everyone as text; None where it is missing."""
    people = original.people
    if people is None:
        return []
    at = people.columns.index(column)
    values = [str(value) for value in people.categories[at].tolist()]
    return [None if code < 0 else values[code] for code in people.codes[:, at].tolist()]


def _own_cells(evidence: Evidence, _condition: conditions.OwnAttributes) -> Check:
    return _cells(evidence, columns_of(evidence), stars=True)


def attached_problems(evidence: Evidence, condition: AttachedColumns) -> list[str]:
    """Return what is wrong with the attached columns of a table."""
    promise, names = evidence.manifest.claim.guarantee, evidence.columns
    known = getattr(promise, "known", ()) or ()
    problems = [
        f"{shown(n)} is not a column of the data" for n in condition.columns if n not in names
    ]
    problems += [f"{shown(n)} is both attached and known" for n in condition.columns if n in known]
    every = {*condition.columns, *known}
    problems += [f"{shown(n)} is neither known nor attached" for n in names if n not in every]
    if not known:
        problems.append("the guarantee does not say which columns are known")
    cells = {n: f"c{names.index(n)}" for n in condition.columns if n in names}
    return [*problems, *naming_problems(evidence.tables, "shown", cells, "row")]


def naming_problems(db: Database, rows: str, cells: Mapping[str, str], what: str) -> Iterator[str]:
    """Yield which columns nearly identify people, as no run publishes them.

    In such a column nearly every row has another value, suppressed cells aside.
    """
    for name, cell in cells.items():
        row = db.first(f"SELECT count({cell}), count(DISTINCT {cell}) FROM {rows}")
        known, values = row or (0, 0)
        if known >= _FEW and values > _NAMING * known:
            yield (
                f"{shown(name)} has {values} values for {counted(known, what)}, so it nearly "
                "identifies people"
            )


def attached_cells(evidence: Evidence, columns: Sequence[str]) -> Check:
    """Return whether attached columns of a table are as in the original."""
    original, cells = evidence.original_as(Table), 0
    for column in columns:
        number, place = evidence.columns.index(column), original.columns.index(column)
        for had, now, row, count in had_and_shown(evidence.tables, original, number, place):
            cells += count
            if had != now:
                own, other = ("suppressed" if one is None else shown(one) for one in (had, now))
                at = row_of(evidence.file(), row)
                return fails(f"{at} has {other} in {shown(column)}, but {own} in the original")
    return holds(f"each of {cells} cells is the original's")


def _attached(evidence: Evidence, condition: AttachedColumns) -> Check:
    """Whether every attached attribute is published, and none of them is part of the guarantee."""
    if evidence.manifest.data.kind == "table":
        of_table = f"published outside the guarantee: {', '.join(map(shown, condition.columns))}"
        return judged(attached_problems(evidence, condition), of_table)
    published, promise = columns_of(evidence), evidence.manifest.claim.guarantee
    absent = [name for name in condition.attach if name not in published]
    both = [name for name in condition.attach if name in getattr(promise, "known", ())]
    problems = [f"{shown(name)} is not a column of the file of people" for name in absent]
    problems += [f"{shown(name)} is both attached and known" for name in both]
    problems += _naming(evidence, condition.attach)
    names = ", ".join(map(shown, condition.attach))
    return judged(problems, f"published outside the guarantee: {names}")


def _attached_cells(evidence: Evidence, condition: AttachedColumns) -> Check:
    if evidence.manifest.data.kind == "table":
        chosen_columns = [name for name in condition.columns if name in evidence.columns]
        return attached_cells(evidence, chosen_columns)
    at = columns_of(evidence)
    chosen = {name: at[name] for name in condition.attach if name in at}
    return _cells(evidence, chosen, stars=False)


def _cells(evidence: Evidence, columns: dict[str, int], *, stars: bool) -> Check:
    """Return whether every cell of these columns is its owner's."""
    original = evidence.original_as(Network)
    strange = strange_cell(evidence.tables, original, columns, stars=stars)
    if strange is None:
        return holds(
            f"every published value of {counted(len(columns), 'attribute')} is the person's own"
        )
    had = "suppressed" if strange.original is None else shown(strange.original)
    return fails(
        f"node {strange.node} has {shown(strange.column)}={shown(strange.published)}, but {had} "
        f"in the original; {counted(strange.cells, 'node')} "
        f"differ{'s' if strange.cells == 1 else ''} in this attribute"
    )


_TIES = ("graph", "network")
_SHARED_DEGREE = "whether everyone on the owner's list shares their degree with enough nodes"
_OF_ROWS = "whether attached values belong to their node or row"
_KEPT = "whether every node kept its degree"

RECHECKS: Rechecks = {
    StructuralKAnonymity: ClaimCheck(_TIES, (Part(CLASSES, look_alikes),)),
    conditions.ProtectedPeople: ClaimCheck(
        _TIES, (Part(PROTECTED, _protected, ("record", *LINKED), _SHARED_DEGREE),)
    ),
    conditions.OwnAttributes: ClaimCheck(
        ("network",), (Part(OWN, _own_cells, LINKED, "whether attributes belong to their node"),)
    ),
    AttachedColumns: ClaimCheck(
        ("network", "table"),
        (Part(ATTACHED, _attached), Part(ATTACHED_CELLS, _attached_cells, LINKED, _OF_ROWS)),
    ),
    conditions.Supergraph: ClaimCheck(
        _TIES,
        (
            Part(SUPERGRAPH, _supergraph, LINKED, "whether no edge was removed"),
            Part(DEGREES, _degrees_grow, BESIDE, "whether no edge was removed"),
        ),
    ),
    conditions.Subgraph: ClaimCheck(
        _TIES, (Part(SUBGRAPH, _subgraph, LINKED, "whether no edge was added"),)
    ),
    conditions.SameDegrees: ClaimCheck(
        _TIES,
        (Part(SEQUENCE, _degree_sequence, BESIDE, _KEPT), Part(KEPT, _degrees_kept, LINKED, _KEPT)),
    ),
    conditions.EditBudget: ClaimCheck(
        _TIES, (Part(BUDGET, _budget, LINKED, "whether the edits stay within the budget"),)
    ),
}
