"""Names of features that come from columns: ``column=value``, written and read back."""

from __future__ import annotations

import re

_ESCAPED = re.compile(r"\\(?=[\\=]|\Z)|=")
_FEATURE = re.compile(r"((?:\\[\\=]|[^=])*)=(.*)", re.DOTALL)


def feature_named(column: str, value: object) -> str:
    r"""Return the name of the feature for a value of a column, ``column=value``.

    `column_and_value` reads it back, whatever both hold: an equals sign in the name of the column
    has a backslash before it.

    >>> feature_named("age", 30), feature_named("age>=18", "yes")
    ('age=30', 'age>\\=18=yes')
    """
    escaped = _ESCAPED.sub(lambda match: "\\" + match.group(), column)
    return f"{escaped}={value}"


def column_and_value(feature: object) -> tuple[str, str] | None:
    r"""Return the column and the value that a feature is named after; None where it is not.

    >>> column_and_value("age>\\=18=yes"), column_and_value("a=b=c"), column_and_value("tea")
    (('age>=18', 'yes'), ('a', 'b=c'), None)
    """
    read = _FEATURE.fullmatch(str(feature))
    return None if read is None else (re.sub(r"\\([\\=])", r"\1", read[1]), read[2])
