"""What holds for every test, those in docstrings included."""

from __future__ import annotations

import gc
import hashlib
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import ReadOnlyDatabase
from hypothesis.internal.conjecture import providers
from xdist.scheduler import LoadScopeScheduling

from fuzz.database import Corpus
from shared_data import lacking
from thorough import LEFT, try_a_part

CORPUS = Corpus()
FUZZ = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
"""Whether `make fuzz` searches at random; else all draws repeat, and what was found is replayed."""

MOST_EXAMPLES = 8
"""How many examples of a property are tried in every run: `make fuzz` tries as many as it asks."""

MOST_COUNTED = 40
"""The same of a property that counts what its examples reach: with fewer none may reach it."""

ROOMS = {
    "structural": "structural",
    "profile": "profile",
    "k-degree": "k[-_]degree",
    "smooth-k": "(?:smooth|suppress)[-_]k|mondrian|features|on_disk|bipartite",
    "adaptive": "adaptive|cluster[-_]k|matching",
    "measures": "measure|evaluate",
    "degree-triangle": "degree[-_]triangle|ladder",
}
"""The tests that need one room of kernels, by words in their cases or their names.

Those of advice need the kernels of all rooms: they come after these, when they are compiled.
"""

IN_PART = (
    *("property/test_network_shapes.py", "contract/test_objects.py", "contract/test_trials.py"),
    *("contract/test_public_report.py", "contract/test_parameters.py", "forged", "privacy"),
    *("unit/test_kernel_tiers.py", "unit/test_ties_on_disk.py", "unit/test_on_disk.py"),
    *("unit/test_structural_sampling.py", "unit/test_whole_number_items.py"),
    *("unit/test_profile.py", "unit/test_degree_triangle.py", "browser", "golden", "spark"),
    *("unit/test_addresses.py", "unit/test_degree_triangle_checks.py", "unit/test_choosing.py"),
    *("unit/test_verify_structural.py", "unit/test_structural_states.py", "unit/test_adaptive.py"),
    *("unit/test_profile_layers.py", "property/test_io_round_trips.py", "cli/test_networks.py"),
    *("cli/test_failures.py", "unit/test_left_on_the_disk.py", "property/test_io_fuzz.py"),
    *("unit/test_warnings_of_the_owner.py", "unit/test_figures.py", "unit/test_felt.py"),
    *("unit/test_attack_intervals.py", "unit/test_intervals_of_metrics.py", "unit/test_rename.py"),
    *("unit/test_estimate.py", "unit/test_data_objects.py", "unit/test_misreadings.py"),
    *("property/test_k_degree_bound.py", "property/test_k_degree_sequence.py"),
    *("property/test_k_degree_realization.py", "property/test_structural_fuzzy.py"),
    *("property/test_attack_percolation.py", "unit/test_attack_membership.py"),
    *("unit/test_evaluate_tasks.py", "unit/test_network_layers.py", "unit/test_engines.py"),
    *("unit/test_kernel_guard.py", "cli/test_terminal.py", "cli/test_pipes.py"),
    *("unit/test_for_comparison.py", "unit/test_structural_directed.py"),
)
"""Folders and files with the dearest lists of cases: every run tries a part, `make fuzz` all."""

TOGETHER = (
    *("tests/cli/test_start.py", "tests/cli/test_answers.py", "tests/cli/test_sweep.py"),
    *("tests/unit/test_report.py", "tests/unit/test_figures.py", "tests/unit/test_sweep_page.py"),
)
"""Files whose tests name methods and share a setup: together, it runs once."""

LONGEST = ["smooth-k", "structural", "k-degree", "adaptive", "measures", "profile"]
"""The rooms that take longest, measured: begun first, so that all processes end together."""

