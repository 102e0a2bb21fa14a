"""A stable name for a function and its settings, so that a cache knows when its entries are stale.

TensorFlow is not imported here.
"""

from __future__ import annotations

import functools
import math
import re
import sys
import types
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from cfgfix.core.errors import CfgfixError

MAX_PARTS = 20_000
"""Pieces of code and data looked at for one function; a tokenizer with more is better named by hand."""


def fingerprint(value: Any) -> str:
    """Return 32 hexadecimal digits that change when a value or a function changes.

    A function counts by its bytecode, its defaults, what it closes over, and the functions, modules and plain data
    that its code names; code of other packages that have a version counts by that. The answer may differ between
    versions of Python, which costs a rebuild and never a wrong entry.

    Args:
        value: Plain data (numbers, texts, bytes, lists, tuples, sets, mappings, patterns, arrays of NumPy), a function, a
            partial, a class, or an object with a method `fingerprint()` that returns a text.

    Raises:
        CfgfixError: It holds something whose content cannot be seen, such as a C object.

    >>> fingerprint({"a": 1, "b": [2.0]}) == fingerprint({"b": [2.0], "a": 1})
    True
    >>> fingerprint(lambda text: text.lower()) == fingerprint(lambda text: text.upper())
    False
    """
    walk = _DigestWalk()
    walk.add(value)
    return walk.digest()


