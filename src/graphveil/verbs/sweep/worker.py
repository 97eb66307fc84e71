"""A worker process: it does what it is sent, one task at a time, and ends with who started it.

Started as ``python -m graphveil.verbs.sweep.worker``, so that no script of a user is imported
again.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from queue import SimpleQueue
from typing import IO, Any

PARENT_GONE = 1


def serve(inward: IO[bytes], outward: IO[bytes]) -> None:
    """Answer every task that comes in; the first message is the work and its seconds of CPU.

    A second thread reads. Where the parent's end is closed, the process ends at once, in the midst
    of a task too: nobody waits for it.
    """
    messages: SimpleQueue[Any] = SimpleQueue()

    def read() -> None:
        while True:
            try:
                messages.put(pickle.load(inward))  # noqa: S301  the parent's own bytes
            except Exception:  # noqa: BLE001  whatever cannot be read comes from no parent
                os._exit(PARENT_GONE)

    threading.Thread(target=read, daemon=True).start()
    work, cpu_seconds = messages.get()
    while True:
        answer = _answered(work, messages.get(), cpu_seconds)
        pickle.dump(answer, outward)
        outward.flush()


def _answered(work: Any, task: Any, cpu_seconds: float | None) -> tuple[str, Any]:
    """Return what the work gives; beyond so much CPU the system ends this process."""
    _limit(cpu_seconds)
    try:
        return "done", work(task)
    except MemoryError:
        return "lost", "it ran out of memory"
    except Exception as error:  # noqa: BLE001  it is raised again by the parent
        return "raised", _portable(error)
    finally:
        _limit(None)


def _limit(cpu_seconds: float | None) -> None:
    """Set or lift the CPU time after which the system sends SIGPROF, which ends the process."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds or 0.0)


def _portable(error: Exception) -> Exception:
    """Return the error, or a stand-in where it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  our own bytes
    except Exception:  # noqa: BLE001  pickling runs the error's own code
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def main() -> None:
    """Serve the parent over standard input and output; what libraries print goes nowhere."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's business
    inward, outward = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    sys.stdin = sys.stdout = sys.stderr = open(os.devnull, "r+")  # noqa: SIM115, PTH123  for good
    serve(os.fdopen(inward, "rb"), os.fdopen(outward, "wb"))


if __name__ == "__main__":
    main()
