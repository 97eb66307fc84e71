"""Releases of networks that were changed and sealed anew, and what verify says of them."""

from __future__ import annotations

import hashlib
import json

import msgspec

import graphveil as gv


def written(value):
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def sealed_anew(folder, change=None):
    """Make manifest and owner's record fit what stands in the folder, and what is changed in it."""
    manifest = json.loads((folder / "release.json").read_bytes())
    for file in manifest["data"]["files"]:
        raw = (folder / file["name"]).read_bytes()
        file["bytes"], file["sha256"] = len(raw), hashlib.sha256(raw).hexdigest()
    if change is not None:
        change(manifest)
    manifest["seal"] = ""
    manifest["seal"] = hashlib.sha256(written(manifest)).hexdigest()
    (folder / "release.json").write_bytes(written(manifest))
    record = folder.with_name("out.private") / "record.json"
    if not record.exists():
        return
    known = json.loads(record.read_bytes())
    known["manifest_sha256"] = hashlib.sha256(written(manifest)).hexdigest()
    record.write_bytes(written(known))


def failed(folder, original=None):
    return {c.name: c.detail for c in gv.verify_release(folder, original).failures()}
