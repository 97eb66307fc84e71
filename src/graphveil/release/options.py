"""The options of a run: where a release is written, how it is drawn, and where the work is done.

An option is one field of `RunOptions`. The command line makes its flag from the field's type,
default, help text and group; the step of the run that needs the option reads the field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from graphveil.claims.ledger import Ledger
from graphveil.core.errors import UsageError
from graphveil.core.storage import Place

EngineName = Literal["local", "spark"]
Section = Literal["output", "execution"]


class Offers(Protocol):
    """A class of a method, as far as it decides which options of a run apply to it."""

    sources: Any
    card: Any


def run_option(
    *, default: Any = MISSING, text: str | Mapping[str, str], section: Section = "output"
) -> Any:
    """Return a field of `RunOptions` with its help text and its section on a page of help.

    `text`: for every method; or by what a method must have for the option to apply: a source
    (``rows``, ``blocks``, ``ties``), ``nests`` or ``spends``. The first that it has is used.
    """
    return field(default=default, metadata={"help": text, "section": section})


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What is asked of a run; options of the section ``execution`` change no result."""

    out: Place = run_option(text="Folder for the release; must not exist yet.")
    format: str | None = run_option(
        default=None,
        text="Format of the released data, such as csv, parquet or gml. Default: the "
        "input format; csv or parquet if that format can write the same data in more than one way.",
    )
    force: bool = run_option(
        default=False, text="Replace an existing release once the new one is complete."
    )
    linkage: bool = run_option(
        default=True, text="Keep the table of old and new ids in the private folder."
    )
    seed: int | None = run_option(
        default=None,
        text="Make the run reproducible; keep the seed secret. Default: entropy from the "
        "operating system.",
    )
    parts: bool | None = run_option(
        default=None,
        text={
            "rows": "With --on-disk or Spark: write Parquet in parts of 1,048,576 users. "
            "Default: only for more users than that."
        },
    )
    private: Place | None = run_option(
        default=None,
        text={
            "rows": "Folder for the private record and linkage. Default: OUT.private. "
            "Required if --out is an address (such as s3a://...); can itself be an address."
        },
    )
    nested_in: Path | None = run_option(
        default=None,
        text={
            "nests": "An earlier release of the same people; the new classes are unions of its "
            "classes."
        },
    )
    ledger: Path | Ledger | None = run_option(
        default=None,
        text={
            "spends": "Privacy ledger (a private file): records the epsilon of this run "
            "before anything is drawn."
        },
    )
    ledger_limit: float | None = run_option(
        default=None,
        text={
            "spends": "Upper limit on the ledger's total epsilon; set once and stored in the "
            "ledger."
        },
    )
    ledger_unclaimed: bool = run_option(
        default=False,
        text={"spends": "Record a run without a guarantee as well; the ledger then has no total."},
    )
    jobs: int | None = run_option(
        default=None,
        section="execution",
        text={
            parts: f"Number of processes for {name}. Default: one per processor; one for data "
            "up to 1 MB."
            for parts, name in (("rows", "chunks"), ("blocks", "blocks"))
        },
    )
    on_disk: bool = run_option(
        default=False,
        section="execution",
        text={
            "ties": "Keep edges on disk, for networks larger than memory.",
            "rows": "Keep rows on disk, for data larger than memory; always processed in chunks.",
        },
    )
    engine: EngineName = run_option(
        default="local",
        section="execution",
        text={
            "rows": "Where to run: this machine, or Spark executors (input: a folder of Parquet, "
            "or table:NAME)."
        },
    )
    working: Place | None = run_option(
        default=None,
        section="execution",
        text={
            "rows": "With Spark: a folder or address (s3a://...) that driver and executors "
            "can write; holds people's rows during the run."
        },
    )

    @cached_property
    def privacy_ledger(self) -> Ledger | None:
        """The ledger in which the epsilon of the run is recorded; None without one.

        Raises `UsageError` if an option of the ledger is given without its file.
        """
        if isinstance(self.ledger, Path):
            return Ledger(self.ledger, limit=self.ledger_limit, unclaimed=self.ledger_unclaimed)
        if self.ledger is None and (self.ledger_limit is not None or self.ledger_unclaimed):
            raise UsageError("--ledger-limit and --ledger-unclaimed require --ledger FILE.")
        return self.ledger


def options_for(method: Offers) -> Iterator[tuple[Field[Any], str]]:
    """Yield the options of a run that apply to a method, each with its help text."""
    has = {*method.sources, *(name for name in ("nests", "spends") if getattr(method.card, name))}
    for item in fields(RunOptions):
        text = item.metadata["help"]
        if not isinstance(text, str):
            text = next((words for need, words in text.items() if need in has), None)
        if text is not None:
            yield item, text
