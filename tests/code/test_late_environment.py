"""Environment variables set after a file of the project has imported TensorFlow: GPU005."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

IMPORTS = """\
import tensorflow as tf


def build():
    return tf.keras.layers.Dense(4)
"""
LAZY = """\
def build():
    import tensorflow as tf

    return tf.keras.layers.Dense(4)
"""
QUIET = """\
import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import tensorflow as tf


def build():
    return tf.keras.layers.Dense(4)
"""
SCRIPT = """\
import os

from b import build

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"{mark}
build()
"""
FUNCTION = """\
import os

import b


def quiet():
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # found


quiet()
b.build()
"""
EARLY = """\
import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

from b import build

build()
"""
AT_START = """\
import os


def quiet():
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"


quiet()

from b import build

build()
"""
CHAIN = "from c import build\n"


@pytest.mark.parametrize(
    "texts",
    [
        (SCRIPT.format(mark="  # found"), IMPORTS),
        (FUNCTION, IMPORTS),
        (SCRIPT.format(mark="  # found"), CHAIN, IMPORTS),
        (SCRIPT.format(mark=""), LAZY),
        (SCRIPT.format(mark=""), QUIET),
        (SCRIPT.format(mark=""), CHAIN, QUIET),
        (EARLY, IMPORTS),
        (AT_START, IMPORTS),
    ],
    ids=["file", "function", "chain", "lazy", "set there", "set behind", "early", "at the start"],
)
def test_imports_through_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]
) -> None:
    check_marked(tmp_path, monkeypatch, "GPU005", *texts)
