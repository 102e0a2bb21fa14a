"""Where values come from: followed through the project, and not known where anything else may come there."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

HEAD = "import tensorflow as tf\n"
USE = "{before}\ntf.keras.layers.LSTM(4, recurrent_dropout={value}){mark}\n"
FOLLOWED = {
    "a part of a result": ("def rates():\n    return 0.1, 0.2\nfirst, second = rates()", "second"),
    "a method's result": ("class C:\n    def rate(self):\n        return 0.2\nc = C()", "c.rate()"),
    "an attribute set from a parameter": (
        "class C:\n    def __init__(self, rate):\n        self.rate = rate\nc = C(0.2)",
        "c.rate",
    ),
    "a field with a default": ("class C:\n    rate: float = 0.2\nc = C()", "c.rate"),
    "a starred result": (
        "def rates():\n    return 0.1, 0.2\ndef second(a, b):\n    return b\nrate = second(*rates())",
        "rate",
    ),
    "a constant place of a tuple": ("rates = (0.1, 0.2)", "rates[1]"),
}
UNKNOWN = {
    "a branch": ("import sys\nrate = 0.2\nif len(sys.argv) > 1:\n    rate = 0.0", "rate"),
    "a store from outside": (
        "class C:\n    def __init__(self):\n        self.rate = 0.2\nc = C()\nc.rate = 0.0",
        "c.rate",
    ),
    "a generator": ("def rates():\n    yield 0.2\nrate = rates()", "rate"),
    "two returns": (
        "def rate(flag):\n    if flag:\n        return 0.2\n    return 0.0\nimport sys\nfound = rate(len(sys.argv))",
        "found",
    ),
    "a loop": ("rate = 0.2\nfor step in range(3):\n    rate = rate * 0.5", "rate"),
    "a parameter of two calls": (
        "def same(value):\n    return value\ndef use(given):\n    return tf.keras.layers.GRU(4, recurrent_dropout=given)\nuse(0.2)\nuse(0.0)",
        "same(0.0)",
    ),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_value_is_followed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell a rate that stands elsewhere."""
    before, value = FOLLOWED[name]
    check_marked(
        tmp_path, monkeypatch, "TFF360", HEAD + USE.format(before=before, value=value, mark="  # found")
    )


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_value_that_may_be_another_is_not_known(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Say nothing of a rate that another way may give another value."""
    before, value = UNKNOWN[name]
    check_marked(tmp_path, monkeypatch, "TFF360", HEAD + USE.format(before=before, value=value, mark=""))
