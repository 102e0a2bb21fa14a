"""Arguments that `functools.partial` takes out of a config before the call."""

from pathlib import Path

import pytest
from test_followed_idioms import HEAD, told

START = HEAD + "from functools import partial\nloom = yaml.safe_load(open('loom.yaml'))\n"


@pytest.mark.parametrize(
    ("text", "config", "wanted"),
    [
        pytest.param(
            'Thread = partial(tf.keras.layers.Conv1D, 4, **loom["thread"])\nThread()\nThread(name="b")\n',
            "thread: {kernel_size: 3, dilatation_rate: 2}\n",
            [("misspelt-key", "thread.dilatation_rate")],
            id="a layer",
        ),
        pytest.param(
            'weave = partial(tf.keras.Model.fit, verbose=0, **loom["weave"])\n'
            "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nweave(model, cloth, colour)\n",
            "weave: {epochs: '3', btach_size: 4, shuffle: true}\n",
            [("refused-value", "weave.epochs"), ("misspelt-key", "weave.btach_size")],
            id="a method of models",
        ),
        pytest.param(
            'def warp(width, tension=1.0):\n    return tf.keras.layers.Dense(width)\n\npartial(warp, **loom["warp"])()\n',
            "warp: {width: 3, tensoin: 2}\n",
            [("misspelt-key", "warp.tensoin")],
            id="a function of the project",
        ),
        pytest.param(
            "class Weft:\n    def __init__(self, width, colour):\n        tf.keras.layers.Dense(width, name=colour)\n\n"
            'Weft3 = partial(Weft, **loom["weft"])\nWeft3(colour="red")\n',
            "weft: {width: 3, knots: 2}\n",
            [("refused-key", "weft.knots")],
            id="a class of the project",
        ),
        pytest.param(
            'Thread = partial(tf.keras.layers.Conv1D, **loom["thread"])\n'
            'cloth = tf.data.Dataset.range(3).map(partial(tf.roll, shift=loom["shift"], axis=0))\nThread(4)\n',
            "thread: {kernel_size: 3}\nshift: 2\n",
            [],
            id="nothing wrong",
        ),
    ],
)
def test_arguments_given_before(
    tmp_path: Path, text: str, config: str, wanted: list[tuple[str, str]]
) -> None:
    found = told(tmp_path, {"weave.py": START + text, "loom.yaml": config})
    assert found["loom.yaml"] == wanted


def test_names_of_options_that_a_dataset_does_not_have(tmp_path: Path) -> None:
    text = """
options = tf.data.Options()
for name, value in loom["whole"].items():
    setattr(options, name, value)
for name in loom["threads"]:
    setattr(options.threading, name, loom["threads"][name])
options.autotune.enabled = loom["tune"]
tf.data.Dataset.range(4).with_options(options)
"""
    config = """
whole: {deterministic: false, experimental_slakc: true}
threads: {private_threadpool_size: 2, max_intra_parallel: 1}
tune: true
"""
    found = told(tmp_path, {"weave.py": START + text, "loom.yaml": config})
    assert found["loom.yaml"] == [
        ("misspelt-key", "whole.experimental_slakc"),
        ("refused-key", "threads.max_intra_parallel"),
    ]
