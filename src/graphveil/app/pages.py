"""The screens: files, columns, risk and method, release, and a release that someone sent.

A GET changes nothing; only a POST begins a job. Pages are complete without scripts: htmx replaces
what stands in ``main`` meanwhile. All text from data is escaped, and shown as `visible` shows it.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import tempfile
import threading
import time
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from graphveil.app.choices import KeptFile, kept_for, state_of
from graphveil.app.folder import HIDDEN, UNREADABLE, Entry, Folder
from graphveil.app.jobs import Job, Jobs, defect_in, load, refusal_of
from graphveil.app.previews import MOST_PREVIEWED
from graphveil.app.questions import answers_to
from graphveil.app.server import form_of, sandboxed, upload_of
from graphveil.app.study import Study
from graphveil.app.tasks import Bounds, Check, Explore, OfFile, Release, Task
from graphveil.app.ways import WITH_ROLES, way_named
from graphveil.claims.facts import digest_of_file
from graphveil.claims.manifest import MANIFEST, read_manifest
from graphveil.claims.record import private_folder
from graphveil.core.atomic import whole_file
from graphveil.core.errors import GraphveilError, InputError, UsageError
from graphveil.core.libraries import parquet
from graphveil.core.text import counted, percent
from graphveil.core.visible import visible, visible_lines

HERE = Path(__file__).parent
TOKENS = HERE.parent / "pages" / "templates" / "tokens.css"
BOTH = ["GET", "POST"]

MOST_FILES, MOST_BYTES = 2_000, 8 << 30
"""So many files, and bytes of them, a zip may hold."""

MOST_READ = 1 << 20
"""A manifest of at most so many bytes is read to show how many rows a release has."""

SAMPLES = {
    "people.csv": ("adult-sample", "2,000 people by 8 columns of a census"),
    "calls.csv": ("copenhagen-calls", "phone calls among 536 people"),
}
"""Data that ships: the name of the copy, that of the data, and what it is."""


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


JINJA = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
    finalize=_shown,
)
JINJA.filters["share"] = lambda value: "not known" if value is None else percent(value)
JINJA.filters["count"] = lambda number: f"{number:,}"
JINJA.filters["lines"] = lambda text: escape(visible_lines(text))
JINJA.globals |= {"answers_to": answers_to, "most_previewed": MOST_PREVIEWED}
JINJA.globals |= {"now": time.monotonic_ns}


def at(request: Request, screen: str = "", path: str = "") -> str:
    """Return the address of a screen, or of what it shows."""
    root = request.scope["root_path"]
    return f"{root}/{screen}{'/' if screen and path else ''}{quote(path)}"


class Pages:
    """The screens of one folder; nothing outside of it is read or written."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.jobs = Jobs(folder.root)
        self.studies: dict[str, Study] = {}

    def page(self, request: Request, show: str, code: int = 200, /, **values: Any) -> Response:
        """Return a screen, or what stands in its ``main`` where htmx asks."""
        values |= {"at": partial(at, request), "home": self.folder.root.name}
        values |= {"part": request.headers.get("hx-request") == "true"}
        return HTMLResponse(JINJA.get_template(f"{show}.html").render(values), code)

    def to(self, request: Request, screen: str = "", path: str = "") -> Response:
        """Return the answer that leads to a screen."""
        return RedirectResponse(at(request, screen, path), 303)

    def path_in(
        self, request: Request, what: str = "", fits: Callable[[Path], bool] = os.path.lexists
    ) -> tuple[str, Path]:
        """Return what an address names, from the top of the folder, and its path; it is there."""
        text = request.path_params.get("path", "")
        path = None if "\0" in text else self.folder.inside(text)
        if path is None or not os.path.lexists(path):  # also a name that is too long
            raise HTTPException(404, "This file or folder does not exist.")
        if not fits(path):
            raise HTTPException(404, f"This is not a {what}.")
        return text, path

    # --- files

    async def files(self, request: Request) -> Response:
        """Show what is in the folder."""
        text, path = self.path_in(request, "folder", Path.is_dir)
        entries, more = await run_in_threadpool(self.folder.entries, path)
        listed = ("folder", "data", "release", "page")
        kinds: Any = {kind: [one for one in entries if one.kind == kind] for kind in listed}
        counts = await run_in_threadpool(lambda: {one.path: self.rows_of(one) for one in entries})
        shown: dict[str, Any] = {"inside": text, "more": more, "samples": SAMPLES, "rows": counts}
        return self.page(request, "files", **shown, **kinds)

    def rows_of(self, one: Entry) -> str:
        """Return how many rows data or a release has, if that is known without reading them."""
        from graphveil.io.formats import format_of  # noqa: PLC0415  heavy: the address comes first

        with suppress(*UNREADABLE, GraphveilError):
            path, more, rows = self.folder.inside(one.path), "", None
            if one.kind == "release":
                if self.folder.inside(f"{one.path}/{MANIFEST}").stat().st_size <= MOST_READ:
                    files = read_manifest(path).data.files
                    rows = sum(file.rows for file in files if file.role == "data")
            elif one.kind == "data" and format_of(path).name == "parquet":
                rows = parquet.read_metadata(path).num_rows
            elif one.kind == "data":
                known, kept = self.studies.get(one.path), kept_for(self.folder, one.path)
                said = known.rows if known else KeptFile.at(kept).rows
                if said.of == state_of(path):
                    rows, more = said.count, "" if said.complete else "more than "
            return "" if rows is None else f"{more}{counted(rows, 'row', spec=',')}"
        return ""

    async def sample(self, request: Request) -> Response:
        """Copy data that ships into the folder."""
        from graphveil.io import datasets  # noqa: PLC0415  heavy, and rarely needed

        name = request.path_params["name"]
        if name not in SAMPLES:
            raise HTTPException(404, "There is no such sample.")
        target = self.folder.inside(name)
        if not target.exists():
            with whole_file(target) as part:  # also on a full disk
                await run_in_threadpool(shutil.copyfile, datasets.path_of(SAMPLES[name][0]), part)
        return self.to(request, "columns", name)

    async def view(self, request: Request) -> Response:
        """Show a report of the folder, which can do nothing but look as it does."""
        _, path = self.path_in(
            request, "report", lambda one: one.suffix == ".html" and one.is_file()
        )
        return sandboxed(await run_in_threadpool(path.read_bytes))

    async def packed(self, request: Request) -> Response:
        """Send a release as a zip: the files that its manifest names, and no others."""
        _, path = self.path_in(request)
        names = [MANIFEST, *(one.name for one in read_manifest(path).data.files)]
        file = await run_in_threadpool(zipped, path, names)
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{quote(path.name, safe='')}.zip"
        }
        return StreamingResponse(_blocks(file), 200, headers, "application/zip")

    async def delete(self, request: Request) -> Response:
        """Ask whether a release or a data file shall be deleted; delete it with what is about it.

        With a release its private folder and reports go; with a file what was measured of it.
        """
        text, path = self.path_in(request, "release or a data file", self.folder.may_delete)
        private, report = private_folder(path), path.with_name(f"{path.name}-report.html")
        if request.method == "GET":
            is_data = path.is_file()
            return self.page(request, "delete", name=text, private=private.name, is_data=is_data)
        await form_of(request)
        await self.jobs.forget(path)
        if path.is_file():
            path.unlink()
        else:
            await run_in_threadpool(shutil.rmtree, path)
            if private.is_dir() and not private.is_symlink():
                await run_in_threadpool(shutil.rmtree, private)
            report.unlink(missing_ok=True)
        return self.to(request)

    async def style(self, _: Request) -> Response:
        """Return the style: the colors of the report, and the app's own."""
        parts = (TOKENS, HERE / "static" / "app.css")
        return Response("".join(part.read_text() for part in parts), media_type="text/css")

    # --- from a file to a release

    async def study(self, request: Request) -> Study:
        """Return what was chosen for a file; one that has changed is looked at again."""
        text, path = self.path_in(request, "data file", Path.is_file)
        known = self.studies.get(text)
        if known is None or known.state != state_of(path):
            known = self.studies[text] = await run_in_threadpool(Study.of, self.folder, text)
        return known

    async def columns(self, request: Request) -> Response:
        """Show what each column is."""
        study = await self.study(request)
        await self.jobs.warm()
        has_roles = study.kind == "table" or study.people is not None
        names = [column.name for column in study.columns] if has_roles else []
        return self.page(request, "columns", s=study, d=study.description, names=names)

    async def change(self, request: Request) -> Response:
        """Take what a form says of a file; measure what it asks for, if nothing is open."""
        study, form = await self.study(request), dict(await form_of(request))
        async with study.turn:  # a later form waits until an earlier one is checked
            await run_in_threadpool(study.change, form)
        if study.problems or not form.keys() & {"go", "bounds"}:
            is_whole = request.headers.get("hx-request") != "true"
            return (
                self.to(request, "columns", study.name) if is_whole else await self.columns(request)
            )
        about: dict[str, Any] = {"path": str(study.path), "study": study.settings}
        until = [f"{n} {form[n]}" for n, words in BOUNDS.items() if form.get(n) in words]
        if "bounds" in form:
            task: Task = Bounds(**about, until=until or ["kept >= 90%"])
        else:
            task = Explore(**about, method=study.method)
        await self.jobs.start(task, study.name)
        return self.to(request, "risk", study.name)

    def job_of(self, verb: str, study: Study) -> Job | None:
        """Return a job about a study as it is: others have figures of other columns or files."""
        job = self.jobs.of(verb, study.name)
        task = None if job is None else job.task
        return job if isinstance(task, OfFile) and task.study == study.settings else None

    async def risk(self, request: Request) -> Response:
        """Show who can be singled out, and what releases of several strengths would be."""
        study = await self.study(request)
        await self.jobs.warm()
        job, bounded = (self.job_of(verb, study) for verb in ("explore", "bounds"))
        task = job.task if job is not None and isinstance(job.task, Explore) else None
        kind = study.kind if task is None else task.study.kind
        way = way_named(kind, study.method if task is None else task.method)
        chosen = study.choices.strength
        shown: dict[str, Any] = {"s": study, "job": job, "bounded": bounded, "bounds": BOUNDS}
        shown |= {"preset": chosen if chosen in way.strengths else way.strengths[0]}
        return self.page(request, "risk", way=way, kind=kind, **shown)

    async def release(self, request: Request) -> Response:
        """Make a release, and show it."""
        study = await self.study(request)
        if request.method == "POST":
            form = dict(await form_of(request))
            if study.problems:
                return self.to(request, "columns", study.name)
            way = way_named(study.kind, form.get("method", ""))
            strength = way.strength_of(form.get("strength") or form.get("pick", ""))
            study.choices.strength = strength
            await run_in_threadpool(study.keep)
            stem = study.path.name.partition(".")[0] or "release"
            start = f"{stem}-{way.parameter.replace('epsilon', 'e')}{strength:g}"
            names = (start if number == 1 else f"{start}-{number}" for number in range(1, 10_000))
            new = next(one for one in map(study.path.with_name, names) if not one.exists())
            about: dict[str, Any] = {"path": str(study.path), "study": study.settings}
            made = Release(**about, method=way.method, strength=strength, out=str(new))
            await self.jobs.start(made, study.name)
            return self.to(request, "release", study.name)
        job = self.jobs.of("release", study.name)
        task = None if job is None else job.task
        if (
            job is None
            or not isinstance(task, Release)
            or ("verdict" in job.found and not self.is_there(task, job.found.get("made")))
        ):
            return self.to(request, "risk", study.name)
        out, way = self.inside_of(task.out), way_named(task.study.kind, task.method)
        said = study.said if self.job_of("release", study) else ""
        shown: dict[str, Any] = {n: self.inside_of(job.found.get(n)) for n in ("public", "owner")}
        shown |= {"strength": way.named(task.strength, task.study), "said": said, "out": out}
        calls = same_calls(study.name, task, out or "")
        return self.page(request, "release", s=study, job=job, calls=calls, **shown)

    def is_there(self, task: Release, made: str | None) -> bool:
        """Whether a folder still holds the release that was made and verified, and no other."""
        manifest = self.folder.inside(task.out) / MANIFEST
        return manifest.is_file() and digest_of_file(manifest) == made

    # --- a release that somebody sent

    async def received(self, request: Request) -> Response:
        """Unpack a zip below the hidden folder, and verify the release in it."""
        work = self.folder.hidden("received")
        scratch = Path(tempfile.mkdtemp(dir=work))
        try:
            await upload_of(request, scratch / "upload")
            release = await run_in_threadpool(unpacked, scratch / "upload", scratch / "release")
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        text = release.relative_to(self.folder.root).as_posix()
        await self._check(text, release)
        return self.to(request, "check", text)

    async def check(self, request: Request) -> Response:
        """Verify a release folder, and show what was found."""
        text, path = self.path_in(request)
        if request.method == "POST":
            await form_of(request)
            await self._check(text, path)
            return self.to(request, "check", text)
        name = path.name if path.name != "release" else "the release"
        job = self.jobs.of("check", text)
        report = None if job is None else self.inside_of(job.found.get("public"))
        return self.page(request, "check", name=name, path=text, job=job, report=report)

    def inside_of(self, path: str | None) -> str | None:
        """Return a path from the top of the folder."""
        return None if path is None else Path(path).relative_to(self.folder.root).as_posix()

    async def _check(self, text: str, path: Path) -> None:
        page = self.folder.hidden("reports") / f"{time.time_ns()}.html"
        await self.jobs.start(Check(folder=str(path), page=str(page)), text)

    async def stop(self, request: Request) -> Response:
        """Stop the job that runs."""
        await form_of(request)
        job = self.jobs.of(request.path_params["verb"], request.path_params["path"])
        if job is None:
            raise HTTPException(404, "This job does not exist any more.")
        await self.jobs.stop(job)
        screen = job.verb if job.verb in ("check", "release") else "risk"
        return self.to(request, screen, job.subject)

    # --- what went wrong

    async def wrong(self, request: Request, error: Exception) -> Response:
        """Show what a person can correct; of a defect, a text to copy that has no data in it."""
        is_ours = not isinstance(error, GraphveilError | HTTPException | OSError)
        why = "This is a defect of graphveil." if is_ours else getattr(error, "detail", str(error))
        why = refusal_of(error) if isinstance(error, OSError) else why
        code = getattr(error, "status_code", 400 if isinstance(error, GraphveilError) else 500)
        defect = defect_in(error) if is_ours else ""
        answer = self.page(request, "wrong", code, why=why, defect=defect)
        answer.headers.update(getattr(error, "headers", None) or {})
        return answer

    def application(self) -> Starlette:
        """Return the screens as an application, which a `Guard` must keep."""

        @asynccontextmanager
        async def life(_: Starlette) -> AsyncIterator[None]:
            threading.Thread(target=load, daemon=True).start()
            with suppress(OSError, UsageError):  # a folder that cannot be read or written
                await self.jobs.forget()
            yield
            await self.jobs.close()
            for name in ("received", "reports"):
                shutil.rmtree(self.folder.root / HIDDEN / name, ignore_errors=True)

        return Starlette(
            routes=[
                Route("/", self.files),
                Route("/in/{path:path}", self.files),
                Route("/sample/{name}", self.sample, methods=["POST"]),
                Route("/view/{path:path}", self.view),
                Route("/columns/{path:path}", self.columns),
                Route("/columns/{path:path}", self.change, methods=["POST"]),
                Route("/risk/{path:path}", self.risk),
                Route("/release/{path:path}", self.release, methods=BOTH),
                Route("/zip/{path:path}", self.packed),
                Route("/delete/{path:path}", self.delete, methods=BOTH),
                Route("/check", self.received, methods=["POST"]),
                Route("/check/{path:path}", self.check, methods=BOTH),
                Route("/stop/{verb}/{path:path}", self.stop, methods=["POST"]),
                Route("/static/app.css", self.style),
                Mount("/static", StaticFiles(directory=HERE / "static")),
            ],
            exception_handlers=dict.fromkeys(
                (GraphveilError, HTTPException, OSError, Exception), self.wrong
            ),
            lifespan=life,
        )


