"""The server of a page: this machine alone reaches it, and of it the browser that has the token.

Every page of the web can send requests to a port of this machine, and every user of this machine
can open it. So the Host must be ours (a foreign name may have been made to point here), a cookie
must hold the token, and what changes something must come from our own pages (its Origin says so).
No client keeps the others waiting.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, parse_qsl

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

LARGEST_FORM = 1 << 16
"""The most bytes of what is sent in a form."""

READ_TO_THE_END = 1 << 20
"""A form that is too large is read up to so many bytes: else its sender hears nothing."""

FORM_SECONDS = 10.0
"""So long a form may take to arrive."""

SHEET = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a page of the folder may do: nothing but look as it does. Others may have written it."""

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
OPEN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>graphveil</title>
<meta http-equiv="refresh" content="0;url=/"></head>
<body><p><a href="/">Open the page</a></p></body></html>
"""
"""What the address with the token answers: the next request comes from here, with the cookie."""


class Guard:
    """An application that only the browser with the token reaches.

    Parameters
    ----------
    app
        The application.
    port
        The port that it answers on.
    token
        What the browser must know; without it a new one.
    """

    def __init__(self, app: ASGIApp, port: int, token: str | None = None) -> None:
        self.app = app
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.token = token or secrets.token_urlsafe(32)
        self.cookie = f"graphveil-{port}"

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
        else:
            await self.app(scope, receive, _with_headers(send))

    def _answer(self, scope: Scope) -> Response | None:  # noqa: PLR0911  one for each refusal
        """Return what a request gets that does not reach the application."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self.hosts:
            return _refused("Open the address shown in the terminal.", 421)
        if scope["path"] == "/" and scope["method"] == "GET":
            tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
            if any(self._is_token(token) for token in tokens):
                return self._opened()
        if not self._is_token(self._cookie_in(headers)):
            return _refused("Open the address shown in the terminal in this browser.", 403)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _refused(
                ("This request came from a different page. Reload this page and try again."), 403
            )
        if scope["method"] == "POST" and headers.get("origin") != f"http://{host}":
            return _refused(
                ("This request came from a different page. Reload this page and try again."), 403
            )
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _refused("Method not allowed.", 405)
        return None

    def _opened(self) -> Response:
        answer = HTMLResponse(OPEN)
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return answer

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.token.encode())

    def _cookie_in(self, headers: Headers) -> str:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return ""
        return cookies[self.cookie].value if self.cookie in cookies else ""


def _refused(text: str, code: int) -> Response:
    return PlainTextResponse(f"{text}\n", code)


def _with_headers(send: Send) -> Send:
    """Return what sends an answer with the headers that every answer has."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", POLICY)
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "same-origin"
            headers["cache-control"] = "no-store"
            headers["cross-origin-opener-policy"] = "same-origin"
            headers["cross-origin-resource-policy"] = "same-origin"
            headers["x-frame-options"] = "DENY"
        await send(message)

    return sending


HEAD_SECONDS = 10.0
"""So long a client may take to send the head of its first request."""

MOST_CONNECTIONS = 64


class PatientForAWhile(H11Protocol):
    """HTTP, where a client that connects and does not ask is left."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self.loop.call_later(HEAD_SECONDS, self._leave)

    def _leave(self) -> None:
        has_asked = getattr(self, "cycle", None) is not None
        if not has_asked and not self.transport.is_closing():
            self.transport.close()


def listening(port: int) -> socket.socket:
    """Return a socket of this machine alone; port 0 is any that is free.

    Raises
    ------
    OSError
        Where the port is taken.
    """
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
        bound.listen()
    except OSError:
        bound.close()
        raise
    return bound


def server_of(app: ASGIApp, bound: socket.socket) -> tuple[uvicorn.Server, str]:
    """Return the server of an application, and the address that opens it.

    Parameters
    ----------
    app
        An ASGI application, which nobody guards yet. It hears of start and end (``lifespan``).
    bound
        A socket, such as `listening` returns.
    """
    port = bound.getsockname()[1]
    guard = Guard(app, port)
    config: Any = uvicorn.Config(
        guard,
        http=PatientForAWhile,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=1 << 14,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config), f"http://127.0.0.1:{port}/?token={guard.token}"


async def form_of(request: Request) -> list[tuple[str, str]]:
    """Return the names and values that a form sends.

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
        raise HTTPException(
            408, "The form took too long to send. Try again.", {"connection": "close"}
        ) from error
    if size > LARGEST_FORM:
        raise HTTPException(
            413,
            "The form is too large. Shorten the entries and try again.",
            {"connection": "close"},
        )
    try:
        return parse_qsl(body.decode("utf-8"), strict_parsing=bool(body))
    except ValueError as error:
        raise HTTPException(
            400, "This request is not a form. Reload the page and try again."
        ) from error


def sandboxed(page: bytes) -> Response:
    """Return the answer that shows a page of the folder; what stands in it reaches nothing."""
    return HTMLResponse(page, headers={"content-security-policy": SHEET})
