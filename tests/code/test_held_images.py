"""Pictures that are all decoded before the training: TFD084 over the ways in which people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

PAIRS = """\
import os
import random

import cv2
import numpy as np
from tensorflow.keras.layers import Conv2D, Dense, Flatten
from tensorflow.keras.models import Sequential

ROOT = "pets"
KINDS = ["dog", "cat"]
SIZE = 128
pairs = []


def fill():
    for number, kind in enumerate(KINDS):
        folder = os.path.join(ROOT, kind)
        for name in os.listdir(folder):
            try:
                picture = cv2.imread(os.path.join(folder, name))  # found
                pairs.append([cv2.resize(picture, (SIZE, SIZE)), number])
            except Exception:
                pass


fill()
random.shuffle(pairs)
x, y = [], []
for picture, number in pairs:
    x.append(picture)
    y.append(number)
x = np.array(x).reshape(-1, SIZE, SIZE, 3)
model = Sequential([Conv2D(64, 3, input_shape=x.shape[1:]), Flatten(), Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x / 255.0, np.array(y), epochs=3)
"""
OBJECT = """\
import glob

import cv2
import numpy as np
import tensorflow as tf
from tensorflow.keras.utils import img_to_array, load_img


class Pictures:
    def __init__(self, root):
        self.root = root
        self.pictures = []

    def load(self):
        for path in glob.glob(self.root + "/*.jpg"):
            self.pictures.append(img_to_array(load_img(path, target_size=(160, 160))))  # found
        self.x = np.array(self.pictures)

    def train(self):
        model = tf.keras.applications.MobileNetV2(weights=None, classes=2, input_shape=(160, 160, 3))
        model.compile("adam", "sparse_categorical_crossentropy")
        model.fit(self.x, np.zeros(len(self.x)), epochs=3)


pictures = Pictures("pictures")
pictures.load()
pictures.train()
held = []
for path in glob.glob("more/*.png"):
    held.append(cv2.resize(cv2.imread(path), (299, 299)))  # found
ds = tf.data.Dataset.from_tensor_slices((np.array(held), np.zeros(len(held)))).shuffle(10).batch(8)
some = []
for path in glob.glob("more/*.png"):
    some.append(cv2.resize(cv2.imread(path), (299, 299)))
    if len(some) == 16:
        break
sizes = np.array([cv2.imread(path).shape for path in glob.glob("more/*.png")])
network = tf.keras.applications.InceptionV3(weights=None, classes=2)
network.compile("adam", "sparse_categorical_crossentropy")
network.fit(ds, epochs=4)
network.fit(np.array(some), np.zeros(16))
print(sizes.mean(axis=0))
"""


@pytest.mark.parametrize("text", [PAIRS, OBJECT], ids=["pairs", "object"])
def test_pictures_held_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    check_marked(tmp_path, monkeypatch, "TFD084", text)


def test_small_pictures_may_be_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFD084", PAIRS.replace("128", "48").replace("  # found", ""))
