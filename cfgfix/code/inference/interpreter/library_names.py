"""The canonical names of functions outside a project."""

from __future__ import annotations

import functools

from cfgfix.code.model.canonical_names import canonical_name

_OPENS = frozenset(
    {
        "io.open",
        "codecs.open",
        "tensorflow.io.gfile.GFile",
        "tensorflow.gfile.GFile",
        "tensorflow.gfile.Open",
        "smart_open.open",
    }
)
"""Functions that open a file by its path as `open` does."""


@functools.lru_cache(maxsize=16_384)
def canonical(name: str) -> str:
    """Return the canonical form of a dotted name outside the project."""
    if name in ("tensorflow.keras", "tf_keras"):
        return "keras"
    found = canonical_name(name)
    return "builtins.open" if found in _OPENS else found
