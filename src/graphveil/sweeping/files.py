"""What lies in the folder of a sweep, by name."""

from __future__ import annotations

from pathlib import Path

PLAN, TABLE, POINTS, RESULTS = "plan.json", "sweep.parquet", "points", "results"


def is_sweep(folder: Path) -> bool:
    """Whether a folder is that of a sweep.

    Examples
    --------
    >>> is_sweep(Path("nowhere"))
    False
    """
    return (folder / PLAN).is_file()
