"""The kinds of stores that addresses name: how each is spelled, and how it is reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    from pyarrow import fs
else:
    fs = lazy_module("pyarrow.fs")


WAITED_SECONDS = 60
"""So long the library for Google's stores tries again before it gives up."""


class Named(Protocol):
    """What a store looks at in an address."""

    @property
    def authority(self) -> str:
        """The bucket, container or machine."""

    @property
    def key(self) -> str:
        """What follows."""


class Store:
    """A kind of store: how its addresses are spelled, and how it is reached."""

    is_local = False
    keeps_user = False
    example = "s3a://bucket/folder"

    def __init__(self, family: str) -> None:
        self.family = family

    def divided(self, rest: str) -> tuple[str, str, str]:
        """Return authority, key and options of what follows the scheme."""
        authority, _, key = rest.removeprefix("//").partition("/")
        key, _, options = key.partition("?")
        return (authority if rest.startswith("//") else ""), key, options

    def problem(self, address: Named) -> str:
        """Return what is wrong with an address of this kind; empty for nothing."""
        if ":" in address.authority:  # what stands before a slash in a password, perhaps
            return "has a colon in its bucket: in a key, a slash is spelled %2F"
        return "" if address.authority else "names no bucket"

    def root(self, authority: str) -> str:
        """Return one name for all authorities, in small letters, that may be the same store."""
        return authority

    def spelled(self, scheme: str, authority: str, key: str) -> str:
        """Return an address without secrets."""
        return f"{scheme}://{authority}/{key}"

    def path(self, authority: str, key: str) -> str:
        """Return what the file system calls a key."""
        return f"{authority}/{key}".rstrip("/")

    def opened(self, authority: str, options: str) -> Any:
        """Return the file system."""
        uri = f"{self.family}://{authority}" + (f"?{options}" if options else "")
        return fs.FileSystem.from_uri(uri)[0]


class _Google(Store):
    example = "gs://bucket/folder"

    def opened(self, authority: str, options: str) -> Any:
        if "retry_limit_seconds=" not in options:  # else it waits 15 minutes, deaf to signals
            options = "&".join(filter(None, (options, f"retry_limit_seconds={WAITED_SECONDS}")))
        return super().opened(authority, options)


class _Azure(Store):
    keeps_user = True
    example = "abfss://container@account.dfs.core.windows.net/folder"

    def problem(self, address: Named) -> str:
        return "" if "@" in address.authority else "names no container before its account"

    def root(self, authority: str) -> str:
        return authority.partition(".")[0]  # blob.core... and dfs.core... are one account

    def path(self, authority: str, key: str) -> str:
        return super().path(authority.partition("@")[0], key)


class _Hadoop(Store):
    keeps_user = True
    example = "hdfs://namenode:8020/folder"

    def problem(self, address: Named) -> str:
        del address
        return ""

    def root(self, authority: str) -> str:
        del authority  # a name node has several names, and none where it is the default
        return ""

    def path(self, authority: str, key: str) -> str:
        del authority
        return f"/{key}"

    def opened(self, authority: str, options: str) -> Any:
        uri = f"hdfs://{authority or 'default'}/" + (f"?{options}" if options else "")
        return fs.FileSystem.from_uri(uri)[0]


class _Mounted(Store):
    """A folder of every machine."""

    is_local = True
    example = "file:///mnt/folder"

    def divided(self, rest: str) -> tuple[str, str, str]:
        authority = ""
        if rest.startswith("//"):
            authority, _, rest = rest[2:].partition("/")
        return authority, rest, ""

    def problem(self, address: Named) -> str:
        return f"names a machine, {address.authority}" if address.authority else ""

    def spelled(self, scheme: str, authority: str, key: str) -> str:
        return f"{scheme}://{authority}/{key}"

    def path(self, authority: str, key: str) -> str:
        del authority
        return f"/{key}"

    def opened(self, authority: str, options: str) -> Any:
        del authority, options
        return fs.LocalFileSystem()


class _Volumes(_Mounted):
    """Volumes of Databricks, which every machine mounts under the same path."""

    example = "dbfs:/Volumes/catalog/schema/volume/folder"

    def problem(self, address: Named) -> str:
        if address.key.split("/")[0] != "Volumes":
            return "is no volume"
        return super().problem(address)

    def spelled(self, scheme: str, authority: str, key: str) -> str:
        return f"{scheme}:{f'//{authority}' if authority else ''}/{key}"


_S3, _GOOGLE, _AZURE = Store("s3"), _Google("gs"), _Azure("abfs")

SCHEMES: dict[str, Store] = {
    "s3a": _S3,
    "s3": _S3,
    "s3n": _S3,
    "gs": _GOOGLE,
    "abfss": _AZURE,
    "abfs": _AZURE,
    "hdfs": _Hadoop("hdfs"),
    "file": _Mounted("file"),
    "dbfs": _Volumes("file"),
}
"""The kinds of stores by what their addresses begin with."""
