"""The server: this machine alone reaches it, and no client keeps it waiting."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphveil.app.folder import Folder
from graphveil.app.guard import Guard
from graphveil.app.screens import Screens, application

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


def server_of(folder: Folder, bound: socket.socket) -> tuple[uvicorn.Server, str]:
    """Return the server of a folder, and the address that opens it."""
    screens = Screens(folder)

    @contextlib.asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        yield
        await screens.jobs.close()

    app = application(screens)
    app.router.lifespan_context = life
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
