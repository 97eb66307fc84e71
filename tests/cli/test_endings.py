"""A process that has done its work ends with its code, whatever threads the libraries have."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "fuzz" / "endings.py"


def test_forty_processes_of_every_reader_and_verb_end_with_the_code_that_is_documented():
    ended = subprocess.run(
        [sys.executable, SCRIPT, "--processes", "40"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert "40 of 40 processes ended as documented\n" == ended.stdout
