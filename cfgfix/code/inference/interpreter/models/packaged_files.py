"""Files that lie beside the code of a package: `importlib.resources`, `pkg_resources`, `pkgutil`."""

from __future__ import annotations

import posixpath

from cfgfix.code.inference.interpreter.models.paths import join_paths
from cfgfix.code.inference.interpreter.models.texts import text_of
from cfgfix.code.inference.interpreter.objects import (
    FilePath,
    ModuleObject,
    OpenFile,
    Scalar,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model
from cfgfix.code.inference.interpreter.values import constant_text


def _package_folder(call: Call, anchor: Value | None) -> Value | None:
    """Return the folder of a package, given the package or a module, or the name.

    The caller's folder where nothing is given; None where the name is not known.
    """
    module = call.spot.scope.module
    if isinstance(anchor, ModuleObject):
        module = anchor.module
    elif anchor is not None:
        name = constant_text(anchor)
        if name is None:
            return None
        found = call.run.program.module(name) if name != "__main__" else module
        if found is None:
            return Scalar(name.replace(".", "/"))
        module = found
    return Scalar(posixpath.dirname(module.path.replace("\\", "/")) or ".")


def _call_files(call: Call) -> Value | None:
    folder = _package_folder(call, call.argument(0, "anchor") or call.keywords.get("package"))
    return FilePath(folder) if folder is not None else None


def _path_in_package(call: Call) -> Value | None:
    """Return the path of a file of a package."""
    folder = _package_folder(call, call.first)
    return join_paths((folder, *map(text_of, call.args[1:]))) if folder is not None else None


def _file_path(call: Call) -> Value | None:
    path = _path_in_package(call)
    return FilePath(path) if path is not None else None


def _call_open(call: Call) -> Value | None:
    path = _path_in_package(call)
    return OpenFile(path) if path is not None else None


def _as_file(call: Call) -> Value:
    return call.first


FUNCTIONS: dict[str, Model] = {
    **{
        f"{package}.{name}": model
        for package in ("importlib.resources", "importlib_resources")
        for name, model in {
            "files": _call_files,
            "as_file": _as_file,
            "path": _file_path,
            "open_text": _call_open,
            "open_binary": _call_open,
            "read_text": _call_open,
            "read_binary": _call_open,
        }.items()
    },
    "pkg_resources.resource_filename": _path_in_package,
    "pkg_resources.resource_stream": _call_open,
    "pkg_resources.resource_string": _call_open,
    "pkgutil.get_data": _call_open,
}