class _DigestWalk:
    def __init__(self) -> None:
        self._hash = blake2b(digest_size=16)
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []
        self._parts = 0
        self._package = ""

    def digest(self) -> str:
        return self._hash.hexdigest()

    def _put_into_digest(self, kind: str, body: bytes = b"") -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise CfgfixError(
                "there is too much behind this function to look at",
                hint="give fingerprint= a text of your own",
            )
        self._hash.update(f"{kind}:{len(body)}:".encode())
        self._hash.update(body)

    def add(self, value: Any) -> None:
        if value is None or isinstance(value, (bool, int)):
            self._put_into_digest(type(value).__name__, repr(value).encode())
        elif isinstance(value, float):
            self._put_into_digest("float", ("nan" if math.isnan(value) else value.hex()).encode())
        elif isinstance(value, str):
            self._put_into_digest("str", value.encode("utf-8", "surrogatepass"))
        elif isinstance(value, (bytes, bytearray)):
            self._put_into_digest("bytes", bytes(value))
        elif isinstance(value, complex) or value is Ellipsis:
            self._put_into_digest("repr", repr(value).encode())
        elif id(value) in self._seen:
            self._put_into_digest("again", str(self._seen[id(value)]).encode())
        else:
            self._seen[id(value)] = len(self._seen)
            self._kept.append(value)  # an object that goes away could give its id to another
            self._add_object(value)

    def _add_object(self, value: Any) -> None:
        if isinstance(value, Mapping):
            self._put_into_digest("mapping", str(len(value)).encode())
            for digest, key, item in sorted(
                ((_single_text(key), key, item) for key, item in value.items()), key=lambda row: row[0]
            ):
                self._put_into_digest("key", digest.encode())
                self.add(key)
                self.add(item)
        elif isinstance(value, (set, frozenset)):
            self._put_into_digest("set", "".join(sorted(_single_text(item) for item in value)).encode())
        elif isinstance(value, (list, tuple)):
            self._put_into_digest(type(value).__name__, str(len(value)).encode())
            for item in value:
                self.add(item)
        elif isinstance(value, re.Pattern):
            self._put_into_digest("pattern", str(value.flags).encode())
            self.add(value.pattern)
        elif isinstance(value, functools.partial):
            self._put_into_digest("partial")
            for item in (value.func, value.args, value.keywords):
                self.add(item)
        elif isinstance(value, types.MethodType):
            self._put_into_digest("method")
            self.add(value.__func__)
            self.add(value.__self__)
        elif isinstance(value, types.FunctionType):
            self._add_function(value)
        elif isinstance(value, types.CodeType):
            self._add_code(value)
        elif isinstance(value, types.ModuleType):
            self._add_module(value)
        elif isinstance(value, type):
            self._add_type(value)
        elif isinstance(value, (types.MethodDescriptorType, types.WrapperDescriptorType)):
            self._put_into_digest(
                "descriptor",
                f"{value.__qualname__}@{_name_with_version(value.__objclass__.__module__)}".encode(),
            )
        elif isinstance(value, (types.BuiltinFunctionType, types.BuiltinMethodType)):
            self._add_builtin(value)
        else:
            self._add_instance(value)

    def _add_function(self, function: types.FunctionType) -> None:
        module = function.__module__ or ""
        if not self._package:
            self._package = module.partition(".")[0]
        elif self._is_foreign(module):
            self._put_into_digest(
                "function", f"{_name_with_version(module)}.{function.__qualname__}".encode()
            )
            return
        wrapped = getattr(function, "__wrapped__", None)
        self._put_into_digest("function", function.__qualname__.encode())
        self._add_code(function.__code__)
        for item in (function.__defaults__, function.__kwdefaults__, wrapped):
            self.add(item)
        for cell in function.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:
                content = None
            self.add(content)
        for name in sorted(_names_in_code(function.__code__)):
            if name in function.__globals__:
                self._put_into_digest("global", name.encode())
                self.add(function.__globals__[name])

    def _is_foreign(self, module: str) -> bool:
        """Return whether a module belongs to another package that has a known version."""
        return module.partition(".")[0] != self._package and not _name_with_version(module).endswith("@?")

    def _add_module(self, module: types.ModuleType) -> None:
        """Add a module to the digest: its source, and the own modules it takes names from.

        A module of another package counts by its version.
        """
        if self._is_foreign(module.__name__):
            self._put_into_digest("module", _name_with_version(module.__name__).encode())
            return
        self._put_into_digest("module", module.__name__.encode())
        path = getattr(module, "__file__", None)
        if path is not None:
            try:
                with open(path, "rb") as stream:
                    self._put_into_digest("source", stream.read())
            except OSError as error:
                raise CfgfixError(f"the source of {module.__name__} cannot be read", path=path) from error
        for name, item in sorted(vars(module).items()):
            other = item if isinstance(item, types.ModuleType) else None
            if other is None and isinstance(item, (types.FunctionType, type)):
                other = sys.modules.get(item.__module__ or "")
            if other is not None and other is not module and not self._is_foreign(other.__name__):
                self._put_into_digest("uses", name.encode())
                self.add(other)

    def _add_code(self, code: types.CodeType) -> None:
        self._put_into_digest("code", code.co_code)
        self.add(code.co_names)
        self.add(code.co_varnames)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._add_code(constant)
            else:
                self.add(constant)

    def _add_type(self, kind: type) -> None:
        if self._is_foreign(kind.__module__):
            self._put_into_digest(
                "type", f"{_name_with_version(kind.__module__)}.{kind.__qualname__}".encode()
            )
            return
        self._put_into_digest("type", kind.__qualname__.encode())
        for name, item in sorted(vars(kind).items()):
            plain = item.__func__ if isinstance(item, (staticmethod, classmethod)) else item
            if isinstance(item, property):
                plain = item.fget
            if isinstance(
                plain, (types.FunctionType, str, int, float, bytes, tuple, frozenset)
            ) and name not in ("__module__", "__doc__"):
                self._put_into_digest("member", name.encode())
                self.add(plain)
        for base in kind.__bases__:
            self.add(base)

    def _add_builtin(self, function: Any) -> None:
        owner = getattr(function, "__self__", None)
        if owner is None or isinstance(owner, types.ModuleType):
            self._put_into_digest(
                "builtin", f"{_name_with_version(function.__module__ or '')}.{function.__qualname__}".encode()
            )
        else:
            self._put_into_digest("bound", function.__name__.encode())
            self.add(owner)

    def _add_instance(self, value: Any) -> None:
        own = getattr(value, "fingerprint", None)
        if callable(own):
            text = own()
            if not isinstance(text, str):
                raise CfgfixError(f"{type(value).__name__}.fingerprint() must return a text")
            self._put_into_digest("own", text.encode())
            return
        array = getattr(value, "__array_interface__", None)
        if isinstance(array, dict) and hasattr(value, "tobytes") and not value.dtype.hasobject:
            self._put_into_digest("array", f"{value.dtype.str}{value.shape}".encode())
            self._put_into_digest("content", value.tobytes())
            return
        if type(value).__module__ in ("logging", "_thread", "threading"):
            # What a function logs to, or locks, does not change its result.
            self._put_into_digest("no content", type(value).__qualname__.encode())
            return
        state = getattr(value, "__dict__", None)
        slots = [name for kind in type(value).__mro__ for name in _slot_names(kind) if hasattr(value, name)]
        if state is None and not slots:
            raise CfgfixError(
                f"a {type(value).__module__}.{type(value).__qualname__} does not show its content",
                hint="give fingerprint= a text that changes when it does, such as its version",
            )
        if not self._package:
            self._package = type(value).__module__.partition(".")[0]
        self.add(type(value))
        self.add({**(state or {}), **{name: getattr(value, name) for name in slots}})


def _slot_names(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (
        (slots,)
        if isinstance(slots, str)
        else tuple(name for name in slots if name not in ("__dict__", "__weakref__"))
    )


def _single_text(value: Any) -> str:
    walk = _DigestWalk()
    walk.add(value)
    return walk.digest()


def _names_in_code(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_in_code(constant)
    return names


@functools.lru_cache(maxsize=256)
def _name_with_version(module: str) -> str:
    """Return a module's name with the version of its package, or `?` where unknown."""
    import platform

    package = module.partition(".")[0]
    if package in sys.stdlib_module_names:
        return f"{module}@python{platform.python_version()}"
    version = getattr(sys.modules.get(package), "__version__", None)
    if not isinstance(version, str):
        from importlib.metadata import PackageNotFoundError
        from importlib.metadata import version as version_of

        try:
            version = version_of(package)
        except PackageNotFoundError:
            version = "?"
    return f"{module}@{version}"
