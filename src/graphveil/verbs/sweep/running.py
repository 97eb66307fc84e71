"""Tasks over worker processes: one that ends early takes its task with it, and no other.

A worker ends with the process that started it. It is started as
``python -m graphveil.verbs.sweep.running``, so that no script of a user is imported again.
"""

from __future__ import annotations

import dataclasses
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
from typing import IO, Any, Literal, NamedTuple

from graphveil.claims.guarantees import AnyGuarantee, unclaimed
from graphveil.release import Release

KILLED = "its process was terminated from outside, perhaps for lack of memory"
FAILED = "its process ended with exit code {}"

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Variables by which libraries learn to keep to one thread: each worker is one already."""


class TaskResult(NamedTuple):
    """How a task ended."""

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
) -> Iterator[TaskResult]:
    """Yield how every task ended, as they end; closing this ends the processes."""
    waiting: SimpleQueue[int | None] = SimpleQueue()
    for number in [*range(len(tasks)), *[None] * jobs]:
        waiting.put(number)
    ended: SimpleQueue[TaskResult] = SimpleQueue()
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
        ended: SimpleQueue[TaskResult],
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
        """Do tasks until none waits, or someone stops this."""
        while not self.stopped and (number := self.waiting.get()) is not None:
            try:
                self.ended.put(self._done(number))
            except Exception as error:  # noqa: BLE001  else who waits would wait for ever
                self.ended.put(TaskResult(number, "raised", error))
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

    def _done(self, number: int) -> TaskResult:
        process = self._hired()
        if process is None or process.stdin is None or process.stdout is None:
            return TaskResult(number, "lost", KILLED)
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
        return TaskResult(number, how, answer)

    def _ended_early(
        self, number: int, process: subprocess.Popen[bytes], *, timed: bool
    ) -> TaskResult:
        code = process.wait()
        _close(process)
        late = timed or (hasattr(signal, "SIGPROF") and code == -signal.SIGPROF)
        if late:
            return TaskResult(number, "out of time")
        return TaskResult(number, "lost", KILLED if code < 0 else FAILED.format(code))

    def _hired(self) -> subprocess.Popen[bytes] | None:
        """Return the worker process, a new one where there is none; None where this is stopped."""
        if self.process is not None and self.process.poll() is None:
            return self.process
        paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)  # as of this process
        with self.guard:
            if self.stopped:
                return None
            self.process = subprocess.Popen(
                [sys.executable, "-m", "graphveil.verbs.sweep.running"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": paths},
                pass_fds=() if self.inherited is None else (self.inherited,),
            )
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.write(self.hello)
        return self.process


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()


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

ONE_OF_SEVERAL = "it is one of several trials of a sweep: publish at most one of them"


def claimed_of_a_trial(guarantee: AnyGuarantee) -> AnyGuarantee:
    """Return what a trial claims: what files show again, and nothing else.

    Equal rows can be counted, however a release was chosen. An epsilon is a statement on how a
    release was drawn, and covers no choice among several.

    >>> from graphveil import EdgeDP, KAnonymity
    >>> claimed_of_a_trial(KAnonymity(k=5)).k, claimed_of_a_trial(EdgeDP(epsilon=1.0))
    (5, NotClaimed(reasons=('trial',)))
    """
    if guarantee.check_word == "recomputed":
        return guarantee
    return unclaimed(guarantee, "trial")


def as_trial(release: Release[Any]) -> Release[Any]:
    """Return a release as one of several: it claims what files show, and its record says so.

    >>> import graphveil as gv
    >>> ring = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> as_trial(gv.RandomizedResponse(epsilon=2.0).anonymize(ring)).guarantee.reasons
    ('trial',)
    """
    private = release.for_owner()
    private = dataclasses.replace(private, warnings=(*private.warnings, ONE_OF_SEVERAL))
    claimed = claimed_of_a_trial(release.guarantee)
    return dataclasses.replace(release, guarantee=claimed, private=private)
