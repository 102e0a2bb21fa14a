"""What generators yield, against what their dataset is promised: TFD090 over the ways in which people write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

PARTS = """\
import tensorflow as tf
from tensorflow import TensorShape as Shape
from tensorflow.data import Dataset

SPEC = (tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32))
THREE = (tf.int32, tf.int32, tf.int32)


class Words:
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        for line in self.lines:
            yield line, 1

    def triples(self):
        for line in self.lines:
            ids = (line, line)
            if not line:
                continue
            yield ids, len(line)
            yield ids, len(line), 0

    def data(self):
        first = Dataset.from_generator(self.triples, output_signature=SPEC)  # found
        second = Dataset.from_generator(self.triples, THREE)  # found
        third = Dataset.from_generator(self.triples, (tf.int32, tf.int32), Shape([None]))  # found
        return first, second, third

    def other(self, spec):
        Dataset.from_generator(self.triples, output_signature=spec)
        Dataset.from_generator(self.triples, output_types=tf.int32)
        Dataset.from_generator(self.lines, output_types=(tf.int32,) * 5)
        return Dataset.from_generator(self.lines.__iter__, output_types=(tf.int32, tf.int32))


def count():
    yield 1


def nested():
    yield (1, 2), {"mask": 3, "size": 4}


Dataset.from_generator(count, output_types=(tf.int32,))  # found
Dataset.from_generator(count, tf.int32)
Dataset.from_generator(nested, ((tf.int32, tf.int32), {"mask": tf.int32}))  # found
Dataset.from_generator(nested, (tf.int32, {"mask": tf.int32, "size": tf.int32}))
Dataset.from_generator(nested, ((tf.int32, tf.int32), tf.int32))
Dataset.from_generator(nested, ((tf.int32, tf.int32), {"size": tf.int32, "mask": tf.int32}))
Words([]).data()
Words([]).other(THREE)
"""


def test_parts_that_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell structures that cannot match, and leave alone what may."""
    check_marked(tmp_path, monkeypatch, "TFD090", PARTS)
