"""The scripts of tools/ and benchmarks/ as modules; no package holds them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def load_script(path: str, name: str = "") -> ModuleType:
    """Run a script of the repository as a module, by default under its own name."""
    place = ROOT / path
    spec = importlib.util.spec_from_file_location(name or place.stem, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where a dataclass looks for its types
    spec.loader.exec_module(module)
    return module
