"""A store of objects in memory, as `pyarrow.fs` reaches one: no renaming, objects appear whole."""

from __future__ import annotations

import pickle
from contextlib import contextmanager

import pyarrow as pa
from pyarrow import fs

from graphveil.core import storage as stores


def _nothing(verb, name):
    del verb, name


class Objects(fs.FileSystemHandler):
    """Objects by their names; a folder is there where a name goes on behind it.

    `refused` is called with a name before an object is written or read, and may raise.
    """

    def __init__(self):
        self.objects = {}
        self.written = []
        self.refused = _nothing

    def get_type_name(self):
        return "objects"

    def normalize_path(self, path):
        return path

    def _info(self, path):
        if path in self.objects:
            return fs.FileInfo(path, fs.FileType.File, size=len(self.objects[path]))
        beneath = any(name.startswith(f"{path}/") for name in self.objects)
        return fs.FileInfo(path, fs.FileType.Directory if beneath else fs.FileType.NotFound)

    def get_file_info(self, paths):
        return [self._info(path) for path in paths]

    def get_file_info_selector(self, selector):
        self.refused("list", selector.base_dir)
        around = selector.base_dir.rstrip("/") + "/"
        found = set()
        for name in self.objects:
            if name.startswith(around):
                parts = name.removeprefix(around).split("/")
                depths = range(1, len(parts) + 1) if selector.recursive else [1]
                found |= {around + "/".join(parts[:n]) for n in depths}
        return [self._info(path) for path in found]

    def open_input_file(self, path):
        self.refused("read", path)
        if path not in self.objects:
            raise FileNotFoundError(path)
        return pa.BufferReader(self.objects[path])

    open_input_stream = open_input_file

    def open_output_stream(self, path, metadata):
        del metadata
        return pa.PythonFile(_Put(self, path), mode="w")

    def delete_file(self, path):
        self.refused("delete", path)
        if path not in self.objects:
            raise FileNotFoundError(path)
        del self.objects[path]

    def _none(self, *_):
        raise NotImplementedError("a store of objects has no folders and renames nothing")

    create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = move = _none
    copy_file = open_append_stream = _none


class _Put:
    """An object that is there once it is closed."""

    closed = False

    def __init__(self, store, path):
        self.store, self.path, self.content = store, path, b""

    def write(self, content):
        self.content += bytes(content)
        return len(content)

    def flush(self):
        pass

    def tell(self):
        return len(self.content)

    def close(self):
        if not self.closed:
            self.closed = True
            self.store.refused("write", self.path)
            self.store.objects[self.path] = self.content
            self.store.written.append(self.path)


class _Kind(stores.Store):
    def __init__(self, system):
        super().__init__("mem")
        self.system = system

    def opened(self, authority, options):
        del authority, options
        return self.system


@contextmanager
def served(patched):
    """Serve addresses such as ``mem://lake/lists`` from one store, inside the block."""
    handler = Objects()
    patched.setitem(stores.SCHEMES, "mem", _Kind(fs.PyFileSystem(handler)))
    yield handler


def copied(value):
    """Return a value as another process would get it."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301  our own
