"""A test of random edits that never reach the claim fails."""

from __future__ import annotations

import pytest
from edit_counts import OWNER, EditCounts


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([], "no edit was noted"),
        ([["files"], ["data", OWNER], ["classes", "counts"]], "none of 3 edits left whole files"),
        ([[OWNER], ["files", OWNER], []], "2 of 3 edits left whole files, none refuted"),
    ],
)
def test_edits_that_do_not_try_the_claim_are_an_error(edits, message):
    counts = EditCounts(["classes"])
    for failed in edits:
        counts.note(failed)
    with pytest.raises(AssertionError, match=message):
        counts.check()


def test_one_edit_that_the_claim_alone_refutes_is_enough():
    counts = EditCounts(["classes", "supergraph"])
    for failed in (["files"], ["supergraph", OWNER]):
        counts.note(failed)
    counts.check()


@pytest.mark.counts_edits("classes")
@pytest.mark.xfail(reason="no edit is noted here", raises=AssertionError, strict=True)
def test_a_marked_test_that_notes_nothing_fails():
    pass
