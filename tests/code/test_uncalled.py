"""Functions that are set or named where they have to be called: DEP070 over the ways in which people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

SET = """\
import random

import keras
import numpy
import tensorflow.compat.v2 as tf2
from tensorflow import config, random as tf_random
from tensorflow.keras.utils import clear_session

args = object()


class Run:
    def __init__(self, threads):
        config.threading.set_intra_op_parallelism_threads = int(threads)  # found
        config.set_soft_device_placement = True  # found
        tf_random.set_seed = args.seed  # found
        self.set_seed = 4

    def start(self):
        tf2.config.experimental.enable_tensor_float_32_execution = False  # found
        keras.mixed_precision.set_dtype_policy = f"mixed_{self.kind}"  # found
        random.seed = 3  # found
        numpy.random.seed = 1 + 2  # found
        clear_session()


def reset():
    keras.backend.clear_session  # found
    keras.config.enable_unsafe_deserialization  # found
    clear_session  # found
"""
LEFT = """\
import tensorflow as tf

real = tf.random.set_seed


def counted(number):
    real(number)


def patched(fake, seed):
    tf.random.set_seed = fake
    tf.config.set_visible_devices = None
    tf.keras.utils.set_random_seed = counted
    tf.set_nothing = 3
    tf.random.seed_of_mine = seed
    return tf.random.set_seed


def other(tf, np):
    tf.random.set_seed = 4
    np.random.seed = 4
"""


@pytest.mark.parametrize("text", [SET, LEFT], ids=["set", "left"])
def test_functions_that_are_never_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Tell what is replaced by a constant or only named, and leave alone what stands in for it."""
    check_marked(tmp_path, monkeypatch, "DEP070", text)
    check_marked(tmp_path, monkeypatch, "DEP070", text, tensorflow="2.4")
