"""What the tests of the runtime share."""

from __future__ import annotations

import os
import shutil
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


SENTENCES = (
    "The quick brown fox jumps over the lazy dog.",
    "Printing, in the only sense with which we are at present concerned, differs from most if not from all the arts.",
    "She sells sea shells by the sea shore, sixteen dozen of them.",
    "Was it a car or a cat I saw?",
)


@pytest.fixture(scope="session")
def speech(tmp_path_factory) -> list[Path]:
    """Sentences spoken by espeak-ng: mono WAV files of 16 bits at 22,050 samples per second."""
    program = shutil.which("espeak-ng")
    if program is None:
        pytest.skip("espeak-ng is not on this machine (Debian has it as a package)")
    folder = tmp_path_factory.mktemp("speech")
    paths = []
    for index, sentence in enumerate(SENTENCES):
        path = folder / f"{index}.wav"
        subprocess.run([program, "-w", str(path), sentence], check=True, timeout=60)
        paths.append(path)
    return paths
