"""cfgfix: configuration validator and auto-fixer for TensorFlow training runs."""

from __future__ import annotations

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name != "profile":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return importlib.import_module("cfgfix.cli.session").profile
