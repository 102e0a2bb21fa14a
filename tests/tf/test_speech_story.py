from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("tensorflow", reason="needs the tf extra")

pytestmark = [pytest.mark.tensorflow, pytest.mark.acceptance]

SAME = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from config import load_config
from loader import make_dataset
import numpy as np
found = {}
config = load_config(sys.argv[1] + "/train.yaml")
for batch in make_dataset(config):
    for text, mel, length in zip(batch["text"].numpy(), batch["mel"].numpy(), batch["mel_length"].numpy()):
        found["".join(map(chr, text[text > 0]))] = mel[:length]
np.savez(sys.argv[2], texts=np.array(sorted(found)), **{str(number): found[text] for number, text in enumerate(sorted(found))})
"""


@pytest.fixture
def story(repo_root: Path, tmp_path: Path) -> Path:
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not on this machine (Debian has it as a package)")
    shutil.copytree(
        repo_root / "examples" / "speech",
        tmp_path / "speech",
        ignore=shutil.ignore_patterns("data", "__pycache__"),
    )
    return tmp_path / "speech"


def run(folder: Path, root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONPATH": str(root),
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done


def test_the_story_told_small(story: Path, repo_root: Path) -> None:
    done = run(
        story,
        repo_root,
        "run.py",
        "--clips",
        "16",
        "--rounds",
        "1",
        "--no-tune",
        "--no-profile",
        "--json",
        "figures.json",
    )
    made = json.loads((story / "figures.json").read_text())
    for rule in ("REF018", "REF005", "TFD001", "TFF012", "CFG015"):
        assert rule in done.stdout
    assert "learning_rate" in made["runs_before"]
    assert made["findings_before"] > 5
    assert made["findings_after"] == 0
    assert all(row["samples_per_second"] > 0 for row in [*made["pipeline"].values(), *made["training"].values()])  # fmt: skip
    before, fixed, anew, one, fast = made["training"].values()
    assert all(row["cpu_seconds"] > 0 for row in made["training"].values())
    assert before["traces"] >= 2
    assert fixed["traces"] <= before["traces"] + 1
    assert anew["traces"] <= 2  # the first one makes the variables
    assert one["traces"] <= 2
    assert fast["traces"] <= 5
    assert made["pipeline"]["before"]["times_as_fast"] == 1


def test_both_programs_give_the_same_spectrograms(story: Path, repo_root: Path) -> None:
    run(story, repo_root, "make_speech.py", "data", "--clips", "16")
    found = []
    for name in ("slow", "fast"):
        run(story, repo_root, "-c", SAME, name, f"{name}.npz")
        found.append(np.load(story / f"{name}.npz"))
    slow, fast = found
    assert slow["texts"].tolist() == fast["texts"].tolist()
    assert len(slow["texts"]) >= 15
    for number in range(len(slow["texts"])):
        assert slow[str(number)].shape == fast[str(number)].shape
        # Natural logarithms; the floor of 1e-5 is where single precision shows most.
        np.testing.assert_allclose(slow[str(number)], fast[str(number)], atol=2e-3)
