"""The path that stands for ``-``: importing it is cheap."""

from pathlib import Path

STANDARD_INPUT = Path("/dev/stdin")
"""What stands for ``-`` once the command line is taken apart."""
