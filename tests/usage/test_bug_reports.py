"""Public bug reports of training runs, each told at its place, and a neighbour with the cause mended that stays silent."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cfgfix.core.findings import Severity
from cfgfix.lint.request import Request
from cfgfix.lint.runner import check
from cfgfix.settings.reader import Settings

pytestmark = pytest.mark.acceptance

REPORTS: dict[str, tuple[str, int, str, str, str, str]] = {
    "01-missing-key-crash": (
        "conf/tacotron2.v1.yaml",
        2,
        "absent-key",
        "conf/tacotron2.v1.yaml",
        "\nbatch_size:",
        "\nremove_short_samples: true\nbatch_size:",
    ),
    "03-exponent-text": ("config.yaml", 7, "refused-value", "config.yaml", "1e-4", "1.0e-4"),
    "05-duplicate-section": (
        "configs/quick.yaml",
        10,
        "duplicate-key",
        "configs/quick.yaml",
        "    BACKBONE_OUT_CHANNELS: 256\n  RPN:\n    USE_FPN: true\n  RESNETS:\n",
        "    BACKBONE_OUT_CHANNELS: 256\n",
    ),
    "07-fit-workers": (
        "train.py",
        22,
        "unknown-argument",
        "train.py",
        '    workers=configs["train_workers"],\n',
        "",
    ),
    "09-plateau-and-schedule": (
        "train.py",
        11,
        "rate-set-on-schedule",
        "config.yaml",
        "reduce_on_plateau: true",
        "reduce_on_plateau: false",
    ),
    "13-tf-config-after-strategy": (
        "train.py",
        11,
        "tf-config-after-strategy",
        "train.py",
        "strategy = tf.distribute.MultiWorkerMirroredStrategy()\n",
        "",
    ),
    "15-xla-dynamic-shapes": (
        "train.py",
        26,
        "padded-batch-dynamic-xla",
        "config.yaml",
        "jit_compile: true",
        "jit_compile: false",
    ),
    "19-shuffle-buffer-decoded": (
        "config.yaml",
        4,
        "shuffle-buffer-ram",
        "config.yaml",
        "shuffle_buffer_size: 70000",
        "shuffle_buffer_size: 200",
    ),
    "23-float-batch-size": (
        "train.py",
        10,
        "float-count",
        "train.py",
        "BATCH_SIZE / NUM_GPUS",
        "BATCH_SIZE // NUM_GPUS",
    ),
    "27-python-number-retraces": (
        "train.py",
        29,
        "python-scalar-arg",
        "train.py",
        "train_step(next(it), learning_rate, temperature,",
        "train_step(next(it), tf.constant(learning_rate), tf.constant(temperature),",
    ),
    "35-pod-cpu-limit": (
        "config.yaml",
        6,
        "workers-above-cores",
        "config.yaml",
        "num_workers: 12",
        "num_workers: 4",
    ),
    "37-omegaconf-missing-key": ("config.yaml", 3, "misspelt-key", "config.yaml", "train_meta", "validation"),
}
MACHINES = {"19-shuffle-buffer-decoded": "rtx3090,ram=64"}
"""The machine that the report names, for what only the machine shows."""


def told(folder: Path, hardware: str | None) -> set[tuple[str, int, str]]:
    settings = Settings(root=str(folder), hardware=hardware)
    return {
        (str(Path(file.path).relative_to(folder)), finding.location.line, finding.name)
        for file in check(Request(paths=(str(folder),), settings=settings)).files
        for finding in file.findings
        if finding.severity is not Severity.INFO
    }


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_is_told_at_its_place_and_its_neighbour_is_silent(
    shared_path: Path, tmp_path: Path, report: str
) -> None:
    source = shared_path / "bugcases" / report
    if not source.is_dir():
        pytest.skip("the shared corpus is not on this machine")
    folder = tmp_path / report
    shutil.copytree(source, folder)
    (folder / "expected.txt").unlink()
    path, line, name, changed, before, after = REPORTS[report]
    found = told(folder, MACHINES.get(report))
    assert (path, line, name) in found, found
    place = folder / changed
    text = place.read_text(encoding="utf-8")
    assert before in text
    if report.startswith("13"):
        text = text.replace(before, "").replace("\n\ndef make_dataset", f"\n{before}\n\ndef make_dataset")
    else:
        text = text.replace(before, after)
    place.write_text(text, encoding="utf-8")
    assert (path, line, name) not in told(folder, MACHINES.get(report))
