from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tensorflow", reason="needs the tf extra")

pytestmark = [pytest.mark.tensorflow, pytest.mark.acceptance]


def test_the_example_trains_and_says_what_was_done(repo_root: Path, tmp_path: Path) -> None:
    text = (repo_root / "examples" / "train.yaml").read_text(encoding="utf-8")
    (tmp_path / "train.yaml").write_text(text.replace("epochs: 40", "epochs: 4"), encoding="utf-8")
    environment = {
        **os.environ,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONPATH": str(repo_root),
    }
    done = subprocess.run(
        [
            sys.executable,
            str(repo_root / "examples" / "train.py"),
            "train.yaml",
            "--demo",
            "--features",
            "features",
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    out = done.stdout
    assert "NOT in force" not in out
    assert "in force seed: 7" in out
    for row in ("set  cache: memory (data.cache", "set  shuffle: 48", "set  batch: 8", "set  prefetch: 2"):
        assert row in out
    first, last = map(float, out.partition("loss ")[2].splitlines()[0].split(" -> "))
    assert last < first
    assert "14 steps after 10 to warm up" in out
    assert len(list((tmp_path / "features").iterdir())) == 1
