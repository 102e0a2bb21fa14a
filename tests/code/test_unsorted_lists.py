"""Files that are matched by position: TFD091 over the ways in which people list and match them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

MATCHED = """\
import glob
import os
from glob import iglob

import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split

ROOT = "cells"
pictures = list(iglob(os.path.join(ROOT, "pictures", "*.tif")))  # found
annotations = [os.path.join(ROOT, name) for name in sorted(os.listdir(ROOT + "/annotations"))]
first, second = train_test_split(pictures, annotations)[:2]
noisy = sorted(glob.glob("noisy/*.wav"))
clean = sorted(glob.glob("clean/*.wav"))
left = glob.glob("left/*")
right = glob.glob("right/*")


def rows():
    for index in np.random.permutation(len(noisy)):
        yield np.load(noisy[index]), np.load(clean[index])
    for one, other in zip(left, right):
        yield one, other


class Sounds:
    def __init__(self):
        self.wav_files = os.listdir("wav")  # found
        self.txt_files = os.listdir("txt")
        self.hr = glob.glob("hr/*")
        self.lr = glob.glob("lr/*")
        self.lr.sort()
        self.mels = glob.glob("mels/*")
        self.mels = sorted(self.mels)

    def pairs(self):
        return zip(self.wav_files, self.txt_files), self.mels[0], [self.hr[0], self.lr[0]]

    def count(self, index):
        return self.mels[index], self.hr[index + 1]


def other(folder, masks):
    images = os.listdir(folder)
    masks = masks or os.listdir(folder + "/masks")
    return tf.data.Dataset.from_tensor_slices((images, masks))
"""


def test_files_that_are_matched_by_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell unsorted lists that are matched, and leave alone those that are sorted or need no partner."""
    check_marked(tmp_path, monkeypatch, "TFD091", MATCHED)
