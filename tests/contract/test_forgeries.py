"""Every forgery of the kit is noticed, whatever made the release and in every format of one."""

from __future__ import annotations

import shutil

import pytest

import graphveil as gv
from forged.kit import OF_ANY_FOLDER, Forged, forgeries_of, reseal
from graphveil.data.encoding import accepted_kinds, encoded_kind
from graphveil.io import FORMATS
from graphveil.methods import METHODS
from graphveil.release import read_release
from graphveil.release.files import kind_of
from graphveil.verify import verify

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

SUBJECTS = [
    (method, kind)
    for method in METHODS.values()
    for kind in accepted_kinds(method.accepts)
    if kind is not gv.Table or gv.Bipartite not in accepted_kinds(method.accepts)
]
RELEASED = [
    pytest.param(method, kind, form.name, id=f"{method.name}-{kind.__name__}-{form.name}")
    for method, kind in SUBJECTS
    for form in FORMATS.values()
    if kind_of(encoded_kind(kind, method.accepts)) in form.kinds and not form.released_as
    if encoded_kind(kind, method.accepts) is gv.Graph or form.text_ids
]


def released(method, kind, form, sample, place):
    """Return the public folder of a release; the owner's digests, which notice all, are away."""
    data = sample(method, kind=kind)
    folder = sample.quick(method).anonymize(data, seed=3).write(place / "release", format=form)
    shutil.rmtree(place / "release.private")
    return folder


def unnoticed(folder, forgeries: dict[str, Forged]) -> list[str]:
    """Return the forgeries that the checker lets pass, or notices for another reason."""
    passed = []
    for name, forged in forgeries.items():
        copy = folder.with_name("forged")
        shutil.copytree(folder, copy)
        forged.forge(copy)
        verdict = verify(copy)
        failed = {check.name for check in verdict.failures()}
        if verdict.exit_code != 1 or not failed & set(forged.noticed_by):
            passed.append(f"{name}: {sorted(failed)}")
        shutil.rmtree(copy)
    return passed


@pytest.mark.parametrize(("subject", "kind", "form"), RELEASED)
def test_every_forgery_of_a_file_is_noticed_and_its_untouched_twin_verifies(
    subject, kind, form, sample, tmp_path
):
    folder = released(subject, kind, form, sample, tmp_path)
    data = read_release(folder).data
    if not isinstance(data, gv.Table) and not any(data.indices):
        pytest.skip("nothing is published that could be written in another way")
    reseal(folder)
    assert 0 == verify(folder).exit_code
    forgeries = forgeries_of(folder)
    assert len(forgeries) > 10
    assert [] == unnoticed(folder, forgeries)


@pytest.mark.parametrize(("subject", "kind"), SUBJECTS)
def test_every_forgery_of_manifest_and_folder_is_noticed(subject, kind, sample, tmp_path):
    folder = released(subject, kind, "csv", sample, tmp_path)
    reseal(folder)
    assert 0 == verify(folder).exit_code
    assert [] == unnoticed(folder, OF_ANY_FOLDER)
