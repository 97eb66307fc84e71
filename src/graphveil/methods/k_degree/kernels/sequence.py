"""Loops of the degree sequence: where to cut a descending sequence into groups of at least k.

Run r holds the nodes ``first[r] .. first[r + 1] - 1``, of degree ``degree[r]``; ``prefix[r]`` sums
the degrees before it. These arrays have one entry more than there are runs. A cut is a position at
which a group may start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import ZERO, allocating, leaf
from graphveil.core.kernels.tiers import for_each_entry, tiered

Ints = NDArray[np.int64]


@tiered(for_each_entry(2))
@leaf
def cuts_worth_trying(
    first: Ints, parts: Ints, k: int, tail: int, cut: Ints, run: Ints, ends: Ints
) -> int:
    """Write into cut and run the cuts that some optimum needs, ascending; return how many.

    Part p ends before run parts[p], and no group leaves it. Its cuts are its first position, the
    first k and the last `tail` positions of every run as far as k of its nodes lie on either side,
    and its end, which is the cut ends[p] and the first of the next part.
    """
    filled, r = 0, 0
    for p in range(parts.size):
        begin = first[r]
        last = first[parts[p]] - k
        cut[filled], run[filled] = begin, r
        filled += 1
        while r < parts[p]:
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

    A group from cut t on is a line of slope[t]. The slopes do not increase, so the lowest lines
    form a queue whose head only moves forward; queue[j] is lower from position since[j] on.
    """
    queue = np.empty(cut.size, dtype=np.int64)
    since = np.empty(cut.size, dtype=np.int64)
    head, tail = 0, 0
    entering = 0
    total[0], previous[0] = 0, 0
    for c in range(1, cut.size):
        while cut[entering] + k <= cut[c]:
            t = entering
            entering += 1
            start = total[t] - cut[t] * slope[t]
            takeover = np.int64(0)
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

    The cost satisfies the quadrangle inequality, so a later start, once better, stays better:
    queue[j] beats queue[j - 1] from cut since[j] on, found by doubling steps and halving.
    """
    queue = np.empty(cut.size, dtype=np.int64)
    since = np.empty(cut.size, dtype=np.int64)
    head, tail = 0, 0
    entering = ZERO
    cost[0], previous[0] = 0, 0
    for c in range(1, cut.size):
        while head + 1 < tail and since[head + 1] <= c:
            head += 1
        while cut[entering] + k <= cut[c]:
            t = entering
            entering += 1
            takeover = c
            while tail > head:
                last = queue[tail - 1]
                worse = max(c, since[tail - 1])
                if cost[t] + _median_cost(first, degree, prefix, cut, run, t, worse) <= (
                    cost[last] + _median_cost(first, degree, prefix, cut, run, last, worse)
                ):
                    tail -= 1
                    continue
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
        while head + 1 < tail and since[head + 1] <= c:
            head += 1
        t = queue[head]
        cost[c] = cost[t] + _median_cost(first, degree, prefix, cut, run, t, c)
        previous[c] = t


@tiered(for_each_entry(2))
@leaf
def trace_back(cut: Ints, previous: Ints, start: Ints) -> int:
    """Write the groups' starts, ascending, into the end of start; return how many they are."""
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
    """Write where the greedy's groups start, ascending; return how many, at most two a run."""
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
        if degree[here] == group_degree and i < first[here + 1] - k:
            i = first[here + 1] - k
        nxt = here
        if nxt + 1 < runs and first[nxt + 1] == i + 1:
            nxt += 1
        before = prefix[here] + degree[here] * (i - first[here])
        ahead = max(ahead, here)
        while ahead + 1 < runs and first[ahead + 1] <= i + k:
            ahead += 1
        upto = prefix[ahead] + degree[ahead] * (i + k - first[ahead])
        size = min(k, n - i - 1)
        further = upto if i + k == n else upto + degree[ahead]
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
    """Write the pieces that runs and groups cut each other into, in order; return how many."""
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
    """Write the target of every node's label; list nodes by bucket where it has several."""
    for v in range(label.size):
        x = label[v]
        out[v] = target[x]
        b = bucket[x]
        if b >= 0:
            nodes[free[b]] = v
            free[b] += 1
