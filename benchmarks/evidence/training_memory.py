"""How far the estimate of a training step's memory is from its measured peak, for models of Keras and built ones.

The estimate is read from the program, which is not run for it. The peak is that of TensorFlow's BFC allocator, the one that GPUs use,
put in charge of the CPU's memory in another process, of a second step of `train_on_batch` in graph mode; oneDNN is off, since its
copies of tensors exist on CPUs alone. What cuDNN needs to work in, and what XLA saves, a CPU does not show.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from harness import fact, section

from cfgfix.core.source_file import read_source
from cfgfix.usage.project_code import ProjectCode

MODELS = (
    ("MobileNet", 128, 16),
    ("MobileNetV2", 128, 16),
    ("ResNet50", 128, 16),
    ("ResNet50", 128, 4),
    ("ResNet50V2", 128, 16),
    ("VGG16", 96, 8),
    ("VGG19", 96, 2),
    ("EfficientNetB0", 128, 16),
    ("Xception", 128, 8),
    ("InceptionV3", 139, 12),
    ("DenseNet121", 96, 12),
    ("ConvNeXtTiny", 96, 8),
)
HEAD = """\
import keras, tensorflow as tf, yaml
from keras import layers
with open("config.yaml") as stream:
    cfg = yaml.safe_load(stream)
keras.mixed_precision.set_global_policy(cfg["policy"])
data = tf.data.Dataset.range(8).batch(cfg["batch"])
"""
FIT = """
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", jit_compile=False)
model.fit(data)
"""
KNOWN = """
model = keras.applications.{name}(weights=None, input_shape=({side}, {side}, 3), classes=10)
"""
BUILT = {
    "frozen MobileNetV2 with a new top": """
        base = keras.applications.MobileNetV2(weights=None, include_top=False, input_shape=(160, 160, 3), pooling="avg")
        base.trainable = False
        model = keras.Model(base.input, layers.Dense(10, activation="softmax")(base.output))
    """,
    "U-Net": """
        x = inputs = keras.Input((128, 128, 3))
        skips = []
        for filters in (16, 32, 64):
            for _ in range(2):
                x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
                x = layers.ReLU()(layers.BatchNormalization()(x))
            skips.append(x)
            x = layers.MaxPooling2D()(x)
        for filters, skip in zip((64, 32, 16), reversed(skips)):
            x = layers.Conv2DTranspose(filters, 2, strides=2, padding="same")(x)
            x = layers.Concatenate()([x, skip])
            x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        model = keras.Model(inputs, layers.Conv2D(10, 1, activation="softmax")(x))
    """,
    "transformer encoder": """
        x = inputs = keras.Input((200,))
        x = layers.Embedding(5000, 128)(x)
        for _ in range(4):
            attended = layers.MultiHeadAttention(num_heads=8, key_dim=16, dropout=0.1)(x, x)
            x = layers.LayerNormalization()(x + layers.Dropout(0.1)(attended))
            hidden = layers.Dense(512, activation="gelu")(x)
            x = layers.LayerNormalization()(x + layers.Dense(128)(hidden))
        model = keras.Model(inputs, layers.Dense(10, activation="softmax")(layers.GlobalAveragePooling1D()(x)))
    """,
    "two LSTM layers": """
        model = keras.Sequential([
            layers.Input((100, 32)),
            layers.LSTM(128, return_sequences=True),
            layers.LSTM(128),
            layers.Dense(10, activation="softmax"),
        ])
    """,
}
MEASURE = """\
import gc, json, os, sys
import keras, tensorflow as tf

def in_use(what):
    return tf.config.experimental.get_memory_info("CPU:0")[what]

def step(model, *_arguments, **_options):
    batch, shape = names["cfg"]["batch"], model.input_shape[1:]
    x, y = tf.zeros((batch, *shape)), tf.zeros((batch, *model.output_shape[1:-1]), tf.int32)
    model.train_on_batch(x, y)
    tf.config.experimental.reset_memory_stats("CPU:0")
    model.train_on_batch(x, y)
    print("peak", in_use("peak") - before, flush=True)

keras.Model.fit = step
for folder in sys.argv[1:]:
    keras.backend.clear_session()
    gc.collect()
    os.chdir(folder)
    before = in_use("current")
    names = {}
    exec(open("train.py").read(), names)
    names.clear()
"""


def estimated(folder: Path, batch: int) -> float:
    """Return the bytes of a step that the program in a folder takes, as `check` works them out."""
    path = str(folder / "config.yaml")
    code = ProjectCode(str(folder), lambda _path: False, keep=False, follows_models=True)
    says = code.says_about(path, read_source(path))
    figures = {item.parameter: item.value for item in says.reached} if says is not None else {}
    return figures["fixed"] + batch * figures["sample"]


def measured(folders: list[Path]) -> list[float]:
    """Return the peak of a step of each program; of what is in use before a model is made nothing counts."""
    environment = {
        **os.environ,
        "TF_CPU_ALLOCATOR_USE_BFC": "1",
        "TF_CPU_BFC_MEM_LIMIT_IN_MB": "16000",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
    }
    command = [sys.executable, "-c", MEASURE, *map(str, folders)]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("peak ")]


cases = [
    (f"{name}, {side} pixels, batch {batch}", KNOWN.format(name=name, side=side), batch, "float32")
    for name, side, batch in MODELS
]
cases += [
    (
        "ResNet50, 128 pixels, batch 16, mixed_bfloat16",
        KNOWN.format(name="ResNet50", side=128),
        16,
        "mixed_bfloat16",
    ),
    *((f"{name}, batch 16", program, 16, "float32") for name, program in BUILT.items()),
]
only = sys.argv[1:]
cases = [case for case in cases if not only or any(map(case[0].startswith, only))]
with tempfile.TemporaryDirectory() as name:
    folders = []
    for number, (_, program, batch, policy) in enumerate(cases):
        folder = Path(name) / str(number)
        folder.mkdir()
        (folder / "config.yaml").write_text(json.dumps({"batch": batch, "policy": policy}), encoding="utf-8")
        (folder / "train.py").write_text(HEAD + textwrap.dedent(program) + FIT, encoding="utf-8")
        folders.append(folder)
    estimates = [estimated(folder, case[2]) for folder, case in zip(folders, cases, strict=True)]
    peaks = measured(folders)
ratios = {case[0]: estimate / peak for case, estimate, peak in zip(cases, estimates, peaks, strict=True)}
section("memory of a training step, estimated over measured")
for name, ratio in ratios.items():
    fact(name, round(ratio, 2))
fact("the largest", round(max(ratios.values()), 2))
section("memory of a training step, measured peak in MB")
for case, peak in zip(cases, peaks, strict=True):
    fact(case[0], round(peak / 1e6))
