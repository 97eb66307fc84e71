"""A release: published data, what is guaranteed of it, and what only its owner may see."""

from graphveil.claims.facts import digest_of, digests_of_origins
from graphveil.claims.manifest import MANIFEST, Manifest, read_manifest
from graphveil.claims.record import LINKAGE, RECORD, Record, private_folder, read_record
from graphveil.release.files import Linkage, OwnersLevels, Private, Provenance, Witness
from graphveil.release.generalized_graph import GeneralizedGraph
from graphveil.release.release import Release, nesting_of, read_release

__all__ = [
    "LINKAGE",
    "MANIFEST",
    "RECORD",
    "GeneralizedGraph",
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
