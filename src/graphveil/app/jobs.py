"""Commands that the page runs: one at a time, each a process of its own that can be stopped.

A job belongs to the server and not to a page: whoever opens its address sees how it stands.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from graphveil.cli.inputs import command_line
from graphveil.core.errors import UsageError
from graphveil.core.progress import LINE_START, LINES_EVERY
from graphveil.core.text import visible

MOST_LINES, LONGEST_LINE = 2_000, 4_000
"""So many lines of a command's output are kept, the last ones, and so many characters of each."""

MOST_JOBS = 200
"""So many commands are remembered."""

PATIENCE_SECONDS = 20.0
"""So long a command that is stopped may take to clear away what it began."""


@dataclass
class Job:
    """A command that was started.

    Parameters
    ----------
    number
        Its place in the order of starting, from 1.
    words
        The words of its command line, without the first.
    """

    number: int
    words: list[str]
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    code: int | None = None
    stopped: bool = False
    at_work: str = ""
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_LINES))
    n_lines: int = 0
    process: asyncio.subprocess.Process | None = None
    reader: asyncio.Task[None] | None = None

    @property
    def line(self) -> str:
        """The command line, to be copied."""
        return command_line(*self.words)

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return (self.ended or time.monotonic()) - self.started

    @property
    def status(self) -> str:
        """How it stands, in a sentence."""
        if self.ended is None:
            doing = f": {self.at_work}" if self.at_work else ""
            return f"Running for {self.seconds:.0f} s{doing}."
        if self.stopped:
            return f"Stopped after {self.seconds:.0f} s. No incomplete output was left."
        endings = {0: "Done", 1: "Done: the result is negative", 4: "Done: undecided"}
        return f"{endings.get(self.code or 0, 'It failed')}, after {self.seconds:.1f} s."

    @property
    def output(self) -> str:
        """What it printed; where that is long, its end."""
        missing = self.n_lines - len(self.lines)
        start = [f"({missing:,} earlier lines are not shown)"] if missing else []
        return "\n".join([*start, *self.lines])

    def hear(self, text: str) -> None:
        """Take a line that it printed."""
        if text.startswith(LINE_START):
            self.at_work = visible(text.removeprefix(LINE_START))[:LONGEST_LINE]
            return
        self.lines.append(visible(text)[:LONGEST_LINE])
        self.n_lines += 1


class Jobs:
    """The commands of a page, by number, which run in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: dict[int, Job] = {}

    @property
    def current(self) -> Job | None:
        """The one that runs."""
        last = max(self.jobs, default=0)
        return self.jobs[last] if last and self.jobs[last].ended is None else None

    async def start(self, words: list[str]) -> Job:
        """Start a command and return it.

        Raises
        ------
        UsageError
            Where another one runs.
        """
        running = self.current
        if running is not None:
            raise UsageError(f"{running.line} is still running. Wait for it, or stop it.")
        job = Job(max(self.jobs, default=0) + 1, words)
        self.jobs[job.number] = job
        if len(self.jobs) > MOST_JOBS:
            del self.jobs[min(self.jobs)]
        try:
            job.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "graphveil", *words),  # -P: no modules of the folder
                cwd=self.folder,
                env=os.environ | {LINES_EVERY: "1", "PYTHONUNBUFFERED": "1"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            job.ended, job.code = time.monotonic(), 3
            job.hear(f"graphveil: error: {error.strerror}. Free memory and try again.")
            return job
        job.reader = asyncio.create_task(_follow(job, job.process))
        return job

    async def stop(self, job: Job) -> None:
        """End a command as Ctrl-C does; one that does not end in time is ended at once."""
        if job.process is None or job.reader is None or job.ended is not None:
            return
        job.stopped = True
        _signal(job.process, signal.SIGINT)
        try:
            await asyncio.wait_for(asyncio.shield(job.reader), PATIENCE_SECONDS)
        except TimeoutError:
            _signal(job.process, signal.SIGKILL)
            await job.reader

    async def close(self) -> None:
        """End what runs."""
        if self.current is not None:
            await self.stop(self.current)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to a command and to the processes that it started."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:  # it has just ended
        return


async def _follow(job: Job, process: asyncio.subprocess.Process) -> None:
    """Read what a command prints until it ends."""
    stream, rest = process.stdout, b""
    while stream is not None and (block := await stream.read(1 << 16)):
        *lines, rest = (rest + block).split(b"\n")
        rest = rest[-LONGEST_LINE:]
        for line in lines:
            job.hear(line.decode(errors="backslashreplace"))
    if rest:
        job.hear(rest.decode(errors="backslashreplace"))
    job.code = await process.wait()
    job.ended = time.monotonic()
