"""What it costs to load samples through Python: the call, the interpreter lock, and decoding WAV files."""

from __future__ import annotations

import io
import tempfile
import time
import wave
from pathlib import Path

import numpy as np
import tensorflow as tf
from harness import compare, drain

count = tf.data.Dataset.range(5000)
compare(
    "trivial operation, 5,000 elements",
    {
        "py_function": lambda: drain(count.map(lambda x: tf.py_function(lambda v: v + 1, [x], tf.int64))),
        "numpy_function": lambda: drain(
            count.map(lambda x: tf.numpy_function(lambda v: v + 1, [x], tf.int64))
        ),
        "native": lambda: drain(count.map(lambda x: x + 1)),
    },
    rounds=3,
)


def busy(value: np.ndarray) -> np.ndarray:
    total = 0
    for number in range(60_000):
        total += number
    return value


def waits(value: np.ndarray) -> np.ndarray:
    time.sleep(0.003)
    return value


for title, function, elements in (
    ("Python that holds the lock", busy, 200),
    ("Python that waits 3 ms", waits, 120),
):
    dataset = tf.data.Dataset.range(elements)
    compare(
        title,
        {
            f"{calls} calls": lambda calls=calls, function=function, dataset=dataset: drain(
                dataset.map(lambda x: tf.numpy_function(function, [x], tf.int64), num_parallel_calls=calls)
            )
            for calls in (1, 2, 8)
        },
    )

with tempfile.TemporaryDirectory() as folder:
    noise = (np.random.default_rng(0).normal(size=44_100) * 3000).astype("<i2").tobytes()
    for number in range(256):
        with wave.open(str(Path(folder) / f"{number}.wav"), "wb") as stream:
            stream.setnchannels(1)
            stream.setsampwidth(2)
            stream.setframerate(22_050)
            stream.writeframes(noise)
    paths = tf.data.Dataset.from_tensor_slices(sorted(str(path) for path in Path(folder).iterdir()))

    def by_python(path: bytes) -> np.ndarray:
        with wave.open(io.BytesIO(Path(path.decode()).read_bytes())) as stream:
            return np.frombuffer(stream.readframes(stream.getnframes()), "<i2").astype("float32") / 32768

    def native(path: tf.Tensor) -> tf.Tensor:
        return tf.audio.decode_wav(tf.io.read_file(path), desired_channels=1).audio[:, 0]

    compare(
        "256 WAV files of 2 s",
        {
            "numpy_function, 1 call": lambda: drain(
                paths.map(lambda p: tf.numpy_function(by_python, [p], tf.float32), num_parallel_calls=1)
            ),
            "numpy_function, AUTOTUNE": lambda: drain(
                paths.map(lambda p: tf.numpy_function(by_python, [p], tf.float32), num_parallel_calls=-1)
            ),
            "decode_wav, 1 call": lambda: drain(paths.map(native, num_parallel_calls=1)),
            "decode_wav, AUTOTUNE": lambda: drain(paths.map(native, num_parallel_calls=-1)),
        },
    )
