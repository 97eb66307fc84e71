"""A method as a step of scikit-learn; the method itself stays a frozen value."""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn, Self

from graphveil.core.errors import UsageError
from graphveil.core.parameters import unknown_parameter
from graphveil.data import Table
from graphveil.methods.base import Anonymizer


class Estimator:
    """A step of a pipeline that releases the table it is fitted to, by a method.

    `as_estimator` makes one of a method. ``sklearn.base.clone`` and ``set_params`` treat the
    parameters of the method as those of the step. It keeps nothing of the data.

    Parameters
    ----------
    method_class
        The class of the method.
    **parameters
        Its parameters by name, as the class takes them.

    Examples
    --------
    >>> import graphveil as gv
    >>> step = gv.as_estimator(gv.SuppressK(k=5))
    >>> step.set_params(k=7).method.k
    7
    """

    def __init__(self, method_class: type[Anonymizer[Any]], **parameters: Any) -> None:
        """Check the parameters by making the method."""
        self.method_class = method_class
        self.method = method_class(**parameters)
        self._given = parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002  scikit-learn's
        """Return the class of the method and its parameters by name.

        Parameters
        ----------
        deep
            For scikit-learn: no parameter is an estimator.

        Returns
        -------
        dict
            What a new `Estimator` takes.

        Examples
        --------
        >>> import graphveil as gv
        >>> params = gv.as_estimator(gv.SuppressK(k=5)).get_params()
        >>> params["method_class"].__name__, params["k"]
        ('SuppressK', 5)
        """
        del deep
        return {"method_class": self.method_class, **self._given}

    def set_params(self, **given: Any) -> Self:
        """Change parameters of this step and return it; the rest stays.

        Parameters
        ----------
        **given
            New values by name.

        Returns
        -------
        Estimator
            This step, with a new method.

        Raises
        ------
        ParameterError
            If a name is unknown, or a value is out of range: then nothing is changed.

        Examples
        --------
        >>> import graphveil as gv
        >>> method = gv.SuppressK(k=5)
        >>> gv.as_estimator(method).set_params(k=7).method.k, method.k
        (7, 5)
        """
        own = self.get_params()
        unknown = [name for name in given if name not in own]
        if unknown:
            raise unknown_parameter(self.method_class.__name__, unknown[0], own)
        new = type(self)(**own | given)
        vars(self).update(vars(new))
        return self

    def fit_transform(self, X: Any, y: None = None, *, seed: int | None = None) -> Any:  # noqa: N803  scikit-learn's
        """Return the released rows of a table in the type that came in, in a new order.

        Use `Anonymizer.anonymize` for the release itself, with its guarantee.

        Parameters
        ----------
        X
            A table: a frame of pandas, polars, Arrow or DuckDB, or a `Table`.
        y
            None: the rows of the release are in a new order, so that others would not match them.
        seed
            As `anonymize` takes it.

        Returns
        -------
        frame
            Of pandas, polars or DuckDB, or a `Table`, if `X` is one; else an Arrow table.

        Raises
        ------
        UsageError
            If `y` is given, or the data is not a table.

        Examples
        --------
        >>> import pandas as pd
        >>> import graphveil as gv
        >>> people = pd.DataFrame({"sex": [*"ffmm"], "zip": [*"xxyy"], "job": [*"aabb"]})
        >>> sorted(gv.as_estimator(gv.SuppressK(k=2)).fit_transform(people)["sex"])
        ['f', 'f', 'm', 'm']
        """
        if y is not None:
            raise UsageError(
                "y does not match the released rows, because they are in a new order. Add it to "
                "the table as a column, for example as the label."
            )
        release = self.method.anonymize(X, seed=seed)
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

        Parameters
        ----------
        X
            Rows of a table.

        Raises
        ------
        UsageError
            Always.

        Examples
        --------
        >>> import graphveil as gv
        >>> gv.as_estimator(gv.SuppressK(k=5)).transform([[1, 0]])
        Traceback (most recent call last):
            ...
        graphveil.core.errors.UsageError: SuppressK has no transform for unseen rows: ...
        """
        del X
        raise UsageError(
            f"{self.method_class.__name__} has no transform for unseen rows: anonymizing rows that "
            "the classes were not formed with protects nobody. Use fit_transform or anonymize."
        )

    def __repr__(self) -> str:
        """Return the method."""
        return f"as_estimator({self.method!r})"


def as_estimator(method: Anonymizer[Any]) -> Estimator:
    """Return a method as a step of scikit-learn: for pipelines, ``clone`` and ``set_params``.

    Parameters
    ----------
    method
        A method for tables.

    Returns
    -------
    Estimator
        A step with the parameters of the method.

    Examples
    --------
    >>> import graphveil as gv
    >>> gv.as_estimator(gv.SuppressK(k=5)).get_params()["k"]
    5
    """
    fields = [item.name for item in dataclasses.fields(method) if item.init]
    return Estimator(type(method), **{name: getattr(method, name) for name in fields})
