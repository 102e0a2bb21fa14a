"""The command line as a process of its own, as users start it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from cache_folders import after_a_first_run

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def cfgfix(tmp_path):
    """Run `cfgfix` with arguments in an empty folder of its own."""

    def run(*arguments, cwd=None, stdin=None, env=None, raw=False):
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("CFGFIX_", "NO_COLOR", "FORCE_COLOR"))
        }
        environment["PYTHONPATH"] = str(ROOT)
        environment["CFGFIX_CACHE_DIR"] = after_a_first_run(tmp_path / ".cache-of-cfgfix")
        environment["PYTHONUTF8"] = "1"
        environment.update(env or {})
        done = subprocess.run(
            [sys.executable, "-m", "cfgfix", *map(str, arguments)],
            cwd=cwd or tmp_path,
            input=stdin,
            capture_output=True,
            env=environment,
            timeout=120,
            check=False,
        )
        if raw:
            return done
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def config(tmp_path):
    """Write a config into the empty folder and return its path."""

    def write(text, name="config.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
