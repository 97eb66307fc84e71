"""What random search found: one file a finding, kept under the name of its test.

Hypothesis names what it saves after a digest of the test's source, so that an edit of the test
forgets it. Here the test's own name is the key, and the falsifying example stands beside it in
words. `make test` replays every finding, `make fuzz` adds new ones.

A finding is a list of choices: where the test's strategy changes, they may spell another example.
Who mends a fault therefore writes the example into the test too, as an explicit one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from hypothesis.database import ExampleDatabase

CORPUS = Path(__file__).parent / "corpus"
_SECONDARY = (b".secondary", b".pareto")


class Corpus(ExampleDatabase):
    """A folder of findings: ``{"test": node id, "example": words, "choices": hexadecimal}``.

    Parameters
    ----------
    folder
        Where the files stand. What this object did not save itself it never deletes.
    """

    def __init__(self, folder: Path = CORPUS) -> None:
        super().__init__()
        self.folder = folder
        self._saved: set[Path] = set()

    def save(self, key: bytes, value: bytes) -> None:
        """Keep a finding of the test that runs now."""
        path = self._path(value)
        if key.endswith(_SECONDARY) or path.exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(path, {"test": running_test(), "example": "", "choices": value.hex()})
        self._saved.add(path)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Yield the findings of the test that runs now."""
        if not key.endswith(_SECONDARY):
            for finding in findings(self.folder):
                if finding["test"] == running_test():
                    yield bytes.fromhex(finding["choices"])

    def delete(self, key: bytes, value: bytes) -> None:
        """Forget a finding of this run for which a smaller one was found."""
        path = self._path(value)
        if path in self._saved and not key.endswith(_SECONDARY):
            path.unlink(missing_ok=True)
            self._saved.discard(path)

    def describe(self, test: str, example: str) -> None:
        """Write the falsifying example, in words, beside what was saved of a test."""
        for path in sorted(self.folder.glob("*.json")):
            finding = json.loads(path.read_text(encoding="utf-8"))
            if finding["test"] == test and not finding["example"]:
                _write(path, finding | {"example": example})

    def _path(self, value: bytes) -> Path:
        digest = hashlib.sha256(running_test().encode() + b"\0" + value).hexdigest()[:12]
        name = re.sub(r"\W+", "-", running_test().rpartition("::")[2]).strip("-")[:80]
        return self.folder / f"{name}.{digest}.json"


def findings(folder: Path = CORPUS) -> list[dict[str, str]]:
    """Return every finding of a corpus, in the order of the files' names."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def running_test() -> str:
    """Return the node id of the test that runs now, or nothing.

    Where groups of tests are kept in one process, an id ends in ``@`` and the group's name.
    """
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    return re.sub(r"@room-[\w-]+$", "", test)


def _write(path: Path, finding: dict[str, str]) -> None:
    path.write_text(json.dumps(finding, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
