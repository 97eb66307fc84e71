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
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Literal, NamedTuple

import msgspec

from graphveil.claims.guarantees import AnyGuarantee, unclaimed
from graphveil.engines.processes import portable
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
    hello = pickle.dumps((work, cpu_seconds))
    crew = [_Worker(hello, cpu_seconds, inherited) for _ in range(min(jobs, len(tasks)))]
    free: SimpleQueue[_Worker] = SimpleQueue()
    for member in crew:
        free.put(member)

    def done(number: int) -> TaskResult:
        member = free.get()
        try:
            return TaskResult(number, *member.answer(tasks[number]))
        except Exception as error:  # noqa: BLE001  such as a task that cannot be pickled
            return TaskResult(number, "raised", error)
        finally:
            free.put(member)

    with ThreadPoolExecutor(max(1, len(crew))) as threads:
        try:
            yield from (
                future.result()
                for future in as_completed(threads.submit(done, n) for n in range(len(tasks)))
            )
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for member in crew:
                member.stop()


class _Worker:
    """A worker process, started with the first task, and again if it has ended."""

    def __init__(self, hello: bytes, cpu_seconds: float | None, inherited: int | None) -> None:
        self.hello, self.cpu_seconds, self.inherited = hello, cpu_seconds, inherited
        self.process: subprocess.Popen[bytes] | None = None
        self.stopped = False
        self.guard = threading.Lock()

    def stop(self) -> None:
        """End the worker process, whatever it does."""
        with self.guard:
            self.stopped = True
            if self.process is not None:
                self.process.kill()
                self._ended(self.process)

    def answer(self, task: Any) -> tuple[Any, Any]:
        """Return how a task ended, and its result, its error or the reason why it is lost."""
        timed = self.cpu_seconds is not None and not hasattr(signal, "setitimer")
        process = self._hired()
        timer = threading.Timer(self.cpu_seconds or 0.0, process.kill)
        try:
            if timed:
                timer.start()
            pickle.dump(task, process.stdin)  # type: ignore[arg-type]  # a pipe
            process.stdin.flush()  # type: ignore[union-attr]  # a pipe
            how, answer = pickle.load(process.stdout)  # type: ignore[arg-type]  # noqa: S301  ours
        except (EOFError, OSError, pickle.UnpicklingError):
            code = self._ended(process)
            if timed or (hasattr(signal, "SIGPROF") and code == -signal.SIGPROF):
                return "out of time", None
            return "lost", KILLED if code < 0 else FAILED.format(code)
        finally:
            timer.cancel()
        return how, answer

    def _hired(self) -> subprocess.Popen[bytes]:
        """Return the worker process, a new one where there is none."""
        with self.guard:
            if self.stopped:
                raise EOFError
            if self.process is None or self.process.poll() is not None:
                paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "graphveil.verbs.sweep.running"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": paths},
                    pass_fds=() if self.inherited is None else (self.inherited,),
                )
                with suppress(OSError):
                    self.process.stdin.write(self.hello)  # type: ignore[union-attr]  # a pipe
            return self.process

    def _ended(self, process: subprocess.Popen[bytes]) -> int:
        code = process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]  # a pipe
        return code


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
        return "raised", portable(error)
    finally:
        _limit(None)


def _limit(cpu_seconds: float | None) -> None:
    """Set or lift the CPU time after which the system sends SIGPROF, which ends the process."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds or 0.0)


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
    private = msgspec.structs.replace(private, warnings=(*private.warnings, ONE_OF_SEVERAL))
    claimed = claimed_of_a_trial(release.guarantee)
    return dataclasses.replace(release, guarantee=claimed, private=private)
