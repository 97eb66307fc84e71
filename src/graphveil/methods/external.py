"""Methods from elsewhere: a function or a command that makes data of data, without a guarantee.

Both run like any method, so that their releases can be measured, attacked and swept:

- `External` writes the network to a file, runs a command of the owner, and reads the file that it
  wrote. Nodes are numbers there, so that the command learns no id. No shell reads the command; it
  runs in a group of its own, which is ended at the time limit. A command runs again by itself (for
  an attack that repeats the run) only if this process ran it before: no file may start a program.
- `method_from` makes a method of a Python function, whose keyword arguments become parameters.

What they return is checked for the same people and columns, and put at the positions of the input.
Costs: those of the command or function, and of writing and reading the file.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import IO, Any, ClassVar, Literal, get_type_hints

import numpy as np

from graphveil import io
from graphveil.claims.guarantees import NotClaimed
from graphveil.claims.record import OwnersNotes
from graphveil.core.errors import GraphveilError, InputError, ParameterError, ResourceError
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness
from graphveil.core.text import printable
from graphveil.core.warnings import Advice, NoGuaranteeWarning
from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.data.ids import Ids, positions
from graphveil.data.kinds import Container, as_container, kind_of
from graphveil.io.formats import FORMATS
from graphveil.methods.base import Anonymizer
from graphveil.methods.card import MethodCard
from graphveil.release.draft import Draft

SEEDS = 2**31
"""Seeds that a function or a command gets are below this: they fit into a C `int`."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_INPUT, _OUTPUT, _SEED = "{input}", "{output}", "{seed}"
_LETTERS = 200
"""The most characters of a command's name or output in a message.

What it prints can be long. A larger number shows more of the cause of a failure.
"""


UNPROVED_FIELDS: Mapping[str, Any] = {
    "source": "not part of graphveil",
    "limits": "Any knowledge: graphveil does not know what this method does.",
    "cost": "unknown",
    "claims_nothing": True,
}
"""Fields of the cards of the methods that derive from `_Unproved`."""


class _Unproved(Anonymizer[Any]):
    """A method from outside graphveil, about which nothing is known: it carries no guarantee."""

    @property
    def guarantee(self) -> NotClaimed:
        """What is guaranteed: nothing."""
        return NotClaimed(reasons=("unproved",))

    def _draft(self, released: Data) -> Draft[Any]:
        unclaimed = Advice(
            f"a release by {self.name} carries no guarantee: graphveil does not know what the "
            "method does. Measure and attack the release",
            NoGuaranteeWarning,
        )
        return Draft(data=released, notes=OwnersNotes(warnings=(unclaimed,)))

    def _seed(self, randomness: Randomness) -> int:
        return int(randomness.stream("external").integers(SEEDS))


class Command(str):
    """A command line with the places of its input and its output; no shell reads it.

    It is a text; `words` replaces ``{input}``, ``{output}`` and ``{seed}`` in its words.

    >>> Command.parse("./anonet -a 5 {input} {output}").words("in.txt", "out.txt", 7)
    ['./anonet', '-a', '5', 'in.txt', 'out.txt']
    """

    __slots__ = ()
    has_commas = True
    """Whether a list of several is separated by semicolons."""

    @staticmethod
    def parse(text: object) -> Command:
        """Return the text as a command.

        Parameters
        ----------
        text
            The command line, quoted as for a shell.

        Raises
        ------
        ParameterError
            A quote is open, or ``{input}`` or ``{output}`` is missing.
        """
        try:
            words = shlex.split(text) if isinstance(text, str) else []
        except ValueError as error:
            raise ParameterError(f"command={text!r} has an open quote. Close it.") from error
        missing = [place for place in (_INPUT, _OUTPUT) if not any(place in w for w in words)]
        if not isinstance(text, str) or missing:
            raise ParameterError(
                f"command={text!r} does not say where {' and '.join(missing)} belong. Give one "
                f"such as './anonet {_INPUT} {_OUTPUT}'."
            )
        return Command(text)

    def words(self, source: str, target: str, seed: int) -> list[str]:
        """Return the words of the command for one run.

        Parameters
        ----------
        source, target
            The paths of the files that it reads and writes.
        seed
            The number that stands for ``{seed}``.

        Returns
        -------
        list[str]
            The program and its arguments.
        """
        places = {_INPUT: source, _OUTPUT: target, _SEED: str(seed)}
        words = shlex.split(self)
        for place, value in places.items():
            words = [word.replace(place, value) for word in words]
        return words


_RUN_HERE: set[str] = set()
"""The commands that the owner ran in this process: `External.may_run_again` allows these alone.

An attack that repeats a run reads the command from the private record of a release. A record from
elsewhere could name any program.
"""


