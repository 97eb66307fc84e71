"""A release for machines: Croissant 1.0, Data Package 2.0 or plain JSON, always the same bytes.

What an owner declares of a publication is read from TOML and shown as declared, never inferred.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from graphveil.claims import parts
from graphveil.claims.manifest import DataFile, Manifest
from graphveil.core.errors import InputError, UsageError
from graphveil.core.hints import one_of
from graphveil.verify.verdict import Verdict

Recipient = Literal["public", "named", "controlled"]

RECIPIENTS: dict[str, str] = {
    "public": "The public",
    "named": "Named recipients",
    "controlled": "Recipients under controlled access",
}
FIELDS: dict[str, str] = {
    "purpose": "Purpose",
    "other_data": "Other data recipients may hold",
    "motive": "Why someone might try to identify a person",
    "review": "Date of review",
    "license": "License",
    "creator": "Published by",
    "url": "Address",
    "published": "Date of publication",
}
"""What may be declared, and what a page calls it."""

MOST_BYTES = 1 << 20


def recipient_of(name: str | None) -> str | None:
    """Return to whom a release goes, in words; None where it was not declared."""
    if name is not None and name not in get_args(Recipient):
        raise UsageError(f"unknown recipient {name!r}. {one_of(name, RECIPIENTS)}")
    return None if name is None else RECIPIENTS[name]


def read_declared(path: str | Path) -> dict[str, str]:
    """Return what a TOML file declares, by the names of `FIELDS` and `recipient`."""
    file = Path(path)
    try:
        raw = file.read_bytes()
        if len(raw) > MOST_BYTES:
            raise UsageError(f"{file} has {len(raw):,} bytes. The maximum is {MOST_BYTES:,}.")
        values = tomllib.loads(raw.decode())
    except OSError as error:
        raise InputError(f"cannot read {file} ({error.strerror}). Give a TOML file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file.name} is not valid TOML: {error}. Correct that line.") from error
    known = ["recipient", *FIELDS]
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{file.name}: unknown key {name!r}. {one_of(name, known)}")
        if isinstance(value, dict | list):
            raise UsageError(f"{file.name}: the value of {name!r} is not text. Put it in quotes.")
    return {name: str(value) for name, value in values.items()}


MEDIA_TYPES: dict[str, str] = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "parquet": "application/vnd.apache.parquet",
}
"""The media types of the formats of a release; others are bytes."""

TERMS: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
} | {
    name: f"cr:{name}"
    for name in (
        *("citeAs", "column", "extract", "field", "fileProperty", "fileObject", "fileSet"),
        *("format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path"),
        *("recordSet", "references", "regex", "repeated", "replace", "separator", "source"),
        *("subField", "transform"),
    )
}
"""The context of Croissant 1.0."""


def as_croissant(
    manifest: Manifest, verdict: Verdict, folder: str, declared: Mapping[str, str]
) -> dict[str, Any]:
    """Return the JSON-LD of a release; license, address, creator and date only where declared."""
    stated: dict[str, Any] = {
        "license": declared.get("license"),
        "url": declared.get("url"),
        "datePublished": declared.get("published"),
    }
    files = manifest.data.files
    described = files[:1] if parts.in_parts(files) else files  # the first part stands for all
    if "creator" in declared:
        stated["creator"] = {"@type": "sc:Organization", "name": declared["creator"]}
    return {
        "@context": TERMS,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": _name(folder),
        "description": _description(manifest, verdict),
        "version": f"{manifest.version}",
        **{name: value for name, value in stated.items() if value},
        "isAccessibleForFree": True if declared.get("recipient") == "public" else None,
        "distribution": [
            *(
                {
                    "@type": "cr:FileObject",
                    "@id": file.name,
                    "name": file.name,
                    "contentUrl": f"{folder}/{file.name}",
                    "contentSize": f"{file.bytes} B",
                    "encodingFormat": _media_type(file),
                    "sha256": file.sha256,
                }
                for file in manifest.data.files
            ),
            *_file_sets(manifest, folder),
        ],
        "recordSet": [_record_set(file, manifest) for file in described],
    }


def _file_sets(manifest: Manifest, folder: str) -> list[dict[str, Any]]:
    """Return what says that all parts are files of one set."""
    if not parts.in_parts(manifest.data.files):
        return []
    return [
        {
            "@type": "cr:FileSet",
            "@id": parts.FOLDER,
            "name": parts.FOLDER,
            "includes": f"{folder}/{parts.FOLDER}/*.parquet",
            "encodingFormat": _media_type(manifest.data.files[0]),
        }
    ]


def _record_set(file: DataFile, manifest: Manifest) -> dict[str, Any]:
    source = {"fileObject": {"@id": file.name}}
    if parts.is_part(file.name):
        source = {"fileSet": {"@id": parts.FOLDER}}
    return {
        "@type": "cr:RecordSet",
        "@id": f"{file.role}-records",
        "name": f"{file.role}-records",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{file.role}-records/{number}",
                "name": column,
                "dataType": "sc:Integer" if _is_id(column, file, manifest) else "sc:Text",
                **({"repeated": True} if parts.is_part(file.name) and number else {}),
                "source": {**source, "extract": {"column": column}},
            }
            for number, column in enumerate(file.columns)
        ],
    }


def as_datapackage(
    manifest: Manifest, verdict: Verdict, folder: str, declared: Mapping[str, str]
) -> dict[str, Any]:
    """Return the descriptor of a Data Package 2.0; it stands next to the release folder."""
    package: dict[str, Any] = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": _name(folder),
        "title": f"{manifest.method.name} release",
        "description": _description(manifest, verdict),
        "homepage": declared.get("url"),
        "licenses": [{"title": declared["license"]}] if "license" in declared else None,
        "contributors": [{"title": declared["creator"]}] if "creator" in declared else None,
        "resources": list(_resources(manifest, folder)),
    }
    return {name: value for name, value in package.items() if value is not None}


def _resources(manifest: Manifest, folder: str) -> Iterator[dict[str, Any]]:
    if parts.in_parts(manifest.data.files):
        yield _resource_in_parts(manifest, folder)
        return
    for file in manifest.data.files:
        resource: dict[str, Any] = {
            "$schema": "https://datapackage.org/profiles/2.0/dataresource.json",
            "name": _name(file.role),
            "path": f"{folder}/{file.name}",
            "format": file.format,
            "mediatype": _media_type(file),
            "bytes": file.bytes,
            "hash": f"sha256:{file.sha256}",
        }
        if file.format in {"csv", "tsv"} and file.columns:
            columns = [
                {"name": one, "type": "integer" if _is_id(one, file, manifest) else "string"}
                for one in file.columns
            ]
            schema = "https://datapackage.org/profiles/2.0/tableschema.json"
            resource |= {"type": "table", "encoding": "utf-8"}
            resource["schema"] = {"$schema": schema, "fields": columns}
            if file.format == "tsv":
                resource["dialect"] = {"delimiter": "\t"}
        yield resource


def _resource_in_parts(manifest: Manifest, folder: str) -> dict[str, Any]:
    """Return the one resource of many files; their digests stand in the manifest."""
    files = manifest.data.files
    return {
        "$schema": "https://datapackage.org/profiles/2.0/dataresource.json",
        "name": _name(files[0].role),
        "path": [f"{folder}/{file.name}" for file in files],
        "format": files[0].format,
        "mediatype": _media_type(files[0]),
        "bytes": sum(file.bytes for file in files),
    }


def as_json(
    manifest: Manifest, verdict: Verdict, _folder: str, declared: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the manifest says, and what was recomputed of it just now."""
    return {
        "answer": verdict.answer,
        "declared": dict(declared),
        "manifest": msgspec.to_builtins(manifest),
        "verdict": verdict.as_json(),
    }


