"""`graphveil convert INPUT --out FILE`: a file, or the data of a release, in another format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graphveil import io
from graphveil.claims.facts import digest_of_file
from graphveil.claims.neighbors import input_digests_in
from graphveil.claims.record import private_folder
from graphveil.cli import say_warnings
from graphveil.cli.answer import print_answer, print_next
from graphveil.cli.console import bars, say
from graphveil.cli.flags import (
    ALL,
    OUTPUT_GROUP,
    REQUIRED,
    Flag,
    flags,
    path_argument,
    with_signature,
)
from graphveil.cli.inputs import command_line, file_word, flag_words, from_pipes, read_input
from graphveil.cli.kinds import reading_flags, reading_options
from graphveil.cli.outputs import check_new_file, is_same_file
from graphveil.core.atomic import check_name
from graphveil.core.errors import UsageError
from graphveil.core.progress import shown
from graphveil.core.text import printable
from graphveil.data import Data, Table
from graphveil.data.kinds import CONTAINERS, kind_of
from graphveil.verbs.read import data_of_release, is_release, write_copy


def _run(path: Path, **given: Any) -> int:
    out, ids, force = given.pop("out"), given.pop("out_ids"), given.pop("force")
    every, public = given.pop("all"), is_release(path)
    io.format_of(out)
    if ids is not None:
        io.format_of(ids).writer("ids")
    with shown(bars()):
        if public:
            _check_targets(out, ids, [], force=force)
            _refuse_original(path, (out, ids))
            data, exact = _of_release(path, given), True
        else:
            options = reading_options(CONTAINERS, path, given)
            files = [value for value in asdict(options).values() if isinstance(value, Path)]
            _check_targets(out, ids, [path, *files], force=force)
            data, exact = read_input(path, options), getattr(options, "exact", False)
        write_copy(data, out, ids=ids, public=public, replace=force, exact=exact)
    kind = kind_of(data)
    if isinstance(data, Table) and data.ids is not None:
        say("row ids were dropped: a table is written with its own columns only")
    written = f"{printable(out)}" + ("" if ids is None else f" and {printable(ids)}")
    say_warnings(every=every)
    if public:
        print_answer(f"Wrote {written}. This copy is not a release and carries no guarantee.")
        print_next(command_line("verify", file_word(path)))
    else:
        print_answer(f"Wrote {written}. It is not anonymized: keep it private.")
        # No header of a file tells a table.
        named = () if kind.everyone else flag_words("kind", kind.name)
        print_next(command_line("measure", file_word(out), *named))
    return 0


def _check_targets(out: Path, ids: Path | None, inputs: list[Path], *, force: bool) -> None:
    if ids is not None and is_same_file(out, ids):
        raise UsageError(f"--out and --out-ids are both {out}. Give two different names.")
    for target in (out, ids):
        if target is not None:
            check_name(target)
            check_new_file(target, inputs, force=force)


def _refuse_original(folder: Path, targets: Iterable[Path | None]) -> None:
    """Refuse to replace the file that a release was made from, as far as its record knows it."""
    known = input_digests_in(private_folder(folder))
    for target in targets:
        if known and target is not None and target.is_file() and digest_of_file(target) in known:
            raise UsageError(
                f"{target} is the original of {folder} and is not overwritten. Choose another name."
            )


def _of_release(folder: Path, given: dict[str, Any]) -> Data:
    """Return the data of a release; what was a table may be asked for as one."""
    as_table = given.get("kind") == kind_of(Table).name
    if as_table:
        given = given | {"kind": None}
    asked = [name for name, value in given.items() if value is not None]
    if asked:
        raise UsageError(
            f"--{asked[0].replace('_', '-')} does not apply to a release, which records how it "
            "is read. Remove it."
        )
    return data_of_release(folder, as_table=as_table)


FLAGS = {
    "out": Flag(
        Path, "File to write; its extension sets format and compression.", default=REQUIRED
    ),
    "out_ids": Flag(
        Path | None,
        "File for the ids of all nodes or users; edge-list formats drop nodes and "
        "users without entries.",
    ),
    "force": Flag(bool, "Overwrite existing files.", default=False),
    **ALL,
}

command = with_signature(
    from_pipes(_run),
    [
        path_argument("input", "A data file, or the folder of a release."),
        *flags(OUTPUT_GROUP, FLAGS),
        *reading_flags(CONTAINERS),
    ],
    name="convert",
    text="Convert a data file, or the data of a release, to another format.\n\nThe copy is not "
    "a release: it carries no guarantee and cannot be verified. Verify the release first. "
    "A copy of a data file is readable by its owner only.\n\nIf a table was released as "
    "pairs of row and column=value, --kind table turns it back into a table. For a release by "
    "super-nodes, it writes the groups and their numbers of edges.\n\nExample: "
    "graphveil convert friends-k5 --out friends.npz",
)