NO_CLOCK = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("repeatable", database=ReadOnlyDatabase(CORPUS), **NO_CLOCK)
settings.register_profile("fuzz", database=CORPUS, **NO_CLOCK)
settings.load_profile("fuzz" if FUZZ else "repeatable")
if not FUZZ:
    # Hypothesis also tries the constants of whatever local modules are loaded by then: the order
    # of the tests would change the draws.
    providers._get_local_constants = providers.Constants


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let every property draw the same in every run.

    A random search takes the properties in another order every time.
    """
    if FUZZ:
        order = os.environ.get("FUZZ_ORDER", "")
        items.sort(key=lambda item: hashlib.sha256(f"{order} {item.nodeid}".encode()).digest())
        return
    for place in IN_PART:
        try_a_part(items, Path(__file__).parent / "tests" / place)
    items.sort(key=lambda item: turn_of(room_of(item.nodeid)))
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            counts = item.get_closest_marker("counts_edits") is not None
            repeat(item.obj, most=MOST_COUNTED if counts else MOST_EXAMPLES)


def pytest_collection_finish() -> None:
    """Search for garbage again, but no more among the tests themselves."""
    gc.freeze()
    gc.enable()


def pytest_sessionstart() -> None:
    """Test what is compiled: little work would else run as Python, as `test_kernel_tiers` does."""
    gc.disable()  # a third of the time in which the tests are listed went into it
    from graphveil.core.kernels.tiers import precompile  # noqa: PLC0415  not to list the tests

    precompile()


class ByRoom(LoadScopeScheduling):
    """Sends the tests of a room of kernels to one process, so that they are compiled once."""

    def __init__(self, config: pytest.Config, log: object) -> None:
        config.option.loadscopereorder = False  # it would begin with the most tests
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return room_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByRoom:
    """Return what sends tests to processes, where there are several."""
    return ByRoom(config, log)


def room_of(test: str) -> str:
    """Return whose kernels a test compiles, else its file: two processes would compile them twice.

    Examples
    --------
    >>> room_of("tests/contract/test_methods.py::test_features[structural k=8]")
    'structural'
    """
    rooms = re.compile("|".join(f"({words})" for words in ROOMS.values()))
    named = rooms.search(test.partition("[")[2]) or rooms.search(test)
    if named and not test.startswith(TOGETHER):
        return list(ROOMS)[named.lastindex - 1]
    return re.sub(r"\W+", "-", test.partition("::")[0])


def turn_of(room: str) -> int:
    """Return when a room's tests begin: the longest first, then all others.

    Examples
    --------
    >>> turn_of("smooth-k"), turn_of("unit-test-docs") == len(LONGEST)
    (0, True)
    """
    return LONGEST.index(room) if room in LONGEST else len(LONGEST)


def repeat(test: Callable[..., None], *, most: int) -> None:
    """Give a property one seed and no more than so many examples, the findings apart."""
    # No setting does it: the decorator `seed` would forget the findings too.
    test._hypothesis_internal_use_seed = 0
    own = test._hypothesis_internal_use_settings
    most = min(own.max_examples, most)
    test._hypothesis_internal_use_settings = settings(own, max_examples=most)


def pytest_runtest_setup() -> None:
    """Start no further test once the time of a random search is up."""
    if FUZZ and time.time() > float(os.environ.get("FUZZ_UNTIL", "inf")):
        pytest.skip("the time is up")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Write the example that a random search found, in words, beside what it saved."""
    report = yield
    if FUZZ and call.when == "call" and call.excinfo is not None:
        CORPUS.describe(item.nodeid, "\n".join(examples_in(call.excinfo.value)))
    return report


def examples_in(error: BaseException) -> Iterator[str]:
    """Yield the falsifying examples that Hypothesis noted on an error, or on those inside it."""
    for note in getattr(error, "__notes__", []):
        if note.partition("\n")[0].endswith("("):
            yield f"{note}\n{error!r}"
    for inner in getattr(error, "exceptions", ()):
        yield from examples_in(inner)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was skipped for lack of data, and in which files only a part was tried."""
    skipped = terminalreporter.stats.get("skipped", [])
    parts = Counter(
        report.nodeid.partition(".py")[0].removeprefix("tests/")
        for report in skipped
        if LEFT in str(report.longrepr)
    )
    if parts:
        files = ", ".join(sorted(parts))
        terminalreporter.write_line(
            f"{len(parts)} files tried a part; `make fuzz` tries the other "
            f"{parts.total():,} cases: {files}"
        )
    told = lacking([str(report.longrepr) for report in skipped])
    if told:
        terminalreporter.write_line(told, yellow=True)


@pytest.fixture(scope="session", autouse=True)
def heeded_signals() -> Iterator[None]:
    """Heed the signals that these tests send: what starts us in the background may ignore them."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
