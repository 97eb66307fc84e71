"""The server of a page: this machine alone reaches it, and of it the browser that opened it.

Every page of the web can send requests to a port of this machine, and every user of this machine
can open it. So the Host must be ours (a foreign name may have been made to point here), and what
changes something must come from our own pages (its Origin says so). A code opens the page once: it
is answered with a cookie that a browser sends to a path of this server alone, since cookies know
no ports, and no other service knows the path. The path alone opens nothing. Strangers, who have no
cookie, are few at a time and do not stay, so that they keep nobody waiting.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

LARGEST_FORM = 1 << 18
"""The most bytes of what is sent in a form."""

LARGEST_UPLOAD = 1 << 30
"""The most bytes of a file that is sent."""

READ_TO_THE_END = 1 << 20
"""A form that is too large is read up to so many bytes: else its sender hears nothing."""

FORM_SECONDS = 10.0
"""So long a form may take to arrive."""

SHEET = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)
"""What a page of the folder may do: nothing but look as it does. Others may have written it."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
OPEN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><link rel="icon" href="data:,"><title>graphveil</title>
<meta http-equiv="refresh" content="0;url={path}/"></head>
<body><p><a href="{path}/">Open the page</a></p></body></html>
"""
"""What the code answers: the next request comes from here, with the cookie."""

USED = (
    "This address was used, or belongs to an earlier session. Press Enter in the terminal for a "
    "new one."
)
FOREIGN = "This request came from a different page. Reload this page and try again."


class Guard:
    """An application that only the browser with the cookie reaches, below a path nobody knows."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.port = port
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.path = f"/s-{secrets.token_urlsafe(12)}"
        self.key = secrets.token_urlsafe(32)
        self.code = ""
        self.strangers: dict[Any, Door] = {}

    def new_address(self) -> str:
        """Return an address that opens the page once; an earlier one opens nothing any more."""
        self.code = secrets.token_urlsafe(16)
        return f"http://127.0.0.1:{self.port}/open?code={self.code}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        answer = self._answer(scope)
        if answer is not None:
            await answer(scope, receive, _with_headers(send))
            return
        self.strangers.pop(scope["client"], None)
        await self.app({**scope, "root_path": self.path}, receive, _with_headers(send))

    def _answer(self, scope: Scope) -> Response | None:
        """Return what a request gets that does not reach the application."""
        request, headers = Request(scope), Headers(scope=scope)
        host, path, method = headers.get("host", ""), scope["path"], scope["method"]
        if host not in self.hosts:
            return _refused("Open the address shown in the terminal.", 421)
        if path == "/open" and method == "GET":
            codes = request.query_params.getlist("code")
            if self.code and any(_same(code, self.code) for code in codes):
                return self._opened()
        key = request.cookies.get(COOKIE, "")
        if not path.startswith(f"{self.path}/") or not _same(key, self.key):
            return _refused(USED, 403)
        here = headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        if not here or (method == "POST" and headers.get("origin") != f"http://{host}"):
            return _refused(FOREIGN, 403)
        if method not in ("GET", "HEAD", "POST"):
            return _refused("Method not allowed.", 405)
        return None

    def _opened(self) -> Response:
        self.code = ""
        answer = HTMLResponse(OPEN.format(path=self.path))
        answer.set_cookie(COOKIE, self.key, httponly=True, samesite="strict", path=self.path)
        return answer


COOKIE = "graphveil"


def _same(given: str, true: str) -> bool:
    return hmac.compare_digest(given.encode(), true.encode())


def _refused(text: str, code: int) -> Response:
    return PlainTextResponse(f"{text}\n", code)


def _with_headers(send: Send) -> Send:
    """Return what sends an answer with the headers that every answer has."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", POLICY)
            for name in ("referrer", "cross-origin-opener", "cross-origin-resource"):
                headers[f"{name}-policy"] = "same-origin"
            headers["x-content-type-options"] = "nosniff"
            headers["cache-control"] = "no-store"
            headers["x-frame-options"] = "DENY"
        await send(message)

    return sending


MOST_STRANGERS = 32
"""So many connections that have shown no cookie are kept; the oldest goes first."""

STRANGER_SECONDS = 5.0
"""So long such a connection may stay."""


class Door(H11Protocol):
    """HTTP, where a client that shows no cookie is left after a while."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count a stranger, and leave the one that has been here longest if there are too many."""
        super().connection_made(transport)
        guard: Any = self.config.app
        self.strangers: dict[Any, Door] = guard.strangers
        self.strangers[self.client] = self
        if len(self.strangers) > MOST_STRANGERS:
            next(iter(self.strangers.values())).leave()
        self.loop.call_later(STRANGER_SECONDS, self.leave)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget who has gone."""
        if self.strangers.get(self.client) is self:
            del self.strangers[self.client]
        super().connection_lost(exc)

    def leave(self) -> None:
        """Close the connection, if it is still a stranger's."""
        if self.strangers.get(self.client) is self:
            del self.strangers[self.client]
            self.transport.close()


def listening(port: int) -> socket.socket:
    """Return a socket of this machine alone; port 0 is any that is free."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
        bound.listen()
    except OSError:
        bound.close()
        raise
    return bound


def server_of(app: ASGIApp, bound: socket.socket) -> tuple[uvicorn.Server, Guard]:
    """Return the server of an application, and the guard that gives the address."""
    guard = Guard(app, bound.getsockname()[1])
    config: Any = uvicorn.Config(
        guard,
        http=Door,
        ws="none",
        interface="asgi3",
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=1 << 14,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config), guard


def _broken_off(code: int, why: str) -> HTTPException:
    return HTTPException(code, why, {"connection": "close"})


async def form_of(request: Request) -> list[tuple[str, str]]:
    """Return the names and values that a form sends."""
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
        raise _broken_off(408, "The form took too long to send. Try again.") from error
    if size > LARGEST_FORM:
        raise _broken_off(413, "The form is too large. Shorten the entries and try again.")
    try:
        return parse_qsl(body.decode("utf-8"), keep_blank_values=True, strict_parsing=bool(body))
    except ValueError as error:
        why = "This request is not a form. Reload the page and try again."
        raise HTTPException(400, why) from error


async def upload_of(request: Request, path: Path) -> None:
    """Write what a form with one file sends into a file, as it comes.

    On a full disk the rest is read, too: else its sender hears nothing.
    """
    size, why = 0, "The file is larger than 1 GiB. Unpack it into the folder instead."
    failed: OSError | None = None
    with path.open("xb") as file:
        async for part in request.stream():
            size += len(part)
            if size > LARGEST_UPLOAD:
                raise _broken_off(413, why)
            try:
                file.write(b"" if failed else part)
            except OSError as error:
                failed = error
    if failed:
        raise failed


def sandboxed(page: bytes) -> Response:
    """Return the answer that shows a page of the folder; what stands in it reaches nothing."""
    return HTMLResponse(page, headers={"content-security-policy": SHEET})
