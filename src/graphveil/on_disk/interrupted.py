"""What becomes of the working folder of a run that ends before its release stands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from graphveil.errors import GraphveilError, ResourceError, warn
from graphveil.on_disk.working import Working
from graphveil.warning_kinds import LeftoverWarning


@contextmanager
def kept_where_interrupted(working: Working) -> Iterator[None]:
    """Delete the working folder where the same call would fail again; else say where it is.

    Raises
    ------
    ResourceError
        Where the disk fails.
    """
    try:
        yield
    except ResourceError:
        _say_where(working)
        raise
    except OSError as error:
        _say_where(working)
        raise ResourceError(
            f"{working.folder} cannot be written ({error.strerror or error}). Free space, and run "
            "the same command again."
        ) from error
    except GraphveilError:
        working.remove()
        raise
    except BaseException:
        _say_where(working)
        raise
    finally:
        working.close()


def _say_where(working: Working) -> None:
    message = (
        f"the unfinished run is kept in {working.folder}, for its owner alone: the same command "
        "goes on from there. Delete it to give up"
    )
    warn(message, LeftoverWarning)
