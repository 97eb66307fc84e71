"""A report: the text of a page or of a description, the verdict it depends on, and its commands."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Literal

from graphveil.claims.record import OWNERS_PAGE, private_folder
from graphveil.core.atomic import EVERYBODY, OWNER_ONLY, is_output, not_replaced
from graphveil.core.parameters import flat_parameters
from graphveil.pages.charts import write_new
from graphveil.pages.figures import Illustrated, Plot
from graphveil.verify.verdict import Verdict


def command_line(*words: str) -> str:
    """Return a command of graphveil, quoted for a shell.

    >>> command_line("verify", "my friends")
    "graphveil verify 'my friends'"
    """
    return shlex.join(("graphveil", *words))


def anonymize_command(
    method: type[Any], parameters: Mapping[str, Any], file: str, folder: str
) -> str:
    """Return the command that makes such a release; parameters at their default are omitted.

    >>> from graphveil.methods import KDegree
    >>> anonymize_command(KDegree, {"k": 5}, "friends.csv", "friends-k5")
    'graphveil anonymize k-degree friends.csv --out friends-k5 --k 5'
    """
    words = ["anonymize", method.name, file, "--out", folder]
    return command_line(*words, *flags_of(method, parameters))


def flags_of(method: type[Any], parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield the flags of parameters that are not at their default."""
    for item in flat_parameters(method):
        value = parameters.get(item.name)
        if value is None or (item.default is not MISSING and value == item.default):
            continue
        name = item.name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{name}" if value else f"--no-{name}"
        elif isinstance(value, list | tuple):
            yield f"--{name}"
            yield from map(str, value)
        elif not isinstance(value, dict):
            yield from (f"--{name}", str(value))


Form = Literal["html", "croissant", "datapackage", "json"]


@dataclass(frozen=True, kw_only=True)
class Report(Illustrated):
    """What can be handed on of a release.

    Parameters
    ----------
    text
        The whole file.
    form
        A page, or which description for machines.
    public
        Whether it may be published: it says nothing but what follows from the released files.
    verdict
        What was recomputed for it.
    answers
        The three tests in short: the question, and the answer with whom it is about and why; empty
        without a page.
    figures
        The pictures of the page, by name: each can be written alone.

    Examples
    --------
    >>> Report(text="{}", form="json", public=True, verdict=Verdict("recomputed", "", [])).exit_code
    0
    """

    text: str
    form: Form
    public: bool
    verdict: Verdict
    answers: tuple[tuple[str, str], ...] = ()
    figures: Mapping[str, Plot] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """1 where a check fails, else 0: that there is not enough to say is an answer."""
        return int(bool(self.verdict.failures()))

    def _pictures(self) -> Mapping[str, Plot]:
        return self.figures

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the file whole or not at all; an owner's page can be read by its owner alone.

        Parameters
        ----------
        path
            The file.
        force
            Whether a page or a description of that name is replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            Where there is one and `force` is off, or another file.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> verdict = Verdict("recomputed", "", [])
        >>> report = Report(text="{}", form="json", public=True, verdict=verdict)
        >>> with TemporaryDirectory() as folder:
        ...     oct(report.write(Path(folder, "release-card.json")).stat().st_mode)[-3:]
        '644'
        """
        if force and os.path.lexists(path) and not is_output(Path(path)):
            raise not_replaced(Path(path))
        mode = EVERYBODY if self.public else OWNER_ONLY
        return write_new(path, self.text.encode(), mode=mode, force=force)

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, for notebooks."""
        if self.form != "html":
            return f"<pre>{escape(self.text)}</pre>"
        return (
            f'<iframe sandbox srcdoc="{escape(self.text)}" title="Report of a release" '
            'style="width:100%;height:60rem;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        """Return what it is, and its size."""
        whom = "public" if self.public else "for the owner"
        return f"Report({self.form}, {whom}, {len(self.text):,} characters, {self.verdict!r})"


def page_of(folder: str | Path, *, public: bool, form: Form = "html") -> Path:
    """Return where the report of a release folder lies where nothing else is said.

    >>> page_of("out/friends-k5", public=True).name, page_of("friends-k5", public=False)
    ('friends-k5-report.html', PosixPath('friends-k5.private/report.html'))
    """
    private = private_folder(Path(folder))
    if form == "html" and not public:
        return private / OWNERS_PAGE
    stem = private.name.removesuffix(".private")
    ends = {"html": "-report.html", "json": "-report.json"}
    return private.parent / f"{stem}{ends.get(form, f'-{form}.json')}"
