"""The screens: a folder, a file, a release, a form of a command, and how a command stands."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from jinja2 import FileSystemLoader, PrefixLoader
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from graphveil.app.folder import Folder
from graphveil.app.forms import (
    BY_METHOD,
    COMMANDS,
    Field,
    Given,
    field_of,
    fields_of,
    reading_names,
    words_of,
)
from graphveil.app.jobs import Job, Jobs
from graphveil.cli.inputs import command_line
from graphveil.cli.kinds import reading_flags
from graphveil.core.errors import GraphveilError, InputError, UsageError
from graphveil.core.text import visible_lines
from graphveil.data.kinds import KINDS, accepted_kinds, kind_of
from graphveil.io.text.preview import FirstRows, columns_of, first_rows
from graphveil.methods import METHODS
from graphveil.verbs.report.pages import TEMPLATES as REPORT_TEMPLATES
from graphveil.verbs.report.pages import room
from graphveil.verbs.sweep.folder import is_sweep

TEMPLATES = Path(__file__).with_name("templates")

LARGEST_FORM = 1 << 16
"""The most bytes of what is sent in a form."""

READ_TO_THE_END = 1 << 20
"""A form that is too large is read up to so many bytes: else its sender hears nothing."""

FORM_SECONDS = 10.0
"""So long a form may take to arrive."""

LARGEST_PAGE = 20 << 20
"""The most bytes of a page that is shown; reports stay below a tenth of it."""

SHEET = (
    "sandbox{scripts}; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:"
)
"""What a page of the folder may do: nothing but look as it does. Others may have written it."""

COLUMN_QUESTIONS = {
    "graph": ("source_column", "target_column"),
    "bipartite": ("user_column", "item_column", "items"),
    "table": ("person", "ids", "drop"),
    "network": ("source_column", "target_column", "nodes", "node_column", "directed", "drop"),
}
"""What is asked of a file of each kind before anything else."""


ASKED_FIRST = {
    "measure": ("k", "known"),
    "advise": ("until",),
    "sweep": ("until",),
    "verify": ("original",),
    "report": ("original", "public", "recipient"),
}
"""What a form asks at once, beside what its command needs and the strength of a method."""


class Step(NamedTuple):
    """A way on: its words, and its address."""

    words: str
    address: str


class Screens:
    """The screens of one folder.

    Parameters
    ----------
    folder
        Where everything happens.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.jobs = Jobs(folder)
        self.jinja = room()
        self.jinja.loader = PrefixLoader(
            {"serve": FileSystemLoader(TEMPLATES), "report": FileSystemLoader(REPORT_TEMPLATES)}
        )
        self.jinja.globals |= {
            "titles": COMMANDS,
            "name": folder.root.name or str(folder.root),
            "address": address,
        }
        self.jinja.filters["lines"] = lambda text: Markup("%s") % visible_lines(text)
        self.reading = reading_names()

    def page(self, template: str, code: int = 200, **values: Any) -> Response:
        """Return a page from its template."""
        text = self.jinja.get_template(f"serve/{template}").render(
            running=self.jobs.current, **values
        )
        return HTMLResponse(text, code)

    async def of_folder(self, request: Request) -> Response:
        """Show what lies in a folder."""
        path = self.folder.inside(request.query_params.get("at", ""))
        if not path.is_dir():
            raise UsageError("There is no such folder. Go back, and choose another.")
        entries, more = await asyncio.to_thread(self.folder.entries, path)
        at = "" if path == self.folder.root else path.relative_to(self.folder.root).as_posix()
        return self.page("folder.html", at=at, entries=entries, more=more)

    async def of_file(self, request: Request) -> Response:
        """Show the first rows of a file, and ask what its columns are."""
        path = self.folder.inside(request.query_params.get("path", ""))
        if not path.is_file():
            raise UsageError("There is no such file. Go back, and choose another.")
        rows, problem, kind = await asyncio.to_thread(_looked_at, path)
        kinds = [(one, *self._questions(one.name)) for one in KINDS.values()]
        return self.page(
            "file.html",
            path=self.folder.word(path),
            rows=rows,
            problem=problem,
            kinds=kinds,
            kind=kind,
            kind_words=KINDS[kind].words if kind else "",
        )

    def _questions(self, kind: str) -> tuple[list[Field], list[Field]]:
        """Return the fields that a kind's reader asks first, and its others."""
        items = reading_flags((KINDS[kind].container,))
        fields = [field for field in map(field_of, items) if field and field.name != "kind"]
        first = [field for field in fields if field.name in COLUMN_QUESTIONS[kind]]
        return first, [field for field in fields if field not in first]

    async def of_methods(self, request: Request) -> Response:
        """Show the methods that a command can take."""
        command = request.path_params["command"]
        if command not in BY_METHOD:
            raise HTTPException(404)
        given = _filled_in(request.query_params.multi_items())
        kind = (given.get("kind") or [""])[0]
        methods = [
            method
            for method in METHODS.values()
            if kind not in KINDS
            or kind in {kind_of(one).name for one in accepted_kinds(method.accepts)}
        ]
        return self.page("methods.html", command=command, methods=methods, given=given)

    async def of_form(self, request: Request) -> Response:
        """Show the form of a command, filled in as far as the address says."""
        command, method = _named(request)
        if command in BY_METHOD and method is None:
            return RedirectResponse(address(f"/methods/{command}", request.query_params), 303)
        given = _filled_in(request.query_params.multi_items())
        return self._form(command, method, given)

    def _form(self, command: str, method: str | None, given: Given, problem: str = "") -> Response:
        fields = fields_of(command, method)
        first = _asked_first(fields, command, method)
        others: dict[str, list[Field]] = {}
        for field in fields:
            if field not in first:
                others.setdefault(field.group, []).append(field)
        given = self._with_defaults(command, method, given)
        try:
            line = command_line(*words_of(self.folder, command, method, given, complete=False))
        except UsageError as error:
            line, problem = "", problem or error.message.flags
        entries, _ = self.folder.entries(self.folder.root)
        return self.page(
            "form.html",
            400 if problem else 200,
            command=command,
            method=None if method is None else METHODS[method],
            first=first,
            others=others,
            given=given,
            line=line,
            problem=problem,
            files=[entry.path for entry in entries if entry.kind in ("data", "release", "sweep")],
        )

    def _with_defaults(self, command: str, method: str | None, given: Given) -> Given:
        """Return what is filled in, with a name for the new folder of a release or a sweep."""
        if given.get("out") or command not in BY_METHOD or not given.get("input"):
            return given
        stem = Path(given["input"][0]).name.partition(".")[0] or "data"
        base = f"{stem}-{method}" if command == "anonymize" else f"{stem}-sweep"
        names = (base, *(f"{base}-{number}" for number in range(2, 10_000)))
        name = next(name for name in names if not (self.folder.root / name).exists())
        return {**given, "out": [name]}

    async def run(self, request: Request) -> Response:
        """Run a command of what was filled in."""
        command, method = _named(request)
        given = await _sent(request)
        try:
            words = words_of(self.folder, command, method, given)
            job = await self.jobs.start(command, method, given, words)
        except UsageError as error:
            return self._form(command, method, given, error.message.flags)
        return RedirectResponse(f"/job/{job.number}", 303)

    def _job(self, request: Request) -> Job:
        job = self.jobs.jobs.get(request.path_params["number"])
        if job is None:
            raise HTTPException(404)
        return job

    async def of_job(self, request: Request) -> Response:
        """Show how a command stands."""
        job = self._job(request)
        steps = self._steps(job) if job.ended is not None else []
        again = address(f"/do/{'/'.join(filter(None, (job.command, job.method)))}", job.given)
        return self.page("job.html", job=job, steps=steps, again=again)

    async def state(self, request: Request) -> Response:
        """Say how a command stands, for the page that shows it."""
        job = self._job(request)
        ended = job.ended is not None
        return JSONResponse({"status": job.status, "output": job.output, "ended": ended})

    async def stop(self, request: Request) -> Response:
        """Stop a command."""
        job = self._job(request)
        await self.jobs.stop(job)
        return RedirectResponse(f"/job/{job.number}", 303)

    async def of_commands(self, _: Request) -> Response:
        """Show every command that was run."""
        return self.page("commands.html", jobs=list(self.jobs.jobs.values()))

    async def of_release(self, request: Request) -> Response:
        """Show what can be done with a release or a sweep."""
        path = self.folder.inside(request.query_params.get("path", ""))
        if not path.is_dir():
            raise UsageError("There is no such folder. Go back, and choose another.")
        return self.page(
            "release.html",
            path=self.folder.word(path),
            steps=self._of_folder(path, {}),
            sweep=is_sweep(path),
        )

    def _steps(self, job: Job) -> list[Step]:
        """Return the ways on from a command that has ended."""
        reading = {k: v for k, v in job.given.items() if k in self.reading or k == "input"}
        if job.command in ("measure", "advise"):
            others = {"measure": ("advise", "anonymize", "sweep"), "advise": ("anonymize", "sweep")}
            return [Step(COMMANDS[to], address(f"/do/{to}", reading)) for to in others[job.command]]
        named = job.given.get("out" if job.command in BY_METHOD else "dir", [""])[0]
        path = self.folder.inside(named) if named else None
        if path is None or not path.is_dir():
            return []
        source = job.given.get("input") or job.given.get("original") or []
        return self._of_folder(path, {"original": source} if source else {}, but=job.command)

    def _of_folder(self, path: Path, given: Given, but: str = "") -> list[Step]:
        """Return the ways on from a release or a sweep."""
        word = self.folder.word(path)
        pages = [
            Step(f"Look at {page}", address("/view", {"path": [page]}))
            for page in self.folder.pages_of(path)
        ]
        if is_sweep(path):
            made = {"dir": [word]}
            return [
                *pages,
                Step("Draw what is kept against what is learned", address("/do/report", made)),
            ]
        to = [one for one in ("verify", "report", "evaluate", "attack") if one != but]
        return [
            *pages,
            *(Step(COMMANDS[one], address(f"/do/{one}", {"dir": [word], **given})) for one in to),
        ]

    async def view(self, request: Request) -> Response:
        """Show a page of the folder; what stands in it reaches nothing."""
        path = self.folder.inside(request.query_params.get("path", ""))
        if path.suffix != ".html" or not path.is_file():
            raise UsageError("There is no such page. Make it first: Make a page to hand on.")
        if path.stat().st_size > LARGEST_PAGE:
            raise UsageError(f"{path.name} is too large to be shown here. Open it in a browser.")
        raw = await asyncio.to_thread(path.read_bytes)
        scripts = " allow-scripts" if is_sweep(path.parent) else ""
        return HTMLResponse(raw, headers={"content-security-policy": SHEET.format(scripts=scripts)})

    async def style(self, _: Request) -> Response:
        """Return the style of all screens."""
        text = "".join(
            self.jinja.get_template(name).render()
            for name in ("report/style.css", "serve/serve.css")
        )
        return Response(text, media_type="text/css")

    async def script(self, _: Request) -> Response:
        """Return the one script, without which the screens work as well."""
        text = (TEMPLATES / "serve.js").read_text(encoding="utf-8")
        return Response(text, media_type="text/javascript")

    async def of_problem(self, _: Request, error: Exception) -> Response:
        """Show an error of ours, or that there is no such page."""
        if isinstance(error, HTTPException):
            words = "There is no such page." if error.status_code == 404 else error.detail
            answer = self.page("problem.html", error.status_code, words=words)
            answer.headers.update(error.headers or {})
            return answer
        words = error.message.flags if isinstance(error, GraphveilError) else str(error)
        return self.page("problem.html", 400, words=words)


