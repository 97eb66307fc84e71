"""The columns that a call of `generalize` names: their roles, and those that rules are for.

These are the roles of the function on frames, which also takes columns to drop. The method
`Generalize` states roles by `graphveil.methods.roles.TableRoles` instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from graphveil.core.errors import ParameterError
from graphveil.core.hints import option
from graphveil.core.text import counted
from graphveil.methods.roles import check_column


def known_columns(
    every: Sequence[str], known: Sequence[str] | None, attach: Sequence[str], drop: Sequence[str]
) -> list[str]:
    """Return the known columns in the order of the table, or refuse roles that do not suit it.

    `every`: the columns of the table; `known`, `attach`, `drop`: those of each role. Without
    `known`, all others are known; with it, every column needs a role.
    """
    # Each name must be a column, with one role.
    roles = {"known": known or (), "attach": attach, "drop": drop}
    for role, names in roles.items():
        if isinstance(names, str):
            raise ParameterError(f"{role}={names!r} is a text. Use a list of columns.")
        check_named(role, dict.fromkeys(names), every, every)
    for name, times in Counter(name for names in roles.values() for name in names).items():
        if times > 1:
            given = [role for role, names in roles.items() if name in names]
            raise ParameterError(
                f"column {name!r} is listed twice, in {' and '.join(given)}. Give it one role."
            )
    # The rest is known by default, and refused if only some are listed as known.
    rest = [name for name in every if name not in attach and name not in drop]
    if known is None:
        wanted = rest
    else:
        wanted = [name for name in every if name in known]
        others = [name for name in rest if name not in known]
        if others:
            raise ParameterError(
                f"no role for {', '.join(others)}. List each in {option('known')}, "
                f"{option('attach')} or {option('drop')}."
            )
    if not wanted:
        raise ParameterError(
            f"none of the {counted(len(every), 'column')} is known to an attacker. List at least "
            f"one in {option('known')}."
        )
    return wanted


def check_named(
    what: str, given: Mapping[str, object], columns: Sequence[str], every: Sequence[str]
) -> None:
    """Refuse names that are not among `columns`; `every` has all columns of the table.

    `what`: the option that names them, for messages.
    """
    for name in given:
        if name in columns:
            continue
        if name in every:
            raise ParameterError(f"{what} names the column {name!r}, which is not a known column.")
        if "," in name and "=" in name:  # several rules after one flag
            raise ParameterError(
                f"no column {name!r} for {what}. Repeat {option(what)} for each column instead of "
                "separating rules by commas."
            )
        check_column(name, what, every)
