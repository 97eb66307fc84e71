"""Who may talk to the page: the browser that has the token, from the page itself, on this machine.

Every page of the web can send requests to a port of this machine, and every user of this machine
can open it. So the Host must be ours (a foreign name may have been made to point here), a cookie
must hold the token, and what changes something must come from our own pages (its Origin says so).
"""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
            return _refused("This page has another name. Open the address on the terminal.", 421)
        if scope["path"] == "/" and scope["method"] == "GET":
            tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
            if any(self._is_token(token) for token in tokens):
                return self._opened()
        if not self._is_token(self._cookie_in(headers)):
            return _refused("Open the address that the terminal shows, in this browser.", 403)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _refused("This came from another page.", 403)
        if scope["method"] == "POST" and headers.get("origin") != f"http://{host}":
            return _refused("This came from another page.", 403)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _refused("Pages are read and forms are sent, nothing else.", 405)
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
