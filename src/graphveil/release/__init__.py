"""A release: published data, what is promised of it, and what only its owner may see."""

from graphveil.records.digest import digest_of, digests_of_origins
from graphveil.records.manifest import MANIFEST, Manifest, read_manifest
from graphveil.records.record import LINKAGE, RECORD, Record, private_folder, read_record
from graphveil.release.linkage import Linkage
from graphveil.release.matched_pairs import OwnersLevels, Witness
from graphveil.release.provenance import Private, Provenance
from graphveil.release.release import Release, nesting_of, read_release

__all__ = [
    "LINKAGE",
    "MANIFEST",
    "RECORD",
    "Linkage",
    "Manifest",
    "OwnersLevels",
    "Private",
    "Provenance",
    "Record",
    "Release",
    "Witness",
    "digest_of",
    "digests_of_origins",
    "nesting_of",
    "private_folder",
    "read_manifest",
    "read_record",
    "read_release",
]