def application(screens: Screens) -> Starlette:
    """Return the application of these screens, which nobody guards yet."""
    return Starlette(
        routes=[
            Route("/", screens.of_folder),
            Route("/file", screens.of_file),
            Route("/release", screens.of_release),
            Route("/methods/{command}", screens.of_methods),
            Route("/do/{command}", screens.of_form),
            Route("/do/{command}/{method}", screens.of_form),
            Route("/run/{command}", screens.run, methods=["POST"]),
            Route("/run/{command}/{method}", screens.run, methods=["POST"]),
            Route("/job/{number:int}", screens.of_job),
            Route("/job/{number:int}/state", screens.state),
            Route("/job/{number:int}/stop", screens.stop, methods=["POST"]),
            Route("/commands", screens.of_commands),
            Route("/view", screens.view),
            Route("/style.css", screens.style),
            Route("/serve.js", screens.script),
        ],
        exception_handlers={GraphveilError: screens.of_problem, HTTPException: screens.of_problem},
    )


def address(path: str, given: Given | Mapping[str, str] | Any = ()) -> str:
    """Return an address with what is filled in.

    Examples
    --------
    >>> address("/do/measure", {"input": ["a b.csv"], "kind": []})
    '/do/measure?input=a+b.csv'
    """
    pairs = (
        given.multi_items()
        if hasattr(given, "multi_items")
        else [(name, value) for name, values in dict(given).items() for value in values]
    )
    text = urlencode([(name, value) for name, value in pairs if value])
    return f"{quote(path)}?{text}" if text else quote(path)


