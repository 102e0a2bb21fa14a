"""Whether Pillow lets other threads run: pictures that a map reads through Python, by one call and by several.

Needs `pip install pillow`, which no other measurement does.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from harness import compare, drain
from PIL import Image


def read(path: bytes) -> np.ndarray:
    with Image.open(path.decode()) as picture:
        return np.asarray(picture.resize((224, 224)), dtype=np.float32)


with tempfile.TemporaryDirectory() as folder:
    noise = np.random.default_rng(0).integers(0, 255, (480, 640, 3), dtype=np.uint8)
    for number in range(8):
        Image.fromarray(noise).save(str(Path(folder) / f"{number}.jpg"))
    paths = tf.data.Dataset.from_tensor_slices(sorted(str(path) for path in Path(folder).iterdir()))
    compare(
        "200 JPEG files of 640x480 read and resized by Pillow in numpy_function",
        {
            f"{calls} calls": lambda calls=calls: drain(
                paths.repeat(25).map(
                    lambda path: tf.numpy_function(read, [path], tf.float32), num_parallel_calls=calls
                )
            )
            for calls in (1, 2, 4)
        },
    )
