"""The class of the object that a TensorFlow call returns, from the table that `tools/make_object_table.py` makes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tf_objects.json")


class Objects:
    """The table: classes and functions by the class of the objects that they give.

    Args:
        gives: For each class the names of what gives an object of it.
    """

    def __init__(self, gives: Mapping[str, list[str]]) -> None:
        self._class_of = {name: family for family, names in gives.items() for name in names}

    def class_of(self, name: str) -> str | None:
        """Return the class of the object that a call returns, such as `keras.Model`.

        None where the class is not known.

        Args:
            name: The callee as a run names it, with chained methods, as in `tensorflow.data.Dataset.range.batch`.
        """
        return self._class_of.get(self.canonical(name))

    def canonical(self, name: str) -> str:
        """Return the public name of a callee.

        A method is named under the class that documents it: `keras.Sequential.fit` is `keras.Model.fit`, and
        `tensorflow.data.TFRecordDataset.map.batch` is `tensorflow.data.Dataset.batch`. Names of objects that the table does
        not have stay as they are.
        """
        parts = name.split(".")
        here = ""
        for position, part in enumerate(parts):
            here = f"{here}.{part}" if here else part
            family = self._class_of.get(here)
            if family is not None and position + 1 < len(parts):
                here = family
        return here


def load() -> Objects:
    """Read the table."""
    with open(TABLE, encoding="utf-8") as stream:
        return Objects(json.load(stream)["gives"])