def _asked_first(fields: Sequence[Field], command: str, method: str | None) -> list[Field]:
    """Return the fields that stand open: what is needed, and what most people answer."""
    strength = () if method is None else tuple(METHODS[method].example)
    names = (*strength, *ASKED_FIRST.get(command, ()))
    return [field for field in fields if field.required or field.name in names]


def _filled_in(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        if value.strip():
            given.setdefault(name, []).append(value)
    return given


def _named(request: Request) -> tuple[str, str | None]:
    """Return the command and the method of an address."""
    command, method = request.path_params["command"], request.path_params.get("method")
    if command not in COMMANDS or (method is not None and command not in BY_METHOD):
        raise HTTPException(404)
    if method is not None and method not in METHODS:
        raise HTTPException(404)
    return command, method


async def _sent(request: Request) -> dict[str, list[str]]:
    """Return what a form sends.

    Raises
    ------
    HTTPException
        Where it is too large, takes too long, or is no form.
    """
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(FORM_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size <= LARGEST_FORM:
                    body += part
                elif size > READ_TO_THE_END:
                    break
    except TimeoutError as error:
        raise HTTPException(408, "The form took too long.", {"connection": "close"}) from error
    if size > LARGEST_FORM:
        raise HTTPException(413, "The form is too large.", {"connection": "close"})
    try:
        return _filled_in(parse_qsl(body.decode("utf-8"), strict_parsing=bool(body)))
    except ValueError as error:
        raise HTTPException(400, "This is no form.") from error


def _looked_at(path: Path) -> tuple[FirstRows, str, str]:
    """Return the first rows of a file, why there are none, and the kind that its columns say."""
    try:
        rows, problem = first_rows(path), ""
    except InputError as error:
        rows, problem = FirstRows((), []), error.message.flags
    kind = columns_of(path, None).kind
    return rows, problem, "" if kind is None else kind_of(kind).name
