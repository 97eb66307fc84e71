"""What scikit-learn asks of an estimator: its parameters, and a table in for a table out."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NoReturn, Self

from graphveil.core.errors import UsageError
from graphveil.core.parameters import unknown_parameter
from graphveil.data import Table

if TYPE_CHECKING:
    from graphveil.release import Release


def _set(method: Estimator, name: str, value: object) -> None:
    """Set an attribute that is not a parameter: scikit-learn notes its own on a step that runs."""
    _check_not_public(name)
    object.__setattr__(method, name, value)


def _delete(method: Estimator, name: str) -> None:
    """Delete such an attribute."""
    _check_not_public(name)
    object.__delattr__(method, name)


def _check_not_public(name: str) -> None:
    if not name.startswith("_"):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


class Estimator:
    """A method as ``sklearn.base.clone`` and ``Pipeline`` use it. It keeps nothing of the data.

    Parameters are frozen, but a pipeline sets private attributes on each step while it runs. A
    frozen dataclass refuses these too, so both checks are replaced once the class is complete.
    """

    def __new__(cls) -> Self:
        """Make an instance whose parameters alone are frozen."""
        for name, check in (("__setattr__", _set), ("__delattr__", _delete)):
            if vars(cls).get(name) is not check:
                setattr(cls, name, check)
        return super().__new__(cls)

    if TYPE_CHECKING:

        def anonymize(self, data: Any, *, seed: int | None = None) -> Release[Any]:
            """Return a release of the data."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002  scikit-learn's
        """Return every parameter by name, as the class takes it.

        `deep`: accepted for scikit-learn; options of a parameter are one value.

        Examples
        --------
        >>> import graphveil as gv
        >>> gv.SuppressK(k=5).get_params()["k"]
        5
        """
        del deep
        method: Any = self
        fields = dataclasses.fields(method)
        return {item.name: getattr(self, item.name) for item in fields if item.init}

    def set_params(self, **given: Any) -> Self:
        """Change parameters of this method and return it; the rest stays.

        scikit-learn changes the steps of a pipeline with it. Elsewhere make a new method instead:
        everything that holds this one sees the change.

        `**given`: the new values by name, checked as those of a new method. Raises `ParameterError`
        if a name is unknown, or a value is out of range: then nothing is changed.

        Examples
        --------
        >>> import graphveil as gv
        >>> gv.SuppressK(k=5).set_params(k=7).k
        7
        """
        own = self.get_params()
        unknown = [name for name in given if name not in own]
        if unknown:
            raise unknown_parameter(type(self).__name__, unknown[0], own)
        new = type(self)(**own | given)
        vars(self).clear()
        vars(self).update(vars(new))
        return self

    def fit_transform(self, X: Any, y: None = None, *, seed: int | None = None) -> Any:  # noqa: N803  scikit-learn's
        """Return the released rows of a table in the type that came in, in a new order.

        Use `anonymize` for the release itself, with its guarantee.

        `X`: a table: a frame of pandas, polars, Arrow or DuckDB, or a `Table`; `y`: none. The rows
        of the release are in a new order, so that others would not match them; `seed`: as
        `anonymize` takes it. Returns of pandas, polars or DuckDB, or a `Table`, if `X` is one; else
        an Arrow table. Raises `UsageError` if `y` is given, or the data is not a table.

        Examples
        --------
        >>> import pandas as pd
        >>> import graphveil as gv
        >>> people = pd.DataFrame({"sex": [*"ffmm"], "zip": [*"xxyy"], "job": [*"aabb"]})
        >>> sorted(gv.SuppressK(k=2).fit_transform(people)["sex"])
        ['f', 'f', 'm', 'm']
        """
        if y is not None:
            raise UsageError(
                "y does not match the released rows, because they are in a new order. Add it to "
                "the table as a column, for example as the label."
            )
        release = self.anonymize(X, seed=seed)
        if not isinstance(release.data, Table):
            raise UsageError(
                f"fit_transform takes a table, but the data is a {type(release.data).__name__}. "
                "Use anonymize."
            )
        if isinstance(X, Table):
            return release.data
        library = type(X).__module__.partition(".")[0]
        if library == "pandas":
            return release.to_pandas()
        if library in {"duckdb", "_duckdb"}:
            return release.to_duckdb()
        return release.to_polars() if library == "polars" else release.to_arrow()

    def transform(self, X: Any) -> NoReturn:  # noqa: N803  scikit-learn's
        """Refuse rows that the classes were not formed with; scikit-learn asks for the method.

        Raises `UsageError`: always.
        """
        del X
        raise UsageError(
            f"{type(self).__name__} has no transform for unseen rows: anonymizing rows that the "
            "classes were not formed with protects nobody. Use fit_transform or anonymize."
        )
