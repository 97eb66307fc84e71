"""Run every property on random data until the time is up; keep what fails in the corpus.

Exit code 1 where something failed: a file in `corpus/` names the test and the example. `make test`
replays it from then on, and it stays there when the fault is mended.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NO_TEST_WAS_RUN = 5


def main() -> int:
    """Search until the time is up, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300, help="when to stop")
    parser.add_argument("--workers", default="auto", help="processes that run the tests")
    parser.add_argument("tests", nargs="*", default=["tests"], help="files, or names of tests")
    given = parser.parse_args()
    until = time.time() + given.seconds
    before, failed = kept(), False
    while time.time() < until:
        code = search(given.tests, workers=given.workers, until=until)
        failed = failed or code not in {0, NO_TEST_WAS_RUN}
    for path in sorted(kept() - before):
        print(f"kept: {path.relative_to(ROOT)}")  # noqa: T201  a command that prints
    return int(failed)


def search(tests: list[str], *, workers: str, until: float) -> int:
    """Run the properties once, in another order and on other data than before, and all cases."""
    command = [sys.executable, "-m", "pytest", "-m", "hypothesis or thorough", "-n", workers, "-q"]
    command += ["-p", "no:cacheprovider", *tests]
    environment = os.environ | {
        "HYPOTHESIS_PROFILE": "fuzz",
        "FUZZ_UNTIL": str(until),
        "FUZZ_ORDER": secrets.token_hex(8),
    }
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def kept() -> set[Path]:
    """Return the files of the corpus."""
    return set((HERE / "corpus").glob("*.json"))


if __name__ == "__main__":
    sys.exit(main())
