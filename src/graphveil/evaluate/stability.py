"""Whether a property is preserved over several releases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphveil.errors import ParameterError

WITHIN = 0.05


def preserved(original: float, values: Sequence[float]) -> bool:
    """Return whether the change of the mean and one standard deviation stay below 5 %.

    Parameters
    ----------
    original
        The property of the original.
    values
        The same property of one release a run.

    Raises
    ------
    ParameterError
        Where there is no value.

    Notes
    -----
    ``|mean - original| + sd < 0.05 |original|``, with the sample standard deviation, 0 for a single
    value. Where the original is 0, only 0 preserves it. De Jong et al., section 6.6.

    Examples
    --------
    >>> preserved(0.220, [0.212, 0.214, 0.213]), preserved(0.220, [0.190, 0.230])
    (True, False)
    """
    if len(values) == 0:
        raise ParameterError("preserved needs at least one value. Give one for each run.")
    figures = np.asarray(values, dtype=np.float64)
    if original == 0:
        return bool(np.all(figures == 0))
    deviation = float(figures.std(ddof=1)) if figures.size > 1 else 0.0
    return bool(abs(figures.mean() - original) + deviation < WITHIN * abs(original))
