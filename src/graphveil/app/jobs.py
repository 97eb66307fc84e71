"""Jobs that the page runs: one at a time, each a process of its own that can be stopped.

A job belongs to the server and not to a page: its address shows everybody how it stands. Its
process (`graphveil.app.work`) writes one line of JSON per message. What was found is kept in
``.graphveil/jobs`` (0600), so that nothing is measured again after the server has ended.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import os
import signal
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

import msgspec

from graphveil.app.folder import HIDDEN, UNREADABLE, Folder
from graphveil.app.tasks import OfFile, Release, Task
from graphveil.core.atomic import OWNER_ONLY, whole_file
from graphveil.core.errors import UsageError
from graphveil.core.version import __version__
from graphveil.core.visible import visible

PATIENCE_SECONDS = 5.0
"""So long a job that is stopped may take to clear away what it began."""

LONGEST_MESSAGE = 1 << 24
"""The most bytes of a message."""

MOST_JOBS = 200
"""So many jobs are remembered."""

KEPT = ("explore", "bounds", "release")
"""The jobs whose findings outlive the server."""


@dataclass
class Job:
    """A task that a process works on, and what it has found so far.

    `subject`: the file or the folder that it is about, from the top of the folder.
    """

    task: Task
    subject: str
    state: str = "running"
    why: str = ""
    stage: str = "Starting"
    detail: str = ""
    done: int = 0
    total: int = 0
    found: dict[str, Any] = field(default_factory=dict)
    process: asyncio.subprocess.Process | None = None
    reader: asyncio.Task[None] | None = None

    @property
    def verb(self) -> str:
        """What the task does."""
        return self.task.verb

    def hear(self, message: dict[str, Any]) -> None:
        """Take a message; what is found under a name twice is a list.

        >>> from graphveil.app.tasks import Check
        >>> job = Job(Check(folder="release", page="report.html"), "release")
        >>> job.hear({"stage": "reading", "done": 1, "of": 4})
        >>> job.hear({"found": "rows", "value": 3})
        >>> job.stage, job.total, job.found
        ('reading', 4, {'rows': 3})
        """
        if "stage" in message:
            self.stage, self.detail = visible(message["stage"]), ""
            self.done, self.total = int(message["done"]), int(message["of"])
        elif "detail" in message:
            self.detail = visible(message["detail"])
        elif "add" in message:
            self.found.setdefault(message["add"], []).append(message["value"])
        elif "found" in message:
            self.found[message["found"]] = message["value"]
        else:
            self.end(message["end"], visible(message["why"]))

    def end(self, state: str, why: str) -> None:
        """Say how it ended, if it has not ended before."""
        if self.state == "running":
            self.state, self.why = state, why


class KeptFindings(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a job; `of`: the version of graphveil and the folder that it was made by."""

    of: tuple[str, str]
    task: Task
    state: str
    why: str
    stage: str
    done: int
    total: int
    found: dict[str, Any]

    @classmethod
    def at(cls, file: Path) -> KeptFindings:
        """Return the content of a file of findings."""
        return msgspec.json.decode(file.read_bytes(), type=cls)


