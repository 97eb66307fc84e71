"""Every forgery of the kit is noticed, whatever made the release and in every format of one."""

from __future__ import annotations

import dataclasses
import shutil

import pytest

import graphveil as gv
from forged.claims import forged_claims
from forged.kit import CLAIMS, OF_ANY_FOLDER, Forged, edited_values, forgeries_of, reseal
from graphveil.data.kinds import released_kind
from graphveil.io import FORMATS
from graphveil.methods import METHODS
from graphveil.release import read_release
from graphveil.release.files import kind_of
from graphveil.verify import verify

pytestmark = [
    pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning"),
    pytest.mark.usefixtures("one_database"),
]

SUBJECTS = [
    (method, kind)
    for method in METHODS.values()
    for kind in method.accepts
    if kind is not gv.Table or gv.Bipartite not in method.accepts
]


KINDS = (gv.Graph, gv.Bipartite, gv.Table, gv.Network)


def forms_of(method, kind):
    """Return the formats of what a method releases of such data."""
    return forms_of_kind(released_kind(kind, method.accepts[0]))


def forms_of_kind(made):
    return [
        form.name
        for form in FORMATS.values()
        if kind_of(made).name in form.kinds and not form.released_as
        if made is gv.Graph or form.text_ids
        if made is not gv.Network or form.name in {"csv", "tsv", "parquet"}
    ]


TWINS = gv.Graph.from_edges(
    *zip(*((f"p{one}", f"q{other}") for one in range(8) for other in range(8)), strict=True)
)
"""Everybody has the same neighbors as seven others, so that each method for rows keeps some."""


def alike(method, kind):
    """Return the subjects whose released data are of the same kind, in the order of METHODS."""
    made = released_kind(kind, method.accepts[0])
    return [pair for pair in SUBJECTS if released_kind(pair[1], pair[0].accepts[0]) is made]


def share_of(forgeries, subject):
    """Return every forgery for the first of the subjects alike, for the others some in turn.

    What notices them is a check of the bytes of one kind of data: it knows no method. So every
    forgery meets every kind of data twice, and every method meets some.
    """
    same = alike(*subject)
    if subject == same[0]:
        return forgeries
    names = list(forgeries)[same.index(subject) - 1 :: len(same) - 1]
    return {name: forgeries[name] for name in names}


def in_turn():
    """Yield every method and kind as csv, and every format of what is released from one of them.

    What can hide in a file is a matter of its format: not every method has to write every one.
    """
    for made in KINDS:
        some = [pair for pair in SUBJECTS if released_kind(pair[1], pair[0].accepts[0]) is made]
        same = [pair for pair in some if pair[1] is made]
        for number, form in enumerate(forms_of(*some[0])):
            chosen = some if form == "csv" else [same[number % len(same)]]
            yield from ((method, kind, form) for method, kind in chosen)


RELEASED = [
    pytest.param(method, kind, form, id=f"{method.name}-{kind.__name__}-{form}")
    for method, kind, form in in_turn()
]


def test_every_format_of_every_kind_of_a_release_is_among_them():
    assert {(made, form) for made in KINDS for form in forms_of_kind(made)} == {
        (released_kind(kind, method.accepts[0]), form)
        for method, kind, form in (param.values for param in RELEASED)
    }
    released_as_they_are = {form.name for form in FORMATS.values() if not form.released_as}
    assert released_as_they_are == {form for kind in KINDS for form in forms_of_kind(kind)}


@pytest.mark.parametrize("made", [gv.Graph, gv.Bipartite, gv.Table])
def test_every_forgery_meets_every_kind_of_data_twice_and_every_method_meets_some(made):
    same = [pair for pair in SUBJECTS if released_kind(pair[1], pair[0].accepts[0]) is made]
    first, *others = [share_of(OF_ANY_FOLDER, subject) for subject in same]
    assert OF_ANY_FOLDER == first
    assert all(others)
    assert sorted(OF_ANY_FOLDER) == sorted(name for share in others for name in share)


def released(method, kind, form, sample, place):
    """Return the public folder of a release; the owner's digests, which notice all, are away."""
    as_rows = kind is gv.Graph and released_kind(kind, method.accepts[0]) is gv.Bipartite
    data = TWINS if as_rows else sample(method, kind=kind)
    anonymizer = sample.quick(method)
    if kind is gv.Network:
        anonymizer = dataclasses.replace(anonymizer, **sample.roles_of(method, kind))
    folder = anonymizer.anonymize(data, seed=3).write(place / "release", format=form)
    shutil.rmtree(place / "release.private")
    return folder


def unnoticed(folder, forgeries: dict[str, Forged], check=verify) -> list[str]:
    """Return the forgeries that the checker lets pass, or notices for another reason."""
    passed = []
    for name, forged in forgeries.items():
        copy = folder.with_name("forged")
        shutil.copytree(folder, copy)
        forged.forge(copy)
        verdict = check(copy)
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
    ties = data.layers[0] if isinstance(data, gv.Network) else data
    if not isinstance(data, gv.Table) and not any(ties.indices):
        pytest.skip("a method from elsewhere may publish nothing that could be forged")
    reseal(folder)
    assert not verify(folder).failures()
    forgeries = forgeries_of(folder)
    assert len(forgeries) > 10
    tried = share_of(forgeries, (subject, kind)) if form == "csv" else forgeries
    assert [] == unnoticed(folder, tried)


@pytest.mark.parametrize(("subject", "kind"), SUBJECTS)
def test_every_forgery_of_manifest_and_folder_is_noticed(subject, kind, sample, tmp_path):
    folder = released(subject, kind, "csv", sample, tmp_path)
    reseal(folder)
    assert not verify(folder).failures()
    assert [] == unnoticed(folder, share_of(OF_ANY_FOLDER, (subject, kind)))


@pytest.mark.parametrize(("subject", "kind"), SUBJECTS)
def test_conditions_and_values_that_are_not_the_methods_are_noticed(
    subject, kind, sample, tmp_path
):
    folder = released(subject, kind, "csv", sample, tmp_path)
    reseal(folder)
    assert not gv.verify_release(folder).failures()
    forgeries = CLAIMS | edited_values(folder) | forged_claims(folder)
    assert [] == unnoticed(folder, forgeries, gv.verify_release)
