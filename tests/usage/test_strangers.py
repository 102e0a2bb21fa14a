"""Fifty small projects that nobody has set up: what is found of their defects, and nothing wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

LEAST = 129
"""Rows of 131 that are found."""


@pytest.mark.acceptance
def test_defects_are_found_without_any_setting(shared_path: Path, tmp_path: Path) -> None:
    count = shared_path / "strangers" / "check.py"
    if not count.is_file():
        pytest.skip("the shared corpus is not on this machine")
    command = tmp_path / "cfgfix"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cfgfix "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    done = subprocess.run(
        [sys.executable, str(count), str(command)], capture_output=True, text=True, timeout=900, check=True
    )
    last = re.search(r"found (\d+) of (\d+), wrong (\d+)", done.stdout)
    assert last is not None, done.stdout[-500:]
    assert int(last.group(1)) >= LEAST, done.stdout
    assert int(last.group(3)) == 0, done.stdout
