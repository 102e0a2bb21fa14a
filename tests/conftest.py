"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def find_shared() -> Path | None:
    """The folder with the corpus and the rule evidence, where this machine has one."""
    named = os.environ.get("CFGFIX_SHARED")
    place = Path(named) if named else ROOT.parent / "shared"
    return place if (place / "corpus").is_dir() else None


@pytest.fixture(scope="session")
def shared_path() -> Path:
    place = find_shared()
    if place is None:
        pytest.skip("the shared corpus is not on this machine")
    return place


@pytest.fixture(scope="session")
def repo_root() -> Path:
    return ROOT
