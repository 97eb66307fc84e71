"""`graphveil anonymize ... --estimate`: what the same command will cost without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.cli.answer import say_answer
from graphveil.cli.console import result, result_json

if TYPE_CHECKING:
    from graphveil.on_disk.estimate import Estimate, Range

HOUR = 3600


def print_estimate(estimate: Estimate, *, as_json: bool) -> None:
    """Print what a run will cost.

    Parameters
    ----------
    estimate
        The figures.
    as_json
        Whether they are printed for the next program.
    """
    if as_json:
        result_json(_plain(estimate))
        return
    of = "of one core, all processes together"
    say_answer(f"Expected: {time_words(estimate.cpu_seconds)} {of}.")
    result(
        f"  rows: {estimate.rows:,}, with about {estimate.entries:,} items; chunks: "
        f"{estimate.chunks:,}"
    )
    result(f"  memory of a process: {_between(estimate.worker_mib)} MiB")
    result(f"  folders of the run, before its release stands: {_bytes(estimate.working_bytes)}")
    if estimate.shuffle_bytes is not None:
        result(f"  shuffled: {_bytes(estimate.shuffle_bytes)}")
    result("Assumed:")
    for text in estimate.assumed:
        result(f"  {text}")
    result("Nothing was written.")


def _plain(estimate: Estimate) -> dict[str, object]:
    return {
        "engine": estimate.engine,
        "rows": estimate.rows,
        "entries": estimate.entries,
        "chunks": estimate.chunks,
        "core_hours": list(estimate.core_hours),
        "cpu_seconds": list(estimate.cpu_seconds),
        "working_bytes": [round(end) for end in estimate.working_bytes],
        "shuffle_bytes": estimate.shuffle_bytes and [round(n) for n in estimate.shuffle_bytes],
        "worker_mib": list(estimate.worker_mib),
        "assumed": list(estimate.assumed),
    }


def time_words(seconds: Range) -> str:
    """Return seconds of CPU in words.

    Examples
    --------
    >>> from graphveil.on_disk.estimate import Range
    >>> time_words(Range(8.1, 18.3)), time_words(Range(30_000.0, 67_500.0))
    ('8.1 to 18 seconds', '8.3 to 19 hours')
    """
    if seconds.high < HOUR:
        return f"{_between(seconds)} seconds"
    return f"{_between(type(seconds)(*(end / HOUR for end in seconds)))} hours"


def _between(ends: Range) -> str:
    low, high = (f"{end:.2g}" if end < 100 else f"{float(f'{end:.2g}'):,.0f}" for end in ends)
    return f"{low} to {high}"


def _bytes(ends: Range) -> str:
    unit, name = next(
        (size, name)
        for size, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
        if ends.high >= size or name == "kB"
    )
    return f"{_between(type(ends)(*(end / unit for end in ends)))} {name}"
