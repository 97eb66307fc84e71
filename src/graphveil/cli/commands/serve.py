"""`graphveil serve FOLDER`: the way from a file to a release in a browser on this machine."""

from __future__ import annotations

import inspect
import os
import sys
import tempfile
import threading
import webbrowser
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from graphveil.cli.console import result, say
from graphveil.cli.flags import Flag, flags, with_signature
from graphveil.core.errors import ResourceError, UsageError


def _run(folder: Path, *, port: int, open: bool) -> int:  # noqa: A002  the flag's name
    from graphveil.app.folder import Folder  # noqa: PLC0415  not for its help

    try:
        from graphveil.app.pages import Pages  # noqa: PLC0415  as above
        from graphveil.app.server import listening, server_of  # noqa: PLC0415  as above
    except ModuleNotFoundError as error:
        raise UsageError(
            f"serve needs {error.name}, which is not installed. Install graphveil[serve]."
        ) from error
    pages = Pages(Folder.at(folder))
    try:
        bound = listening(port)
    except (OSError, OverflowError) as error:
        raise ResourceError(f"cannot listen on port {port}: {error}. Use --port 0.") from error
    server, guard = server_of(pages.application(), bound)
    with bound, ExitStack() as stack, suppress(KeyboardInterrupt):
        result(guard.new_address())
        if open:
            _open(guard.new_address(), stack)
        elif sys.stdin is not None and sys.stdin.isatty():
            say("The address works once. Press Enter for a new one, Ctrl-C to stop.")

            def answer_enter() -> None:
                for _ in sys.stdin:
                    result(guard.new_address())

            threading.Thread(target=answer_enter, daemon=True).start()
        server.run(sockets=[bound])
    return 0


def _open(address: str, stack: ExitStack) -> None:
    """Open the address in the browser by a file that forwards: a command line can be read."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="graphveil-"))
    file = Path(folder, "open.html")
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as page:
        page.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={address}">')
    webbrowser.open(file.as_uri())


command = with_signature(
    _run,
    [
        inspect.Parameter(
            "folder",
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=Path(),
            annotation=Annotated[Path, Parameter(help="Folder with your files.")],
        ),
        *flags(
            None,
            {
                "port": Flag(int, "Port on this machine; 0 for any that is free.", default=0),
                "open": Flag(bool, "Open the page in the browser.", default=False),
            },
        ),
    ],
    name="serve",
    text="Go from a file to a release in a browser on this machine.\n\nChoose what each column "
    "is, see who can be singled out, compare strengths, make the release and its report; or "
    "check a release that you received. The printed address works once and only on this "
    "machine; nothing is sent to any other computer.\n\nExample: graphveil serve data --open",
)
