"""People who are not in a release, and what is asked of them: tasks are tested on them alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphveil.core.errors import UsageError
from graphveil.core.text import counted
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import HeldBackWarning
from graphveil.data import Bipartite, Data
from graphveil.data.feature_names import column_and_value
from graphveil.data.ids import as_text
from graphveil.data.kinds import as_original, encoded, kind_of
from graphveil.evaluate.comparison import Attached, Bools, HeldBack

IDS_UNKNOWN = (
    "the test data or the original has no ids, so an overlap between them could not be ruled "
    "out. If test people are in the release, a task can find their own answers there"
)


def held_back(
    test: Any,
    original: Data,
    *,
    label: str | None = None,
    attached: Attached | None = None,
    exact: bool = False,
) -> HeldBack:
    """Return held-back people; refuse such as are in the original, as far as ids tell.

    Warns where one side has no ids, so that nothing can be known.
    """
    read = as_original(test, type(original), wanted_by="evaluate", exact=exact)
    if None in {kind_of(read).as_table, kind_of(original).as_table}:
        raise UsageError("tasks require user-item data or a table, not a network.")
    _check_ids(read, original)
    if attached is not None and attached.value.size != original.size:
        raise UsageError(
            f"the attached column {attached.name!r} has {counted(attached.value.size, 'value')}, "
            f"but the original has {counted(original.size, 'person')}. Give one value per person, "
            "in the order of the original."
        )
    return HeldBack(encoded(read, Bipartite), label, attached)


def _check_ids(test: Data, original: Data) -> None:
    """Refuse test people who are in the original; warn where that cannot be known."""
    if any(getattr(data, kind_of(data).ids) is None for data in (test, original)):
        warn(IDS_UNKNOWN, HeldBackWarning)
        return
    known = set(as_text(original.labels()).tolist())
    both = [name for name in as_text(test.labels()).tolist() if name in known]
    if both:
        raise UsageError(
            f"{len(both):,} of {test.size:,} test people are in the original, such as "
            f"{both[0]!r}. Use test people who are not in the original."
        )


def names_of(data: Bipartite, label: str | None) -> Bools:
    """Return which features are values of the label: those named ``label=value``."""
    split = [column_and_value(name) for name in as_text(data.feature_labels()).tolist()]
    return np.array([named is not None and named[0] == label for named in split], bool)