FORMS: dict[str, Callable[[Manifest, Verdict, str, Mapping[str, str]], dict[str, Any]]] = {
    "croissant": as_croissant,
    "datapackage": as_datapackage,
    "json": as_json,
}
"""What `--as` makes."""


def json_text(value: Mapping[str, Any]) -> str:
    """Return JSON, the same bytes for the same value, without what is None at the top."""
    kept = {name: item for name, item in value.items() if item is not None}
    return json.dumps(kept, indent=2, ensure_ascii=True) + "\n"


def _description(manifest: Manifest, verdict: Verdict) -> str:
    failed = "When this was written, verification FAILED."
    undecided = "When this was written, it could not be decided whether the guarantee holds."
    said = {
        "recomputed": "When this was written, the guarantee was recomputed and held.",
        "by construction": (
            "When this was written, no check failed; no file can show whether this holds."
        ),
        "not claimed": "When this was written, no check failed.",
    }[verdict.word]
    holds = {"fails": failed, "undecided": undecided, "holds": said}[verdict.answer]
    promise = verdict.held if verdict.ok else verdict.sentence
    return f"{promise} {holds} {manifest.claim.does_not_protect_against}"


def _name(text: str) -> str:
    """Return a name of small letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "release"


def _media_type(file: DataFile) -> str:
    return MEDIA_TYPES.get(file.format, "application/octet-stream")


def _is_id(column: str, file: DataFile, manifest: Manifest) -> bool:
    """Whether a column holds new ids, which are whole numbers; an attribute may have its name."""
    if file.role != "data":
        return column == file.columns[0]
    ends = {"graph": ("source", "target"), "bipartite": ("user",)}
    return column in (ends | {"network": ends["graph"]}).get(manifest.data.kind, ())
