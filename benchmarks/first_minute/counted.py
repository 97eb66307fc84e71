"""Run graphveil as `python -m graphveil` does, and write how many kernels were specialized.

    python counted.py COUNT.json ARGUMENTS...

What it adds to the run is a walk over the modules of kernels once all is done: about a millisecond.
"""

from __future__ import annotations

import atexit
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def dispatchers() -> Iterator[tuple[str, Any]]:
    """Yield every kernel that was imported: as Python calls it, and as kernels call it."""
    for name, module in sorted(sys.modules.items()):
        if name.startswith("graphveil.") and ".kernels." in name:
            for kernel in vars(module).values():
                if getattr(getattr(kernel, "py_func", None), "__module__", "") == name:
                    yield f"{name}.{kernel.py_func.__name__}", kernel
                    inner = getattr(kernel.get_overload, "__self__", kernel)
                    if inner is not kernel:
                        yield f"{name}.{kernel.py_func.__name__}", inner


def specializations() -> dict[str, int]:
    """Return how often each kernel was compiled."""
    counts: dict[str, int] = {}
    for name, kernel in dispatchers():
        if kernel.overloads:
            short = name.removeprefix("graphveil.")
            counts[short] = counts.get(short, 0) + len(kernel.overloads)
    return counts


def _write(path: Path) -> None:
    path.write_text(json.dumps(specializations()), encoding="utf-8")


if __name__ == "__main__":
    atexit.register(_write, Path(sys.argv[1]))
    sys.argv = ["graphveil", *sys.argv[2:]]
    from graphveil.cli import main

    main()
