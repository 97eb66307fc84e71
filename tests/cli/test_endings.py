"""A process that has done its work ends with its code, whatever threads the libraries have."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "fuzz" / "endings.py"


def test_a_process_of_every_reader_and_verb_ends_with_the_code_that_is_documented():
    ended = subprocess.run(
        [sys.executable, SCRIPT, "--processes", "22"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert "22 of 22 processes ended as documented\n" == ended.stdout
