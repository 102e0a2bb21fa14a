"""Parameters that take whole numbers, written as floats as well: 0 and what is below is told, and so are parts."""

from __future__ import annotations

import pytest
from marked import check_marked

HEAD = "import numpy as np\nimport tensorflow as tf\nrows = np.zeros((99, 3))\nx = tf.zeros((1, 8, 8, 3))\nk = tf.zeros((3, 3, 3, 4))\n"
FOUND = {
    "given in the call": "tf.keras.utils.timeseries_dataset_from_array(rows, None, 10, sampling_rate=0)  # found\n",
    "a constant": "EVERY = 0\ntf.keras.utils.timeseries_dataset_from_array(rows, None, 10, 1, EVERY)  # found\n",
    "of a dataclass": "from dataclasses import dataclass\n@dataclass\nclass Rows:\n    every: int = 0\nrows_of = Rows()\n"
    "tf.keras.utils.timeseries_dataset_from_array(rows, None, 10, sampling_rate=rows_of.every)  # found\n",
    "a part": "tf.keras.utils.timeseries_dataset_from_array(rows, None, 10, sampling_rate=0.5)  # found\n",
    "strides": "tf.nn.conv2d(x, k, 0, 'SAME')  # found\n",
    "dilations": "tf.nn.conv2d(x, k, 1, 'SAME', dilations=0)  # found\n",
    "a window": "tf.nn.max_pool2d(x, ksize=0, strides=1, padding='SAME')  # found\n",
    "bins": "tf.keras.layers.Hashing(num_bins=-1)  # found\n",
}
SILENT = {
    "whole floats": "tf.nn.conv2d(x, k, 2.0, 'SAME')\ntf.keras.layers.Hashing(4.0)\n",
    "lists": "tf.nn.conv2d(x, k, [1, 2, 2, 1], 'SAME', dilations=[1, 1])\ntf.nn.max_pool2d(x, [2, 2], [2, 2], 'SAME')\n",
    "what is taken": "tf.keras.utils.timeseries_dataset_from_array(rows, None, 10, sampling_rate=3)\n",
    "what is not known": "import sys\ntf.keras.utils.timeseries_dataset_from_array(rows, None, 10, sampling_rate=int(sys.argv[1]))\n",
    "an index that may be 0": "tf.keras.utils.timeseries_dataset_from_array(rows, None, 10, start_index=0)\n",
}


@pytest.mark.parametrize("case", FOUND)
def test_what_is_no_whole_number_above_0_is_told(tmp_path, monkeypatch, case):
    check_marked(tmp_path, monkeypatch, "DEP038", HEAD + FOUND[case], severity="error")


@pytest.mark.parametrize("case", SILENT)
def test_whole_numbers_and_lists_are_taken(tmp_path, monkeypatch, case):
    check_marked(tmp_path, monkeypatch, "DEP038", HEAD + SILENT[case], severity="error")
