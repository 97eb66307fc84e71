"""What an interrupt does during a run: it ends it, or it is noted and the best so far is taken."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def noted(*, wanted: bool) -> Iterator[Callable[[], bool]]:
    """Note the first interrupt instead of raising it; yields whether there was one.

    A second interrupt is raised. Only the main thread is interrupted, so elsewhere, and where not
    wanted, nothing changes.

    Examples
    --------
    >>> with noted(wanted=True) as interrupted:
    ...     signal.raise_signal(signal.SIGINT)
    ...     interrupted()
    True
    """
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not wanted or not main or before in (signal.SIG_IGN, None):
        yield pressed.is_set
        return

    def note(number: int, frame: FrameType | None) -> None:
        del number, frame
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
