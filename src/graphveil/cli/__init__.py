"""The command line: one command per verb.

Exit codes: 0 done, 1 a claim does not hold, 2 the input or the options cannot be used,
3 interrupted or out of resources, 70 a bug of ours.
"""

from __future__ import annotations

import errno
import io
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from graphveil.core import lazy
from graphveil.core.errors import GraphveilError, GraphveilWarning, InputError
from graphveil.core.libraries import pa

SHOWN_WARNINGS = 2
"""So many warnings of a run are said without --all."""
OUT_OF_RESOURCES = 3
BUG = 70
READERS = (
    *("describe", "measure", "advise", "anonymize", "verify", "evaluate", "attack", "report"),
    *("convert", "demo", "sweep"),
)
"""The commands that read data."""
ORIGINALS = ("verify", "evaluate", "attack", "report")
"""The commands that read a release, and its original if it is given."""
INTERRUPTED = "interrupted. Run the command again to start over."
NO_RELEASE = "interrupted. No incomplete release was written; run the command again to start over."
MAKERS = ("anonymize", "demo")
"""The commands that write a release; what others are interrupted in concerns none."""
SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")  # the last one is of terminals that close
    if hasattr(signal, name)
]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in tokens
    if debug:
        tokens.remove("--debug")
    try:
        if arguments is None:
            _leave_out(tokens)
        code = run(tokens, debug=debug)
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # all is done and said; the rest takes no time
    except KeyboardInterrupt:  # between what `run` catches
        code = _fail(_stopped(tokens), OUT_OF_RESOURCES)
    exec("")  # noqa: S102  else `python -m` ends by SIGINT if text, as of a dataclass, was interrupted
    sys.exit(code)


def _leave_out(tokens: Sequence[str]) -> None:
    """Keep out of this process, which is the command's alone, what no command needs."""
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # else idle threads spin: .3 s of CPU
    if {"--help", "-h"} & set(tokens):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that wait cost .2 s of CPU
        return
    if tokens and tokens[0] in READERS:
        with lazy.absent("pandas"):
            pa.array([0])  # here Arrow decides whether there is pandas, to look for its types


def run(tokens: list[str], *, debug: bool = False) -> int:
    """Run one command and return its exit code; every foreseen failure is one line on stderr."""
    interrupted = _install_handlers()
    try:
        from graphveil.cli.app import call  # noqa: PLC0415  importing graphveil.cli stays cheap

        code = call(tokens)
        say_warnings()
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody's pipe takes what is still to be written when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        say_warnings()
        return 0
    except KeyboardInterrupt:
        return _fail(_stopped(tokens), OUT_OF_RESOURCES)
    except Exception as error:  # noqa: BLE001  the last line of defense: one line, exit code 70
        if interrupted.is_set():  # libraries make errors of their own out of a signal
            return _fail(_stopped(tokens), OUT_OF_RESOURCES)
        if debug:
            print(_all_visible(traceback.format_exc()), file=sys.stderr)  # noqa: T201  for developers
        return _fail(*_explained(error, tokens))
    return code


def _stopped(tokens: Sequence[str]) -> str:
    """Return what an interrupt means for what the command writes."""
    return NO_RELEASE if tokens and tokens[0] in MAKERS else INTERRUPTED


def _elsewhere(tokens: Sequence[str]) -> str:
    """Return where a flag is that a method of tables does not have; empty for other commands."""
    from graphveil.core.parameters import OF_GENERALIZE  # noqa: PLC0415  as above

    if tokens[:1] != ["anonymize"] or tokens[1:2] == ["generalize"]:
        return ""
    flags = {token.partition("=")[0] for token in tokens}
    return next((f" {said}" for name, said in OF_GENERALIZE.items() if f"--{name}" in flags), "")