BOUNDS: dict[str, dict[str, str]] = {
    "kept": {f">= {share}%": f"{share}%" for share in (95, 90, 80, 70, 50)},
    "largest class risk": {f"<= {1 / size:g}": f"1 in {size:,}" for size in (5, 10, 20, 50)},
}
"""What can be asked of a release instead of a strength, with the words of each bound."""


def same_calls(name: str, task: Release, out: str) -> tuple[str, str]:
    """Return a release as it is made in Python, and on the command line."""
    from graphveil.verbs.anonymize import Choices  # noqa: PLC0415  heavy, and rarely needed

    study, top = task.study, task.path.removesuffix(name)
    way, read = way_named(study.kind, task.method), dict(study.options)
    if "nodes" in read:
        read["nodes"] = os.path.relpath(read["nodes"], top)
    asked = way.parameters(task.strength, study)
    if way.method == "generalize" and "levels" in asked:
        said = asked["levels"].items()
        asked["levels"] = {n: os.path.relpath(v, top) if v[:1] == "/" else v for n, v in said}
    options = replace(study, options=read).reading(exact=way.method in WITH_ROLES)
    chosen = Choices(method=way.method, parameters=asked, options=options, columns=(), source="")
    given = {n: str(said) if isinstance(said, Path) else said for n, said in chosen.reading.items()}
    arguments = "".join(f", {key}={value!r}" for key, value in given.items())
    parameters = ", ".join(f"{key}={value!r}" for key, value in asked.items())
    python = (
        f"import graphveil as gv\n\ndata = gv.read_{study.kind}({name!r}{arguments})\n"
        f"release = gv.anonymize(data, {way.method!r}, {parameters})\nrelease.write({out!r})"
    )
    words = [word for said in chosen.flags.values() for word in said]
    return python, shlex.join(
        ["graphveil", "anonymize", way.method, name, *words[:2], "--out", out, *words[2:]]
    )


