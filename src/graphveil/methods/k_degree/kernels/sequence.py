"""Loops of the degree sequence: where to cut a descending sequence into groups of at least k.

The Dynamic Programming algorithm of Liu and Terzi in time that depends on the distinct degrees
rather than on the nodes. `sequence.optimal_plan` calls `cuts_worth_trying`, then `cheapest_raise`
or `cheapest_median`, then `trace_back` and `cut_runs`; `greedy_starts` is their greedy algorithm.

Run r holds the nodes ``first[r] .. first[r + 1] - 1``, of degree ``degree[r]``; ``prefix[r]`` sums
the degrees before it. These arrays (int64) have one entry more than there are runs. A cut is a
position at which a group may start: ``cut[c]`` is the position and ``run[c]`` its run (int64,
ascending, one entry per cut; the last one is the end).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import ZERO, allocating, leaf
from graphveil.core.kernels.tiers import for_each_entry, tiered


@tiered(for_each_entry(2))
@leaf
def cuts_worth_trying(
    first: Ints, parts: Ints, k: int, tail: int, cut: Ints, run: Ints, ends: Ints
) -> int:
    """Write into cut and run the cuts that some optimum needs, ascending; return how many.

    Part p ends before run parts[p], and no group leaves it. Its cuts are its first position, the
    first k and the last `tail` positions of every run as far as k of its nodes lie on either side,
    and its end, which is the cut ends[p] and the first of the next part.

    No other cut is needed. If a group starts deeper in a run than at its k-th node and the group
    before has more than k nodes, the last of these, of the same degree, moves over at no cost. If
    it has exactly k nodes, it started in this run, too, and both groups merge at no cost. With
    medians a group may also start near the end of a run, fewer than k nodes from it.

    The kernel writes cut and run (int64, with room for all cuts) and ends (int64, one per part).
    """
    filled, r = 0, 0
    for p in range(parts.size):
        begin = first[r]
        last = first[parts[p]] - k
        cut[filled], run[filled] = begin, r
        filled += 1
        while r < parts[p]:
            # The first k positions of the run, then its last `tail`, each within the part's limits.
            middle = min(first[r] + k, first[r + 1])
            for i in range(max(first[r], begin + k), min(middle, last + 1)):
                cut[filled], run[filled] = i, r
                filled += 1
            for i in range(
                max(middle, first[r + 1] - tail, begin + k), min(first[r + 1], last + 1)
            ):
                cut[filled], run[filled] = i, r
                filled += 1
            r += 1
        ends[p] = filled
    cut[filled] = first[r]
    run[filled] = r
    return filled + 1


@tiered()
@allocating
def cheapest_raise(cut: Ints, slope: Ints, k: int, total: Ints, previous: Ints) -> None:
    """Write the least sum of targets before every cut, and the cut before.

    With F(c) the least sum of the targets of all nodes before cut c,

        F(c) = min over t of F(t) + slope[t] * (cut[c] - cut[t]),   cut[t] + k <= cut[c].

    A group from cut t on is thus a line of slope[t], the degree at the cut. The slopes do not
    increase and the positions asked for do, so the lowest lines form a queue whose head only moves
    forward; queue[j] is lower than queue[j - 1] from position since[j] on. O(cuts) in all, without
    the paper's window of 2k.

    `cut` and `slope` are int64, one entry per cut. The kernel writes `total` (F) and `previous`
    (the t that is best), int64, one entry per cut.
    """
    queue = np.empty(cut.size, dtype=np.int64)
    since = np.empty(cut.size, dtype=np.int64)
    head, tail = 0, 0
    entering = 0
    total[0], previous[0] = 0, 0
    for c in range(1, cut.size):
        # Lines enter once their group would have k nodes.
        while cut[entering] + k <= cut[c]:
            t = entering
            entering += 1
            start = total[t] - cut[t] * slope[t]
            takeover = np.int64(0)
            # The last line leaves the queue if the new one undercuts it before it is the lowest. Of
            # lines of equal slope the lower one stays. The position is a division rounded up.
            while tail > head:
                last = queue[tail - 1]
                ahead = start - (total[last] - cut[last] * slope[last])
                gain = slope[last] - slope[t]
                if gain == 0:
                    if ahead >= 0:
                        break
                    tail -= 1
                    continue
                takeover = -((-ahead) // gain)
                if tail - 1 == head or takeover > since[tail - 1]:
                    break
                tail -= 1
            if tail > head and slope[queue[tail - 1]] == slope[t]:
                continue
            queue[tail], since[tail] = t, takeover
            tail += 1
        # Move on to the line that is lowest at this position.
        while head + 1 < tail and since[head + 1] <= cut[c]:
            head += 1
        t = queue[head]
        total[c] = total[t] + slope[t] * (cut[c] - cut[t])
        previous[c] = t


@leaf
def _run_at(first: Ints, low: int, high: int, position: int) -> int:
    """Return the run that holds this position, known to be in low..high."""
    while low < high:
        middle = (low + high + 1) // 2
        if first[middle] <= position:
            low = middle
        else:
            high = middle - 1
    return low


@leaf
def _median_cost(
    first: Ints, degree: Ints, prefix: Ints, cut: Ints, run: Ints, t: int, c: int
) -> int:
    """Return the sum of distances to the median between two cuts; `degree` has an entry for n."""
    # The sum of the upper half less the sum of the lower half, from the sums before t, half and c.
    # Of an odd number of nodes, the middle one is counted in the lower half: it is added back.
    half = cut[t] + (cut[c] - cut[t]) // 2
    r = _run_at(first, run[t], run[c], half)
    cost = 2 * (prefix[r] + degree[r] * (half - first[r]))
    cost -= prefix[run[t]] + degree[run[t]] * (cut[t] - first[run[t]])
    cost -= prefix[run[c]] + degree[run[c]] * (cut[c] - first[run[c]])
    if (cut[c] - cut[t]) % 2 == 1:
        cost += degree[r]
    return int(cost)


@tiered(for_each_entry(6))
@allocating
def cheapest_median(
    first: Ints,
    degree: Ints,
    prefix: Ints,
    cut: Ints,
    run: Ints,
    k: int,
    cost: Ints,
    previous: Ints,
) -> None:
    """Write into cost[c] the least cost before cut c, into previous[c] the cut before.

    The recursion of Liu and Terzi with the cost of their variant with deletions: cost[c] is the
    least of
    cost[t] + I(t, c) over the cuts t at least k nodes before c. I satisfies the quadrangle
    inequality, so a later start, once better, stays better: queue[j] beats queue[j - 1] from cut
    since[j] on, found by doubling steps and halving. O(C log C log D) for C cuts and D runs.

    `first`, `degree`, `prefix` describe the runs, `cut` and `run` the cuts. The kernel writes
    `cost` and `previous` (int64, one entry per cut).
    """
    queue = np.empty(cut.size, dtype=np.int64)
    since = np.empty(cut.size, dtype=np.int64)
    head, tail = 0, 0
    entering = ZERO
    cost[0], previous[0] = 0, 0
    for c in range(1, cut.size):
        # Starts that no longer lead leave at the head first: no new start is compared with them.
        while head + 1 < tail and since[head + 1] <= c:
            head += 1
        # Starts enter once their group would have k nodes.
        while cut[entering] + k <= cut[c]:
            t = entering
            entering += 1
            takeover = c
            while tail > head:
                # A start that the new one beats where it would take over itself is never used.
                last = queue[tail - 1]
                worse = max(c, since[tail - 1])
                if cost[t] + _median_cost(first, degree, prefix, cut, run, t, worse) <= (
                    cost[last] + _median_cost(first, degree, prefix, cut, run, last, worse)
                ):
                    tail -= 1
                    continue
                # The first cut from which on the new start is better: doubling steps find one,
                # halving the first.
                step = 1
                better = cut.size
                while worse + 1 < better:
                    probe = min(worse + step, better - 1)
                    if better < cut.size:
                        probe = (worse + better) // 2
                    step *= 2
                    if cost[t] + _median_cost(first, degree, prefix, cut, run, t, probe) <= (
                        cost[last] + _median_cost(first, degree, prefix, cut, run, last, probe)
                    ):
                        better = probe
                    else:
                        worse = probe
                takeover = better
                break
            if takeover < cut.size:
                queue[tail], since[tail] = t, takeover
                tail += 1
        # The new starts may lead from this cut on.
        while head + 1 < tail and since[head + 1] <= c:
            head += 1
        t = queue[head]
        cost[c] = cost[t] + _median_cost(first, degree, prefix, cut, run, t, c)
        previous[c] = t


@tiered(for_each_entry(2))
@leaf
def trace_back(cut: Ints, previous: Ints, start: Ints) -> int:
    """Write the groups' starts, ascending, into the end of start; return how many they are.

    `start` (int64) has room for all cuts; its entries are positions.
    """
    filled = 0
    c = cut.size - 1
    while c > 0:
        c = previous[c]
        filled += 1
        start[start.size - filled] = cut[c]
    return filled


@tiered(for_each_entry(2))
@leaf
def greedy_starts(first: Ints, degree: Ints, prefix: Ints, k: int, start: Ints) -> int:
    """Write where the greedy's groups start, ascending; return how many, at most two per run.

    Liu and Terzi's Greedy algorithm: node i joins the group at hand, of degree `group_degree`, if
    C_merge <= C_new. `here` is the run of node i, `nxt` that of node i + 1, and `ahead` that of
    node i + k, the first behind the window. The kernel writes `start` (int64, positions).
    """
    n = first[-1]
    runs = first.size - 1
    start[0] = 0
    filled = 1
    group_degree = degree[0]
    i, here = k, 0
    ahead = 0
    while n - i >= k:
        while first[here + 1] <= i:
            here += 1
        # Nodes of the group's own degree join at no cost as long as the window stays in their run.
        if degree[here] == group_degree and i < first[here + 1] - k:
            i = first[here + 1] - k
        nxt = here
        if nxt + 1 < runs and first[nxt + 1] == i + 1:
            nxt += 1
        # The sums of degrees before node i, before i + k and before i + k + 1, cut at n.
        before = prefix[here] + degree[here] * (i - first[here])
        ahead = max(ahead, here)
        while ahead + 1 < runs and first[ahead + 1] <= i + k:
            ahead += 1
        upto = prefix[ahead] + degree[ahead] * (i + k - first[ahead])
        size = min(k, n - i - 1)
        further = upto if i + k == n else upto + degree[ahead]
        # C_new: the next k nodes get the degree of node i. C_merge: node i joins the group, and the
        # k nodes after it get the degree of the first of them.
        new = k * degree[here] - (upto - before)
        merge = group_degree - degree[here] + size * degree[nxt] - (further - before - degree[here])
        if merge > new:
            start[filled] = i
            filled += 1
            group_degree = degree[here]
            i += k
        else:
            i += 1
    return filled


@tiered()
@leaf
def cut_runs(first: Ints, start: Ints, run: Ints, group: Ints, count: Ints) -> int:
    """Write the pieces that runs and groups cut each other into, in order; return how many.

    `start` are the positions at which groups start, ascending. The kernel writes the run, the group
    and the number of nodes of every piece into `run`, `group` and `count` (int64).
    """
    filled, r = 0, 0
    g = 0
    at = first[0]
    while at < first[-1]:
        end = first[r + 1]
        if g + 1 < start.size:
            end = min(end, start[g + 1])
        run[filled], group[filled] = r, g
        count[filled] = end - at
        filled += 1
        if end == first[r + 1]:
            r += 1
        if g + 1 < start.size and end == start[g + 1]:
            g += 1
        at = end
    return filled


@tiered()
@leaf
def hand_out(
    label: NDArray[np.integer], target: Ints, bucket: Ints, free: Ints, nodes: Ints, out: Ints
) -> None:
    """Write the target of every node's label; list nodes by bucket where it has several.

    `label` (integers, shape (n,)) is the run of every node, or its degree; `target` and `bucket`
    (int64) are per label, bucket -1 for one target. The kernel writes the target of every node into
    `out` (int64, shape (n,)) and the nodes of bucket b into `nodes` from ``free[b]`` on, which it
    moves forward.
    """
    for v in range(label.size):
        x = label[v]
        out[v] = target[x]
        b = bucket[x]
        if b >= 0:
            nodes[free[b]] = v
            free[b] += 1