def _misused(error: Exception, tokens: Sequence[str]) -> str:
    """Return the one line for a command line that is not one, with what was probably meant."""
    said, kind = _one_line(error), type(error).__name__
    missing = re.search(r" parameter (--[\w-]+) requires an argument\.", said)
    if missing and missing[1] not in {token.partition("=")[0] for token in tokens}:
        name = "NAME" if missing[1].startswith("--out") else "VALUE"
        given = f": {missing[1]} is required. Add {missing[1]} {name}."
        return said.replace(missing[0], given)
    if kind == "UnknownCommandError" and tokens[:1] == ["anonymize"] and Path(tokens[1]).is_file():
        return f"{tokens[1]} is a file: name a method first. graphveil advise FILE compares them."
    unused = re.fullmatch(r"Unused Tokens: \['([^']*)'\]\.", said)
    if kind == "UnusedCliTokensError" and unused:
        compared = tokens[0] in ORIGINALS and "--original" not in tokens
        meant = f" Did you mean --original {unused[1]}?" if compared else " Remove it."
        return f"{unused[1]} is not an option or a command.{meant}"
    return said


def _explained(error: Exception, tokens: Sequence[str]) -> tuple[str, int]:
    """Return the one line for an error of a command of these tokens, and the exit code."""
    from cyclopts import CycloptsError  # noqa: PLC0415  as above

    match error:
        case CycloptsError():
            said = f"{_misused(error, tokens)}{_elsewhere(tokens)}"
            return f"{said} Run graphveil --help for usage.", 2
        case InputError() if error.asked and tokens[:1] != ["sweep"]:  # which reads by its grid
            return " ".join(error.command(tokens).split("\n")), error.exit_code
        case GraphveilError():
            return _one_line(error), error.exit_code
        case MemoryError():
            return (
                "out of memory. Use a machine with more memory, or less data (for large "
                "data: --on-disk)."
            ), OUT_OF_RESOURCES
        case OSError():
            return _operating_system(error), OUT_OF_RESOURCES
        case _:
            return (
                f"internal error: {type(error).__name__}: {_one_line(error)}. This is a bug in "
                "graphveil; please report it with the command and the output of --debug."
            ), BUG


heard: list[tuple[int, str]] = []
"""What this run warned of and has not said yet, each with its rank."""


def say_warnings(*, every: bool = False) -> None:
    """Say on stderr the two warnings that weigh most, or every one; a run ends with this."""
    texts = [text for _, text in sorted(heard, key=lambda one: one[0])]
    heard.clear()
    for text in texts if every else texts[:SHOWN_WARNINGS]:
        print(f"graphveil: warning: {text}.", file=sys.stderr)  # noqa: T201  the command line speaks here
    remarks = 0 if every else len(texts) - SHOWN_WARNINGS
    if remarks > 0:
        more = "1 more note" if remarks == 1 else f"{remarks} more notes"
        print(f"graphveil: {more} (show with --all).", file=sys.stderr)  # noqa: T201  as above


def _install_handlers() -> threading.Event:
    """Make a termination an interrupt, and keep our warnings; return what notes the former."""
    interrupted = threading.Event()
    heard.clear()

    def interrupt(*_: object) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        *_: Any,
        **_more: Any,
    ) -> None:
        if issubclass(category, GraphveilWarning):
            heard.append((category.rank, _visible(_spoken(message))))
        else:
            lines = warnings.formatwarning(message, category, filename, lineno)
            print(_all_visible(lines), file=sys.stderr)  # noqa: T201  of libraries

    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    warnings.showwarning = show
    warnings.simplefilter("always", GraphveilWarning)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return interrupted


def _fail(text: str, code: int) -> int:
    say_warnings()
    print(f"graphveil: error: {_visible(text)}", file=sys.stderr)  # noqa: T201  the one line of a failure
    return code


def _one_line(error: BaseException) -> str:
    return " ".join(_spoken(error).split())


def _spoken(problem: BaseException | str) -> str:
    if isinstance(problem, GraphveilError | GraphveilWarning):
        return problem.message.flags
    return str(problem)


def _visible(text: str) -> str:
    from graphveil.core.visible import visible  # noqa: PLC0415  importing graphveil.cli stays cheap

    return visible(text)


def _all_visible(text: str) -> str:
    from graphveil.core.visible import visible_lines  # noqa: PLC0415  as above

    return visible_lines(text.removesuffix("\n"))


def _operating_system(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return "no space left on the disk. Free some space, or choose another folder."
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or _one_line(error)}. Nothing was written."
