"""What the tests of the runtime share."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@pytest.fixture
def fresh() -> Callable[..., str]:
    """Run code in a process of its own, where TensorFlow's runtime has not started; its output is returned."""

    def run(code: str, *arguments: object, ok: bool = True) -> str:
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env=environment,
        )
        if ok:
            assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return run
