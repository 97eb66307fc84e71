"""The independent checker: a release is verified from its files, by SQL.

It shares no code with methods, kernels, measures or the readers and writers of `graphveil.io`.

The way of a check, from top to bottom:

1. `check` is the entry: it reads the manifest and calls everything below in order.
2. `files` checks which files there are, their bytes and their canonical form, and loads them into
   tables of an in-memory DuckDB (`database`). `kinds` says what each kind of data looks like.
3. `registry` names the checks of every guarantee and condition; `promises` holds these checks;
   `recount` holds the counting that they need, written anew for this room.
4. `original` links release and original by the owner's linkage, and `second_reading` reads the
   original's file with code of its own.
5. `verdict` collects the outcomes and gives the answer.
"""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
