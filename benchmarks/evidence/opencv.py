"""Whether OpenCV lets other threads run: pictures that a map reads through Python, by one call and by several.

Needs `pip install opencv-python-headless`, which no other measurement does.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import cv2
import numpy as np
import tensorflow as tf
from harness import compare, drain

cv2.setNumThreads(1)


def read(path: bytes) -> np.ndarray:
    return cv2.resize(cv2.imread(path.decode()), (224, 224)).astype(np.float32)


with tempfile.TemporaryDirectory() as folder:
    noise = np.random.default_rng(0).integers(0, 255, (480, 640, 3), dtype=np.uint8)
    for number in range(8):
        cv2.imwrite(str(Path(folder) / f"{number}.jpg"), noise)
    paths = tf.data.Dataset.from_tensor_slices(sorted(str(path) for path in Path(folder).iterdir()))
    compare(
        "200 JPEG files of 640x480 read and resized by OpenCV in numpy_function",
        {
            f"{calls} calls": lambda calls=calls: drain(
                paths.repeat(25).map(
                    lambda path: tf.numpy_function(read, [path], tf.float32), num_parallel_calls=calls
                )
            )
            for calls in (1, 2, 4)
        },
    )
