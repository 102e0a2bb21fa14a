"""Hold the estimate of a training step's memory against its measured peak, for models of `keras.applications`.

The estimate is read from a program that is not run for it, as `check` does under a named GPU (HWR027). The peak is that of
TensorFlow's BFC allocator, the one that GPUs use, put in charge of the CPU's memory in a process for each model: a second
`train_on_batch` with Adam, in graph mode. oneDNN is off, since its copies of tensors exist on CPUs alone. What cuDNN needs to
work in, and what XLA saves, a CPU does not show.

    python benchmarks/training_memory.py                  # all models, and write training_memory.md
    python benchmarks/training_memory.py ResNet50 VGG16   # print some
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cfgfix.core.source_file import read_source
from cfgfix.usage.project_code import ProjectCode

TARGET = Path(__file__).with_suffix(".md")
MODELS = {
    "MobileNet": (128, (4, 16)),
    "MobileNetV2": (128, (4, 16)),
    "ResNet50": (128, (4, 16)),
    "ResNet50V2": (96, (4, 16)),
    "VGG16": (128, (2, 8)),
    "VGG19": (64, (2, 8)),
    "DenseNet121": (96, (4, 12)),
    "EfficientNetB0": (128, (4, 16)),
    "Xception": (128, (4, 12)),
    "InceptionV3": (139, (4, 16)),
}
"""The side of the inputs, and the batches."""
PROGRAM = """\
import keras, tensorflow as tf, yaml

with open("config.yaml") as stream:
    cfg = yaml.safe_load(stream)
data = tf.data.Dataset.range(8).batch(cfg["batch"])
model = keras.applications.{name}(weights=None, input_shape=({side}, {side}, 3), classes=10)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", jit_compile=False)
model.fit(data)
"""
MEASURE = """\
import json, sys
import keras, tensorflow as tf

name, side, batches = json.loads(sys.argv[1])
model = getattr(keras.applications, name)(weights=None, input_shape=(side, side, 3), classes=10)
model.compile("adam", "sparse_categorical_crossentropy", jit_compile=False)
for batch in batches:
    x, y = tf.zeros((batch, side, side, 3)), tf.zeros((batch,), tf.int32)
    model.train_on_batch(x, y)
    tf.config.experimental.reset_memory_stats("CPU:0")
    model.train_on_batch(x, y)
    print("peak", tf.config.experimental.get_memory_info("CPU:0")["peak"])
"""


def estimated(name: str, side: int, batch: int) -> float:
    """The bytes of a step, as `check` works them out."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "config.yaml")
        Path(path).write_text(json.dumps({"batch": batch}), encoding="utf-8")
        (Path(folder) / "train.py").write_text(PROGRAM.format(name=name, side=side), encoding="utf-8")
        code = ProjectCode(folder, lambda _path: False, keep=False, follows_models=True)
        says = code.facts_about(path, read_source(path))
        assert says is not None
        figures = {item.parameter: item.value for item in says.reached}
        return float(figures["fixed"] + batch * figures["sample"])


def measured(name: str, side: int, batches: tuple[int, ...]) -> list[float]:
    """The peak of a step for each batch."""
    environment = {
        **os.environ,
        "TF_CPU_ALLOCATOR_USE_BFC": "1",
        "TF_CPU_BFC_MEM_LIMIT_IN_MB": "16000",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
    }
    command = [sys.executable, "-c", MEASURE, json.dumps([name, side, batches])]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("peak ")]


def rows(names: list[str]) -> Iterator[str]:
    """The rows of the table."""
    for name in names:
        side, batches = MODELS[name]
        for batch, peak in zip(batches, measured(name, side, batches), strict=True):
            estimate = estimated(name, side, batch)
            yield f"| {name} | {side} | {batch} | {estimate / 1e6:.0f} | {peak / 1e6:.0f} | {estimate / peak:.2f} |"


HEAD = """\
# Memory of a training step: estimate and measured peak

`python benchmarks/training_memory.py` says how; TensorFlow 2.21, Keras 3.15, CPU, float32, Adam. Both in MB.

| model | side | batch | estimated | measured | ratio |
|---|---|---|---|---|---|
"""


def main() -> None:
    """Print the table, and write it where no models are named."""
    lines = []
    for row in rows(sys.argv[1:] or list(MODELS)):
        print(row, flush=True)
        lines.append(row)
    if not sys.argv[1:]:
        TARGET.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