class Jobs:
    """The jobs of a page, by what they do and what they are about; they run in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: dict[tuple[str, str], Job] = {}
        self.spare: asyncio.subprocess.Process | None = None
        self.turn = asyncio.Lock()

    @property
    def current(self) -> Job | None:
        """The one that runs."""
        return next((job for job in self.jobs.values() if job.state == "running"), None)

    def of(self, verb: str, subject: str) -> Job | None:
        """Return the last job of this verb about this file or folder, also of an earlier server."""
        if (verb, subject) not in self.jobs and verb in KEPT:
            with suppress(*UNREADABLE):
                held = KeptFindings.at(self._kept(verb, subject))
                if held.of == (__version__, str(self.folder)):
                    given = {name: getattr(held, name) for name in _KEPT_OF_A_JOB}
                    job = self.jobs[verb, subject] = Job(subject=subject, **given)
                    job.end("interrupted", "")
        return self.jobs.get((verb, subject))

    def _kept(self, verb: str, subject: str) -> Path:
        digest = hashlib.sha256(os.fsencode(f"{verb} {subject}")).hexdigest()
        return Folder(self.folder).hidden("jobs") / f"{digest}.json"

    def keep(self, job: Job) -> None:
        """Keep what a job has found; where that fails, it is measured again some day."""
        if job.verb in KEPT:
            given = {name: getattr(job, name) for name in _KEPT_OF_A_JOB}
            held = KeptFindings(of=(__version__, str(self.folder)), **given)
            with (
                suppress(OSError, UsageError),
                whole_file(self._kept(job.verb, job.subject), mode=OWNER_ONLY) as part,
            ):
                part.write_bytes(msgspec.json.encode(held))

    async def forget(self, path: Path | None = None) -> None:
        """Forget the jobs about a file, or that made a release; one that runs ends.

        Without a path, the jobs about files that are not there any more.
        """
        for key, job in [*self.jobs.items()]:
            if _is_about(job.task, path):
                await self.stop(job)  # which keeps what it found once more
                del self.jobs[key]
        for file in Folder(self.folder).inside(f"{HIDDEN}/jobs").glob("*.json"):
            with suppress(*UNREADABLE):
                if _is_about(KeptFindings.at(file).task, path):
                    file.unlink()

    async def warm(self) -> None:
        """Start the process of the next job: it is ready once someone asks for one."""
        async with self.turn:  # two pages may ask at once
            if self.current is None and not _is_alive(self.spare):
                with suppress(OSError):
                    self.spare = await self._process()

    async def _process(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "graphveil.app.work"),  # -P: no modules of the folder
            cwd=self.folder,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_MESSAGE,
            start_new_session=True,
        )

    async def start(self, task: Task, subject: str) -> Job:
        """Start a job and return it; one about the same file or folder ends first.

        Raises `UsageError` where another one runs.
        """
        if (running := self.current) is not None:
            if running.subject != subject:
                said = f"A job for {visible(running.subject)} is still running."
                raise UsageError(f"{said} Wait for it, or stop it.")
            await self.stop(running)
        job = Job(task, subject)
        self.jobs.pop((job.verb, subject), None)
        self.jobs[job.verb, subject] = job
        if len(self.jobs) > MOST_JOBS:
            del self.jobs[next(iter(self.jobs))]
        ready, self.spare = self.spare, None
        try:
            job.process = ready if _is_alive(ready) else await self._process()
            job.reader = asyncio.create_task(self._follow(job, job.process))
        except OSError as error:
            job.end("failed", f"{error.strerror}. Free memory and try again.")
        return job

    async def _follow(self, job: Job, process: Any) -> None:
        """Read what a job finds until it ends; whatever fails here ends it as failed."""
        try:
            process.stdin.write(msgspec.json.encode(job.task))
            process.stdin.close()
            while line := await process.stdout.readline():
                job.hear(msgspec.json.decode(line))
                if b'"detail"' not in line[:12]:
                    self.keep(job)
        except Exception as error:  # noqa: BLE001  an unreadable message must not hold the page
            _signal(process, signal.SIGKILL)
            job.end("failed", f"A message was not readable ({type(error).__name__}).")
        while await process.stdout.read(LONGEST_MESSAGE):
            pass  # what a process that was ended still had to say
        await process.wait()
        with suppress(OSError):  # it ended before it read what was asked
            await process.stdin.wait_closed()
        job.end("failed", "The process ended. There may be too little memory.")
        self.keep(job)

    async def stop(self, job: Job) -> None:
        """End a job; one that does not end in time is ended at once."""
        if job.process is None or job.reader is None or job.state != "running":
            return
        job.state = "stopped"
        _signal(job.process, signal.SIGTERM)
        try:
            await asyncio.wait_for(asyncio.shield(job.reader), PATIENCE_SECONDS)
        except TimeoutError:
            _signal(job.process, signal.SIGKILL)
            await job.reader

    async def close(self) -> None:
        """End what runs."""
        if self.spare is not None:
            _signal(self.spare, signal.SIGKILL)
            await self.spare.communicate()
        if self.current is not None:
            await self.stop(self.current)


_KEPT_OF_A_JOB = ("task", "state", "why", "stage", "done", "total", "found")


def _is_about(task: Task, path: Path | None) -> bool:
    """Whether a task reads or makes what is at a path; without one, whether its file is gone."""
    if not isinstance(task, OfFile):
        return False
    if path is None:
        return not os.path.lexists(task.path)
    out = task.out if isinstance(task, Release) else ""
    return str(path) in (task.path, out, task.study.options.get("nodes"))


def _is_alive(process: asyncio.subprocess.Process | None) -> TypeGuard[asyncio.subprocess.Process]:
    return process is not None and process.returncode is None


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to a job and to the processes that it started."""
    with suppress(ProcessLookupError):  # it has just ended
        os.killpg(process.pid, number)


def load() -> None:
    """Load what a look at a file needs, while its owner still looks for it."""
    with suppress(ImportError):  # a part that is not installed is named where it is needed
        for name in ("graphveil.verbs.describe", "graphveil.methods.generalize.method", "pandas"):
            importlib.import_module(name)  # pyarrow imports pandas, if it is there


def refusal_of(error: OSError) -> str:
    """Return what the machine refused: no space, no permission; without names of files."""
    said = error.strerror or type(error).__name__
    return f"{said}. Check the free space of the disk and the permissions of the folder."


def defect_in(error: Exception) -> str:
    """Return where a defect is, without the message: it may show data."""
    stack = traceback.extract_tb(error.__traceback__)[-6:]
    places = " > ".join(f"{Path(one.filename).name}:{one.lineno}" for one in stack)
    return f"{type(error).__name__} at {places}"
