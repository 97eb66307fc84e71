"""`graphveil serve [FOLDER]`: the way from a file to a release, in a browser on this machine."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from graphveil.cli.console import result, say
from graphveil.cli.flags import flag, with_signature
from graphveil.core.errors import UsageError

NO_LIBRARY = "serve needs Starlette and uvicorn. Install the extra: pip install 'graphveil[serve]'."


def _run(path: Path, **given: Any) -> int:
    try:
        from graphveil.app.server import listening, server_of  # noqa: PLC0415  not for its help
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("starlette", "uvicorn", "h11"):
            raise UsageError(NO_LIBRARY) from error
        raise
    from graphveil.app.folder import Folder  # noqa: PLC0415  as above

    folder = Folder.at(path)
    try:
        bound = listening(given["port"])
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"port {given['port']} cannot be opened: {getattr(error, 'strerror', error)}. Choose "
            "another one, or leave --port out."
        ) from error
    server, address = server_of(folder, bound)
    result(address)
    say("open this address in a browser on this machine. Ctrl-C ends the page and what it runs.")
    if given["open"]:
        import webbrowser  # noqa: PLC0415  for this alone

        webbrowser.open(address)
    server.run(sockets=[bound])
    return 0


command = with_signature(
    _run,
    [
        inspect.Parameter(
            "folder",
            inspect.Parameter.POSITIONAL_ONLY,
            default=Path(),
            annotation=Annotated[
                Path, Parameter(help="The folder that your files lie in, and releases go to.")
            ],
        ),
        flag("port", int, "The port of this machine; 0 for one that is free.", default=0),
        flag("open", bool, "Open the address in the browser.", default=False, negative=""),
    ],
    name="serve",
    text="The whole way in a browser, for who does not use a command line.\n\n"
    "Choose a file, say what its columns are, see who stands out, choose by bounds, compare, "
    "release, check and report. Every screen names its command. Only this machine reaches the "
    "page, and only with the token in the address; it never leaves the one folder.\n\n"
    "Needs the extra: pip install 'graphveil[serve]'.\n\n"
    "Example: graphveil serve my-data",
)
