"""Projects and programs whose writers knew no rule: what is found of their faults stays found, and nothing is wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LEAST = {"first": 90, "second": 76, "third": 39, "code": 27}


@pytest.mark.acceptance
@pytest.mark.parametrize("name", LEAST)
def test_what_is_found_stays_found(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "samples.py"), name],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )
    last = re.search(rf"{name}: (\d+) of \d+ found, (\d+) wrong", done.stdout)
    assert last is not None, done.stdout[-500:]
    assert int(last.group(1)) >= LEAST[name], done.stdout
    assert int(last.group(2)) == 0, done.stdout
