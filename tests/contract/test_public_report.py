"""The page that may be published says nothing but what follows from the released files."""

from __future__ import annotations

import re
import shutil

import pytest

import graphveil as gv
from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.claims.record import private_folder, read_record

pytestmark = [
    pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning"),
    pytest.mark.usefixtures("one_database"),
]
SEED = 918273645546372819
FORMS = ("html", "croissant", "datapackage", "json")


def test_a_public_report_is_the_same_bytes_with_and_without_what_is_private(
    claim, sample, tmp_path
):
    data = sample(claim)
    (tmp_path / "owner").mkdir()
    owned = claim.anonymizer.anonymize(data, seed=None).write(tmp_path / "owner" / "out")
    sent = shutil.copytree(owned, tmp_path / "recipient" / "out")
    assert private_folder(owned).is_dir()
    assert not private_folder(sent).exists()
    for form in FORMS:
        with_it = gv.report_release(owned, public=True, form=form)
        assert with_it.text == gv.report_release(sent, form=form).text
        assert_nothing_of_the_original(with_it.text, data, owned)
    assert_no_figure_that_compares(gv.report_release(sent).text, gv.read_release(sent))


def assert_nothing_of_the_original(text, data, folder):
    record = read_record(folder)
    assert [] == [name for name in data.labels().tolist() if name in text]
    assert [] == [d for d in (record.input_sha256, *record.origins_sha256) if d in text]
    assert str(folder.parent) not in text
    assert not re.search(r"20[2-9]\d-\d\d", text)
    assert not re.search(r"(?<!-)\banonymous", text, re.IGNORECASE)  # 2-anonymous is a term


def test_a_public_report_says_no_seed(method, sample, tmp_path):
    release = sample.quick(method).anonymize(sample(method), seed=SEED)
    report = gv.report_release(release.write(tmp_path / "out"), public=True)
    assert str(SEED) not in report.text


def assert_no_figure_that_compares(page, release):
    assert not re.search(
        r"Yes \(measured\)|>Not shown</span>|Alone before|>before<|What was kept", page
    )
    noisy = isinstance(release.guarantee, EdgeDP | NodeDP)
    assert noisy == (
        "at even odds can reach at most" in page or "bounds nothing in practice" in page
    )
