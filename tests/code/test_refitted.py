"""Scalers that are fitted anew on test data: TFD092 over the ways in which people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

REFITTED = """\
import numpy as np
import tensorflow as tf
from sklearn import preprocessing
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

codes = OneHotEncoder()
train, valid = np.zeros((9, 3)), np.zeros((4, 3))
codes.fit_transform(train[:, :1])
codes.fit_transform(valid[:, :1])  # found


class Data:
    def load(self, frame_train, frame_test, valid_columns, contest):
        filled = SimpleImputer()
        scaled = preprocessing.StandardScaler()
        both = preprocessing.StandardScaler()
        first = filled.fit_transform(frame_train.values)
        second = filled.fit_transform(frame_test.values.astype("float32"))  # found
        third = scaled.fit_transform(np.concatenate([frame_train, frame_test]))
        fourth = scaled.fit_transform(frame_test[valid_columns])
        both.fit(frame_train)
        both.fit_transform(contest[valid_columns])
        both.fit(frame_test)
        return tf.constant(first), tf.constant(second), third, fourth, both.transform(frame_test)
"""


def test_what_is_fitted_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell a second fit on data held out, and leave alone what is no such data."""
    check_marked(tmp_path, monkeypatch, "TFD092", REFITTED)
