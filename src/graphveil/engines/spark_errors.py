"""What Spark gives up, said in a line: what its user can do, or what is ours to mend."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from graphveil.errors import ResourceError, UsageError

_PYTHON_ERROR = re.compile(
    r"^\s*(?!(?:com|java|javax|org|py4j|scala|sun)\.)"
    r"((?:\w+\.)*\w*(?:Error|Exception|Interrupt)\b: .*)$",
    re.MULTILINE,
)
"""The last line of a traceback of Python, among those of the JVM, whose classes have other names.

A session may show them, as `spark.sql.pyspark.jvmStacktrace.enabled` says.
"""
_CALLING = re.compile(r"^An error occurred while calling .*\n: (?:[\w.$]+: )?")
_CAUSED = re.compile(r"^\s*Caused by: (?:(?:\w+\.)+[\w$]+: )*(.*\S)", re.MULTILINE)
"""What the JVM says of what lies behind an error, without the names of its classes."""
_OURS = re.compile(r"graphveil\.errors\.(UsageError|ResourceError): (.*)")
_OF_RESOURCES = ("MemoryError", "OSError", "IOError")


@contextmanager
def spoken(doing: str) -> Iterator[None]:
    """Say in a line what Spark gave up.

    Raises
    ------
    UsageError
        Where executors lack graphveil, or a place refuses them.
    ResourceError
        Where Spark gave up for want of something, or a place is not reached.
    RuntimeError
        Where our own code failed on an executor.
    """
    try:
        yield
    except Exception as error:
        if not is_of_spark(error):
            raise
        text = str(error)
        if "No module named 'graphveil" in text:
            raise UsageError(
                "executors have no graphveil. Install it there, in the version of this process."
            ) from error
        failed = _PYTHON_ERROR.findall(text)
        ours = _OURS.fullmatch(failed[-1]) if failed else None
        if ours is not None:
            kind = UsageError if ours[1] == UsageError.__name__ else ResourceError
            raise kind(f"executors: {ours[2]}") from None
        if failed and not failed[-1].startswith(_OF_RESOURCES):
            raise RuntimeError(f"{doing}: {failed[-1]}") from None
        raise ResourceError(
            f"Spark gave up {doing}: {failed[-1] if failed else _reason(error)}. See to it, "
            "and run the same command again: it goes on from there."
        ) from error


def is_of_spark(error: Exception) -> bool:
    """Whether Spark raised an error, or what this process reaches it by."""
    return type(error).__module__.startswith(("pyspark", "py4j"))


def first_line(error: Exception) -> str:
    r"""Return what an error of Spark says first, without the names of the JVM.

    Examples
    --------
    >>> first_line(Exception("An error occurred while calling o1.load.\n: a.b.Some: No file.\nat"))
    'No file'
    """
    line = _CALLING.sub("", str(error)).strip().partition("\n")[0]
    return line.rstrip(".;")


def _reason(error: Exception) -> str:
    """Return what an error of Spark says first, and what lies behind it."""
    first, causes = first_line(error), _CAUSED.findall(str(error))
    return first if not causes or causes[-1] in first else f"{first}; {causes[-1]}"
