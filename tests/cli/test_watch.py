"""`--watch`, as a person uses it: a file is saved, the answer follows, Ctrl-C ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLEAN = (
    "model: {n_mels: 80}\ntraining:\n  learning_rate: 1.0e-4\ndata:\n  dataset_path: d\n  num_workers: 4\n"
)


def until(seen, wanted, limit=60):
    end = time.monotonic() + limit
    while wanted not in seen.read_text(encoding="utf-8"):
        assert time.monotonic() < end, seen.read_text(encoding="utf-8")
        time.sleep(0.05)


@pytest.mark.skipif(os.name != "posix", reason="not on this platform: Ctrl-C is sent another way")
def test_a_saved_change_is_answered_and_an_interruption_ends_it(tmp_path):
    config, seen = tmp_path / "train.yaml", tmp_path / "seen.txt"
    config.write_text(CLEAN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CFGFIX_CACHE_DIR": ""}
    with seen.open("w") as output:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "cfgfix",
                "check",
                "--watch",
                "train.yaml",
                "--isolated",
                "--dialect",
                "myxtts",
                "--select",
                "YML",
            ],
            cwd=tmp_path,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A job in the background of a shell ignores the interruption, and hands that on to its children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,  # noqa: PLW1509 - no threads here
        )
    try:
        until(seen, "no findings in 1 config")
        config.write_text(CLEAN.replace("1.0e-4", "1e-4"))
        until(seen, "YML001")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in seen.read_text(encoding="utf-8")