def zipped(folder: Path, names: list[str]) -> IO[bytes]:
    """Return a zip of files of a folder, which nobody else can read."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  the answer closes it
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names:
            path = folder / name
            if path.resolve() != folder.resolve() / name or not path.is_file():
                raise InputError(f"{visible(name)} is not a file of the release. Make it again.")
            packed.write(path, f"{folder.name}/{name}")
    file.seek(0)
    return file


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while block := file.read(1 << 20):
            yield block


def unpacked(upload: Path, folder: Path) -> Path:
    """Unpack a release that was sent, and return its folder.

    The upload may be the form that it was sent with: a zip is found in it by its end.
    """
    try:
        with zipfile.ZipFile(upload) as packed:
            files = [one for one in packed.infolist() if not one.is_dir()]
            if len(files) > MOST_FILES:
                raise InputError(f"The zip holds more than {MOST_FILES:,} files. Unpack it first.")
            if sum(one.file_size for one in files) > MOST_BYTES:  # no more than that is unpacked
                raise InputError("The zip is too large. Unpack it into the folder.")
            for one in files:
                name = PurePosixPath(one.filename)
                if name.is_absolute() or ".." in name.parts or "\\" in one.filename:
                    raise InputError(
                        f"The zip names {visible(one.filename)}, which is outside of it. Ask the "
                        "sender for a zip of the release folder."
                    )
                target = folder.joinpath(*name.parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(one) as source, target.open("xb") as file:
                    shutil.copyfileobj(source, file)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise InputError(
            "This file is not a zip that can be read. Choose the zip that you received."
        ) from error
    upload.unlink()
    folder.mkdir(exist_ok=True)
    for place in (folder, *(one for one in folder.iterdir() if one.is_dir())):
        if (place / MANIFEST).is_file():
            return place
    raise InputError(
        f"The zip holds no release: there is no {MANIFEST} in it. Ask the sender for the whole "
        "folder."
    )