EXTERNAL_CARD = MethodCard(
    when="To measure, attack and sweep a program of your own like other methods.",
    promise="No guarantee: a command of your own makes the network that is released.",
    example={"command": "./anonet {input} {output}"},
    **UNPROVED_FIELDS,
)
"""All that is only said of `External`."""


@dataclass(frozen=True, kw_only=True)
class External(_Unproved):
    """No guarantee: a command of your own makes the network that is released.

    Parameters
    ----------
    command
        The command line, such as ``./anonet -a 5 {input} {output}``. It reads the file whose path
        replaces ``{input}``, and writes the one whose path replaces ``{output}``. ``{seed}`` is
        replaced by a number that follows from the run's seed. No shell reads it.
    exchange
        The format of both files. In ``"text"`` each line is an edge: two numbers with a space.
    time_limit_seconds
        After this time the command is ended, with all that it started in its group; there is no
        release.

    Raises
    ------
    ParameterError
        The command does not name its input and its output.
    InputError
        On `anonymize`: the command cannot be started, fails, or writes no readable network on the
        same nodes.
    ResourceError
        On `anonymize`: the command takes longer than its time limit.

    Notes
    -----
    Nodes are numbered from 0 to n-1 in both files, so the command learns no id. A number that the
    output omits is a node without edges; a number that is not in the input is refused.
    The command and its limits are in the private record alone.

    Examples
    --------
    >>> import graphveil as gv
    >>> ring = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> copied = External(command="cp {input} {output}").anonymize(ring)
    >>> copied.data.n_edges, copied.guarantee.sentence
    (4, 'This release carries no guarantee.')
    """

    name: ClassVar[str] = "external"
    accepts = (Graph,)
    card: ClassVar[MethodCard] = EXTERNAL_CARD

    command: Command = parameter(
        text="command line with {input} and {output}, and {seed} if it draws", private=True
    )
    exchange: Literal["text", "csv", "tsv", "graphml", "gml", "pajek", "mtx", "metis"] = parameter(
        default="text", text="format of the input and the output of the command", private=True
    )
    time_limit_seconds: float = parameter(
        default=3600.0, text="the command is ended after this time", minimum=0.001, private=True
    )

    @property
    def may_run_again(self) -> bool:
        """Whether this process ran the command before: no file alone may start a program."""
        return self.command in _RUN_HERE

    def draft(self, data: Graph, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        _RUN_HERE.add(self.command)
        extension = FORMATS[self.exchange].extensions[0]
        # Write, run, read: all in a private folder that is removed afterwards.
        with tempfile.TemporaryDirectory(prefix="graphveil-") as scratch:
            folder = Path(scratch)
            source, target = folder / f"input{extension}", folder / f"output{extension}"
            self._write(data, source)
            words = self.command.words(str(source), str(target), self._seed(randomness))
            _run(words, folder, self.time_limit_seconds)
            released = self._read(target, data.n_nodes, words[0])
        return self._draft(released)

    def _write(self, data: Graph, source: Path) -> None:
        """Write the network with its nodes as numbers, so that the command learns no id."""
        # The order stays, but ids and origins are dropped: node i is called i.
        numbered = data.permuted(np.arange(data.n_nodes))
        # A format of edges alone would lose isolated nodes, so their ids go into a second file.
        keeps = FORMATS[self.exchange].keeps_isolated
        ids = None if keeps else source.with_name("ids.txt")  # which the command may read as well
        io.write(numbered, source, format=self.exchange, ids_path=ids)

    def _read(self, target: Path, n: int, program: str) -> Graph:
        """Return the network in a command's output, with its nodes at the input's positions.

        Raises `InputError` if there is none, it cannot be read, or it has other nodes.
        """
        shown = printable(program, _LETTERS)
        if not target.is_file() or target.stat().st_size == 0:
            raise InputError(
                f"the command {shown} ended, but wrote nothing to {_OUTPUT}. Run it by hand, and "
                f"check that it writes to the file named there."
            )
        try:
            options = io.GraphOptions(format=self.exchange, directed="symmetrize")
            released, _ = io.load(target, options)
        except GraphveilError as error:
            what = str(error).partition(". ")[0]  # the rest names options of a reader
            raise InputError(
                f"the output of the command {shown} cannot be read as {self.exchange}: {what}. "
                f"Write it in the same form as {_INPUT}."
            ) from error
        # The labels are the numbers of the nodes; any other label is a node that was not given.
        number = released.labels()
        wrong = _other_nodes(number, n)
        if wrong is not None:
            raise InputError(
                f"the output of the command {shown} has the node {printable(wrong, 40)}, but nodes "
                f"are numbered from 0 to {n - 1}. Keep the numbers of {_INPUT}."
            )
        edges = number.astype(np.int64)[released.edges()]
        return Graph.from_edges(edges[:, 0], edges[:, 1], n=n)


def _other_nodes(number: Ids, n: int) -> str | None:
    """Return the first id that is not a number from 0 to n-1; None if all are."""
    if number.dtype.kind != "i":
        is_number = re.compile(r"0|[1-9][0-9]*")
        return next((each for each in number.tolist() if not is_number.fullmatch(str(each))), None)
    wrong = number[(number < 0) | (number >= n)]
    return str(wrong[0]) if wrong.size else None


def _run(words: list[str], folder: Path, seconds: float) -> None:
    """Run a command to its end; what it prints goes into a file of the folder."""
    # Output goes to a file, not a pipe: a full pipe would stop the command. A session of its own
    # makes it the leader of a process group, which `_end` can end with all of its children.
    shown = printable(words[0], _LETTERS)
    with (folder / "printed").open("w+b") as stream:
        try:
            process = subprocess.Popen(  # noqa: S603  the owner's own command
                words,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"cannot start the command {shown}: {reason}. Give the path of a program that may "
                "be run."
            ) from error
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise ResourceError(
                f"the command {shown} took longer than {seconds:g} s and was ended. Raise "
                "time_limit_seconds."
            ) from error
        finally:
            _end(process)
        if code == 0:
            return
        how = f"with exit code {code}" if code > 0 else f"by signal {-code}"
        last = _last_line(stream).replace(f"{folder}{os.sep}", "")  # which differs from run to run
        last = f": {printable(last, _LETTERS)}" if last else " and printed nothing"
        raise InputError(f"the command {shown} ended {how}{last}. Run it by hand.")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and its process group: children may outlive it."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _last_line(stream: IO[bytes]) -> str:
    """Return the last line that a command printed."""
    stream.seek(0, os.SEEK_END)
    stream.seek(max(stream.tell() - 10 * _LETTERS, 0))
    lines = stream.read().decode("utf-8", "replace").split("\n")
    return next((line.strip(" .\r") for line in reversed(lines) if line.strip()), "")


Function = Callable[..., Any]
"""A function of the owner: data first, then the parameters of the method."""


@dataclass(frozen=True, kw_only=True)
class _FromFunction(_Unproved):
    """A method whose fields are the arguments of a function."""

    function: ClassVar[Function]
    takes_seed: ClassVar[bool] = False

    def draft(self, data: Data, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        # The function gets the data, its parameters and, if it takes one, a seed of the run's.
        arguments = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        if self.takes_seed:
            arguments["seed"] = self._seed(randomness)
        try:
            released = type(self).function(data, **arguments)
        except GraphveilError:
            raise
        except Exception as error:
            raise InputError(
                f"the function of {self.name} raised {type(error).__name__}: "
                f"{printable(str(error), _LETTERS)}"
            ) from error
        released = as_container(released, (type(data),), wanted_by=f"the result of {self.name}")
        return self._draft(_at_the_same_positions(released, data, self.name))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function by its name: worker processes import it."""
        method = type(self)
        return _made_again, (method.function, method.name, method.accepts, self.parameters())


def _made_again(
    function: Function, name: str, accepts: tuple[Container, ...], parameters: Mapping[str, Any]
) -> Anonymizer[Any]:
    return method_from(function, name=name, accepts=accepts).from_parameters(parameters)


def _at_the_same_positions(made: Data, data: Data, name: str) -> Data:
    """Return what a function made with every row or node at the position of the input.

    Raises `InputError` unless it has the same number of them, the same ids, each once, and the same
    items or columns.
    """
    # The same number of rows or nodes, the same items and columns, the same ids.
    people = kind_of(data).people
    if made.size != data.size:
        raise InputError(
            f"the result of {name} has {made.size:,} {people}, the data has {data.size:,}. Return "
            f"all {people}, without any others."
        )
    for what, ours, theirs in (
        ("items", *(None if x.features is None else x.features.tolist() for x in (data, made))),
        ("columns", getattr(data, "columns", ()), getattr(made, "columns", ())),
    ):
        if ours != theirs:
            raise InputError(
                f"the result of {name} has other {what} than the data, or another order of them. "
                f"Return the {what} of the data."
            )
    if np.array_equal(made.labels(), data.labels()):
        return made
    # Same ids in a different order: put them back into the order of the input. Every id is found,
    # and none twice, so with equal sizes the two sets of ids are equal.
    try:
        order = positions(data.labels(), made.labels(), what="")
    except GraphveilError as error:
        raise InputError(
            f"the result of {name} has other ids than the data. Keep the ids of the data."
        ) from error
    if np.unique(order).size != order.size:
        raise InputError(
            f"the result of {name} has one id twice. Return each of the {people} once."
        )
    return made.permuted(order.astype(np.int64))


_ANY: Mapping[type[Any], Any] = {int: 1, float: 1.0, bool: False, str: "some"}
"""A value for an argument without a default: the card of every method needs a valid example.

Any value of the type will do.
"""

SEED = "seed"
"""The argument of a function that gets a number from the run's seed; it is not a parameter."""


def method_from(
    function: Callable[..., Any], *, name: str, accepts: Container | tuple[Container, ...] = Graph
) -> type[Anonymizer[Any]]:
    """Return a method without a guarantee: a function makes the data that is released.

    It can be measured, attacked, evaluated and swept like all others. The keyword arguments of the
    function are the parameters of the method, and stay in the private record. New ids, a new order
    and the manifest are added as for every method.

    Parameters
    ----------
    function
        Takes the data, and returns the same kind of data for the same people: a container, or an
        object of another library with the same ids. Its further arguments have a type (int, float,
        bool or str), and may have a default. One that is called ``seed`` gets a number that follows
        from the seed of the run.
    name
        What releases and tables call it: lower-case letters, digits and dashes.
    accepts
        The kinds of data that it takes: `Graph`, `Bipartite`, `Table`, or several of them.

    Returns
    -------
    type[Anonymizer]
        A class of its own, whose instances anonymize like those of any method.

    Raises
    ------
    ParameterError
        The name, a kind of data or an argument of the function is not valid.

    Notes
    -----
    `register` enters the method under its name, for grids, configuration files and attacks that run
    a method again. For worker processes, the function must be in a module that they can import.

    Examples
    --------
    >>> import graphveil as gv
    >>> def thinned(graph: gv.Graph, *, share: float = 0.5, seed: int) -> gv.Graph:
    ...     kept = np.random.default_rng(seed).random(graph.n_edges) >= share
    ...     return gv.Graph.from_edges(*graph.edges()[kept].T, n=graph.n_nodes)
    >>> Thinned = method_from(thinned, name="thinned")
    >>> Thinned(share=1.0).anonymize(gv.Graph.from_edges([0, 1], [1, 2])).data.n_edges
    0
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ParameterError(
            f"name={name!r} is not valid. Use at most 40 lower-case letters, digits and dashes, "
            "the first a letter."
        )
    kinds = accepts if isinstance(accepts, tuple) else (accepts,)
    if not kinds or not {*kinds} <= {Graph, Bipartite, Table}:
        raise ParameterError(f"accepts={accepts!r} is not valid. Use Graph, Bipartite or Table.")
    if not callable(function):
        raise ParameterError(f"function={function!r} is not a function. Give one.")
    # A frozen dataclass of its own, with a field for every argument of the function.
    fields, takes_seed = _fields_of(function)
    promise = f"No guarantee: {name} is a method from outside graphveil."
    example = {item: _ANY[kind] for item, kind, own in fields if own.default is MISSING}
    class_body = {
        "name": name,
        "accepts": kinds,
        "card": MethodCard(**UNPROVED_FIELDS, promise=promise, example=example),
        "function": staticmethod(function),
        "takes_seed": takes_seed,
        "__doc__": promise,
        "__module__": function.__module__,
    }
    title = "".join(part.capitalize() for part in name.split("-"))
    method: type[Anonymizer[Any]] = dataclasses.make_dataclass(
        title, fields, bases=(_FromFunction,), namespace=class_body, frozen=True, kw_only=True
    )
    return method


def _fields_of(function: Function) -> tuple[list[tuple[str, Any, Any]], bool]:
    """Return the parameters of a function as fields, and whether it takes a seed."""
    arguments = list(inspect.signature(function).parameters.values())
    if not arguments:
        raise ParameterError(
            f"{function.__name__} takes no data. Make its first argument the data."
        )
    # The first argument is the data, "seed" is given by the run, all others are parameters.
    del arguments[0]
    hints, fields = get_type_hints(function), []
    for item in arguments:
        if item.name == SEED:
            continue
        kind = hints.get(item.name, type(item.default))
        usable = item.kind in {item.KEYWORD_ONLY, item.POSITIONAL_OR_KEYWORD}
        if kind not in {int, float, bool, str} or not usable:
            raise ParameterError(
                f"the argument {item.name!r} of {function.__name__} is not an int, float, bool or "
                "str by its type. Annotate it so, or bind it with functools.partial."
            )
        default = MISSING if item.default is item.empty else item.default
        field = parameter(default=default, text=f"argument of {function.__name__}", private=True)
        fields.append((item.name, kind, field))
    return fields, any(item.name == SEED for item in arguments)
