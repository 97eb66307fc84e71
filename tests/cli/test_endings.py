"""A process that has done its work ends with its code, whatever threads the libraries have."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "fuzz" / "endings.py"
PROCESSES = "8"
"""A few at once; the script itself starts thousands."""


def test_a_process_of_every_reader_and_verb_ends_with_the_code_that_is_documented():
    ended = subprocess.run(
        [sys.executable, SCRIPT, "--processes", PROCESSES],
        capture_output=True,
        text=True,
        check=False,
    )

    assert f"{PROCESSES} of {PROCESSES} processes ended as documented\n" == ended.stdout
