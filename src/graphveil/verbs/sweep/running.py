"""Tasks over worker processes: one that ends early takes its task with it, and no other."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal, NamedTuple

KILLED = "its process was terminated from outside, perhaps for lack of memory"
FAILED = "its process ended with exit code {}"

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Variables by which libraries learn to keep to one thread: each worker is one already."""


class Ended(NamedTuple):
    """How a task ended.

    Parameters
    ----------
    task
        Its position.
    how
        ``done``; ``raised``, with the error; ``lost``, with the reason, where no answer came; or
        ``out of time``.
    answer
        What the work gave, the error, or the reason.
    """

    task: int
    how: Literal["done", "raised", "lost", "out of time"]
    answer: Any = None


def over_processes(
    work: Callable[[Any], Any],
    tasks: Sequence[Any],
    *,
    jobs: int,
    cpu_seconds: float | None = None,
    inherited: int | None = None,
) -> Iterator[Ended]:
    """Yield how every task ended, as they end; closing this ends the processes.

    Parameters
    ----------
    work
        A function of a module, or a value with ``__call__``: it can be pickled.
    tasks
        What it is called with; they can be pickled.
    jobs
        The most processes.
    cpu_seconds
        The CPU time after which a task is given up.
    inherited
        A file that workers keep open as long as they live.
    """
    waiting: SimpleQueue[int | None] = SimpleQueue()
    for number in [*range(len(tasks)), *[None] * jobs]:
        waiting.put(number)
    ended: SimpleQueue[Ended] = SimpleQueue()
    hello = pickle.dumps((work, cpu_seconds))
    crew = [
        _Crew(hello, tasks, waiting, ended, cpu_seconds, inherited)
        for _ in range(min(jobs, len(tasks)))
    ]
    for member in crew:
        member.start()
    try:
        for _ in tasks:
            yield ended.get()
    finally:
        for member in crew:
            member.stop()
        for member in crew:
            member.join()


class _Crew(threading.Thread):
    """A thread that keeps one worker process, and hires another where that one ends."""

    def __init__(
        self,
        hello: bytes,
        tasks: Sequence[Any],
        waiting: SimpleQueue[int | None],
        ended: SimpleQueue[Ended],
        cpu_seconds: float | None,
        inherited: int | None,
    ) -> None:
        super().__init__(daemon=True)
        self.hello, self.tasks, self.waiting, self.ended = hello, tasks, waiting, ended
        self.cpu_seconds, self.inherited = cpu_seconds, inherited
        self.process: subprocess.Popen[bytes] | None = None
        self.stopped = False
        self.guard = threading.Lock()

    def run(self) -> None:
        """Do tasks until none waits, or somebody stops this."""
        while not self.stopped and (number := self.waiting.get()) is not None:
            try:
                self.ended.put(self._done(number))
            except Exception as error:  # noqa: BLE001  else who waits would wait for ever
                self.ended.put(Ended(number, "raised", error))
        self.stop()
        if self.process is not None:
            self.process.wait()
            _close(self.process)

    def stop(self) -> None:
        """End the worker process, whatever it does."""
        with self.guard:
            self.stopped = True
            if self.process is not None and self.process.poll() is None:
                self.process.kill()

    def _done(self, number: int) -> Ended:
        process = self._hired()
        if process is None or process.stdin is None or process.stdout is None:
            return Ended(number, "lost", KILLED)
        timer = None
        if self.cpu_seconds is not None and not hasattr(signal, "setitimer"):
            timer = threading.Timer(self.cpu_seconds, process.kill)
            timer.start()
        try:
            pickle.dump(self.tasks[number], process.stdin)
            process.stdin.flush()
            how, answer = pickle.load(process.stdout)  # noqa: S301  our own worker's bytes
        except (EOFError, OSError, pickle.UnpicklingError):
            return self._ended_early(number, process, timed=timer is not None)
        finally:
            if timer is not None:
                timer.cancel()
        return Ended(number, how, answer)

    def _ended_early(self, number: int, process: subprocess.Popen[bytes], *, timed: bool) -> Ended:
        code = process.wait()
        _close(process)
        late = timed or (hasattr(signal, "SIGPROF") and code == -signal.SIGPROF)
        if late:
            return Ended(number, "out of time")
        return Ended(number, "lost", KILLED if code < 0 else FAILED.format(code))

    def _hired(self) -> subprocess.Popen[bytes] | None:
        """Return the worker process, a new one where there is none; None where this is stopped."""
        if self.process is not None and self.process.poll() is None:
            return self.process
        with self.guard:
            if self.stopped:
                return None
            self.process = subprocess.Popen(
                [sys.executable, "-m", "graphveil.verbs.sweep.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": _paths()},
                pass_fds=() if self.inherited is None else (self.inherited,),
            )
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.write(self.hello)
        return self.process


def _paths() -> str:
    """Return where this process imports from, so that its worker does, too."""
    return os.pathsep.join(path or str(Path.cwd()) for path in sys.path)


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
