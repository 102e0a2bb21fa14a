"""The canonical form of names of TensorFlow and Keras: one name for what has several."""

from __future__ import annotations

import functools
import re

_FOLDS = (
    ("tensorflow.compat.v2.", "tensorflow."),
    ("tensorflow.compat.v1.", "tensorflow."),
    ("tensorflow.keras.", "keras."),
    ("tensorflow.python.keras.", "keras."),
    ("tensorflow.contrib.", "tensorflow.contrib."),
    ("tf_keras.", "keras."),
    ("keras.api.", "keras."),
    ("keras.src.", "keras."),
    ("keras.preprocessing.image_dataset", "keras.utils.image_dataset"),
    ("keras.preprocessing.text_dataset", "keras.utils.text_dataset"),
    ("keras.preprocessing.timeseries_dataset", "keras.utils.timeseries_dataset"),
    ("tensorflow.python.data.ops.dataset_ops.Dataset", "tensorflow.data.Dataset"),
    ("tensorflow.data.experimental.AUTOTUNE", "tensorflow.data.AUTOTUNE"),
    ("keras.layers.experimental.preprocessing.", "keras.layers."),
)
_FOLDED_CLASSES = (
    ("keras.engine.training.Model", "keras.Model"),
    ("keras.models.Model", "keras.Model"),
    ("keras.training.Model", "keras.Model"),
    ("keras.models.Sequential", "keras.Sequential"),
    ("keras.layers.Layer", "keras.Layer"),
)
"""The same for whole names: `keras.layers.LayerNormalization` is no `keras.layers.Layer`."""
_ALIASES = re.compile(
    r"^tensorflow\.(?:compat\.v2\.)?(losses|metrics|optimizers|initializers)(?=\.(?:[A-Z]|schedules\.))"
)
"""Modules of Keras that TensorFlow 2 has under short names as well; the functions of TensorFlow 1 are written small."""


@functools.lru_cache(maxsize=16_384)
def canonical_name(name: str) -> str:
    """Return the canonical form of a full dotted name.

    Compatibility prefixes and moved modules are folded into one name.
    """
    if name.startswith(("tensorflow", "keras", "tf_keras")):
        if not name.startswith("tensorflow.compat.v1"):
            name = _ALIASES.sub(r"keras.\1", name, count=1)
        if name in ("tensorflow.keras", "tf_keras"):
            return "keras"
        for old, new in _FOLDS:
            if name.startswith(old):
                name = new + name[len(old) :]
        for old, new in _FOLDED_CLASSES:
            if name == old or name.startswith(f"{old}."):
                name = new + name[len(old) :]
    return name
