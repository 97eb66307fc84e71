"""`graphveil convert INPUT --out FILE`: a file, or the data of a release, in another format."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Literal

from graphveil import io
from graphveil.cli.console import bar, say
from graphveil.cli.flags import (
    OUTPUT_GROUP,
    READING_GROUP,
    flag,
    flags_of,
    path_argument,
    values_for,
    with_signature,
)
from graphveil.cli.reading import READERS, read_input
from graphveil.data import Bipartite, Data, Graph
from graphveil.errors import UsageError
from graphveil.progress import shown, stage
from graphveil.release import read_release
from graphveil.release.files import kind_of


def _run(path: Path, **given: Any) -> int:
    out, ids = given.pop("out"), given.pop("out_ids")
    io.format_of(out)
    _check_targets([target for target in (out, ids) if target is not None], given.pop("force"))
    kind = given.pop("kind")
    with shown(bar):
        data = _of_release(path, kind, given) if path.is_dir() else _of_file(path, kind, given)
        with stage(f"writing {out.name}"):
            _write(data, out, ids)
    say(f"written: {out}")
    return 0


def _check_targets(targets: list[Path], force: bool) -> None:  # noqa: FBT001  a flag, passed on
    for target in targets:
        if target.is_dir():
            raise UsageError(f"{target} is a folder. Name a file.")
        if target.exists() and not force:
            raise UsageError(f"{target} exists. Choose another name, or replace it with --force.")


def _of_release(folder: Path, kind: str | None, given: dict[str, Any]) -> Data:
    asked = [name for name, value in {"kind": kind, **given}.items() if value is not None]
    if asked:
        raise UsageError(
            f"--{asked[0].replace('_', '-')} is not for a release, which says how it is read. "
            "Leave it out."
        )
    with stage(f"reading {folder.name}"):
        return read_release(folder).data


def _of_file(path: Path, kind: str | None, given: dict[str, Any]) -> Data:
    container = next(known for known in READERS if kind_of(known) == (kind or "graph"))
    options = READERS[container].options(**values_for(READERS[container].options, given))
    for name, value in given.items():
        if value is not None:
            raise UsageError(
                f"--{name.replace('_', '-')} is not for a {container.__name__}. Leave it out."
            )
    return read_input(path, options)


def _write(data: Data, out: Path, ids: Path | None) -> None:
    if isinstance(data, Graph):
        io.write_graph(data, out, nodes_path=ids)
    elif isinstance(data, Bipartite):
        io.write_bipartite(data, out, users_path=ids)
    elif ids is not None:
        raise UsageError("--out-ids is not for a Table. Leave it out.")
    else:
        io.write_table(data, out)


def _flags() -> list[inspect.Parameter]:
    kinds = tuple(kind_of(kind) for kind in READERS)
    every = {
        item.name: item.replace(default=None)
        for reader in READERS.values()
        for item in flags_of(reader.options, READING_GROUP)
    }
    return [
        flag(
            "out",
            Path,
            "File to write; its extension says the format and the compression.",
            group=OUTPUT_GROUP,
        ),
        flag(
            "out_ids",
            Path | None,
            "File for the ids of all nodes or users: formats of edges or pairs alone lose those "
            "that have none.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "force",
            bool,
            "Replace files of these names.",
            default=False,
            group=OUTPUT_GROUP,
            negative="",
        ),
        flag(
            "kind",
            Literal[kinds] | None,
            "What the file holds; a graph where nothing is said.",
            default=None,
            group=READING_GROUP,
        ),
        *every.values(),
    ]


command = with_signature(
    _run,
    [path_argument("input", "A data file, or the folder of a release."), *_flags()],
    name="convert",
    text="Write a data file, or the data of a release, in another format.\n\n"
    "A copy is no release: it carries no promise, and nothing can be verified of it. Verify the "
    "release first.\n\n"
    "Example: graphveil convert friends-k5 --out friends.npz",
)
