"""What becomes of the working folder of a run that ends before its release stands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from graphveil.errors import GraphveilError, ReleaseError, ResourceError, warn
from graphveil.on_disk.working import Working
from graphveil.warning_kinds import LeftoverWarning


@contextmanager
def kept_where_interrupted(working: Working, *, once: str = "") -> Iterator[None]:
    """Delete the working folder where the same call would fail again; else say where it is.

    Parameters
    ----------
    working
        The folder.
    once
        A stage that is not to be done again: once it is done, nothing is deleted.

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
    except ReleaseError:  # something stands in the way, and is no fault of the rows
        _say_where(working, once="what stands in the way is gone")
        raise
    except OSError as error:
        _say_where(working)
        raise ResourceError(
            f"{working.folder} cannot be written ({error.strerror or error}). Free space, and run "
            "the same command again."
        ) from error
    except GraphveilError:
        if once and working.is_done(once):
            _say_where(working)
        else:
            working.remove()
        raise
    except BaseException:
        _say_where(working)
        raise
    finally:
        working.close()


def _say_where(working: Working, *, once: str = "") -> None:
    goes_on = "the same command goes on from there" + (f", once {once}" if once else "")
    where, all_of_it = working.folders
    message = (
        f"the unfinished run is kept in {where}, for its owner alone: {goes_on}. Delete "
        f"{all_of_it} to give up"
    )
    warn(message, LeftoverWarning)
