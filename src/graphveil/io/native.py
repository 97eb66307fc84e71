"""Memory and files that belong to Arrow, for what its threads work on.

A thread of Arrow's pool may drop the last reference to what it worked on when the result is long
there. If that is a Python object, the thread asks for the interpreter's lock; where the interpreter
has begun to end, that stops the thread inside a destructor, and the process with it (SIGABRT).
So whatever a thread of Arrow can reach is Arrow's own: no Python bytes, no Python file.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa


def native_buffer(content: bytes) -> pa.Buffer:
    """Return a copy of some bytes that no Python object owns.

    Examples
    --------
    >>> native_buffer(b"ann,bob").to_pybytes()
    b'ann,bob'
    """
    buffer = pa.allocate_buffer(len(content))
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(content, dtype=np.uint8)
    return buffer


def native_file(path: Path) -> pa.OSFile:
    """Open a file to be read; its name is taken for nothing else, whatever its bytes are.

    Raises
    ------
    OSError
        Where it cannot be opened.
    """
    return pa.OSFile(os.fsencode(path))
