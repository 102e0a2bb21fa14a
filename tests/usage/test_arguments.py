"""What TensorFlow refuses of what a config gives it is told at the config; what it takes is left alone."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

HEAD = (
    "import tensorflow as tf\nimport yaml\nwith open('run.yaml') as stream:\n    c = yaml.safe_load(stream)\n"
)
FIT = "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nx = tf.zeros((8, 4))\nmodel.compile('sgd', 'mse')\n"


def told(
    folder: Path, code: str, config: str, requirement: str = "", *, head: str = HEAD
) -> dict[str, tuple[str, str]]:
    """What is said of `run.yaml`, loaded as `c`: check and severity by key."""
    (folder / "train.py").write_text(head + textwrap.dedent(code), encoding="utf-8")
    (folder / "run.yaml").write_text(textwrap.dedent(config), encoding="utf-8")
    if requirement:
        (folder / "requirements.txt").write_text(requirement + "\n", encoding="utf-8")
    says = ProjectCode(str(folder), lambda _path: False, keep=False).all()["run.yaml"]
    return {
        ".".join(map(str, hit.at.key_path or ())): (check, hit.severity or "error")
        for check, hit in says.hits
    }


VALUE, WORD = ("refused-value", "error"), ("unknown-word", "error")
REFUSED = {
    "datasets count integers": (
        ("d = tf.data.Dataset.range(9).shuffle(c['stir']).batch(c['pack'], drop_remainder=c['crop'])\n"
        "d.repeat(c['laps']).take(c['few']).prefetch(c['ahead'])"),
        "stir: 0\npack: 16.0\ncrop: 'yes'\nlaps: '2'\nfew: 2.5\nahead: true\n",
        {"stir": VALUE, "pack": VALUE, "crop": VALUE, "laps": VALUE, "few": VALUE},
    ),
    "what datasets take": (
        ("d = tf.data.Dataset.range(9).shuffle(c['stir']).batch(c['pack'], drop_remainder=c['crop'])\n"
        "d.map(lambda x: x, num_parallel_calls=c['crew']).repeat(c['laps']).take(c['few']).prefetch(c['ahead'])"),
        "stir: 100\npack: 16\ncrop: false\ncrew: -1\nlaps: null\nfew: -1\nahead: -1\n",
        {},
    ),
    "steps and epochs": (
        FIT + "model.fit(x, x, epochs=c['laps'], steps_per_epoch=c['bars'], batch_size=c['pack'],"
        " validation_split=c['rest'])",
        "laps: '3'\nbars: 4.0\npack: 2.0\nrest: 1.0\n",
        {"laps": VALUE, "bars": VALUE, "pack": VALUE, "rest": VALUE},
    ),
    "steps and epochs that are right": (
        FIT + "model.fit(x, x, epochs=c['laps'], steps_per_epoch=c['bars'], batch_size=c['pack'],"
        " validation_split=c['rest'], shuffle=c['mix'], verbose=c['say'], validation_freq=c['when'])",
        "laps: 3\nbars: null\npack: 2\nrest: 0.25\nmix: false\nsay: 2\nwhen: [1, 2]\n",
        {},
    ),
    "sizes and shares of layers": (
        ("L = tf.keras.layers\nL.Dense(c['a'])\nL.LSTM(c['b'])\nL.Conv2D(c['c'], c['d'])\nL.Dropout(c['e'])\n"
        "L.Dropout(c['f'])\nL.Embedding(10, c['g'])"),
        "a: 4.5\nb: -3\nc: null\nd: '3'\ne: 1.5\nf: '0.1'\ng: 8.0\n",
        {"a": VALUE, "b": VALUE, "c": VALUE, "d": VALUE, "e": VALUE, "f": VALUE, "g": VALUE},
    ),
    "sizes and shares that are right": (
        ("L = tf.keras.layers\nL.Dense(c['a'])\nL.LSTM(c['b'])\nL.Conv2D(c['c'], c['d'], strides=c['s'])\n"
        "L.Dropout(c['e'])\nL.Dropout(c['f'])\nL.Conv2D(4, c['k'])\nL.Conv1D(4, c['o'])"),
        "a: 4\nb: 3\nc: 2\nd: [3, 5]\ns: 2\ne: 0\nf: 1.0\nk: 3\no: [3]\n",
        {},
    ),
    "rates": (
        "tf.keras.optimizers.Adam(c['pace'], beta_1=c['b'])\ntf.keras.optimizers.SGD(**c['o'])",
        "pace: fast\nb: 1.5\no:\n  momentum: 2.0\n  learning_rate: 0.1\n",
        {"pace": VALUE, "o.momentum": VALUE},
    ),
    "a schedule for a rate": (
        "tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.ExponentialDecay(c['pace'], c['n'], c['d']))",
        "pace: 0.1\nn: 1000\nd: 0.9\n",
        {},
    ),
    "activations and initializers": (
        ("L = tf.keras.layers\nL.Dense(2, activation=c['a'], kernel_initializer=c['k'], bias_regularizer=c['r'])\n"
        "L.LSTM(2, recurrent_activation=c['h'])\nL.Activation(c['x'])"),
        "a: rleu\nk: xavier_uniform\nr: l3\nh: hard_sigmod\nx: gelu\n",
        {"a": WORD, "k": WORD, "r": WORD, "h": WORD},
    ),
    "paddings, formats and modes": (
        ("L = tf.keras.layers\nL.Conv2D(2, 3, padding=c['p'], data_format=c['f'])\nL.LSTM(2)\n"
        "tf.keras.callbacks.EarlyStopping('val_accuracy', mode=c['ok'])\nL.UpSampling2D(interpolation=c['u'])"),
        "p: smae\nf: channel_last\nok: max\nu: linear\n",
        {"p": WORD, "f": WORD, "u": WORD},
    ),
    "what compile knows": (
        "m = tf.keras.Sequential()\nm.compile(optimizer=c['o'], loss=c['l'], metrics=c['m'])",
        "o: adamm\nl: categorical_crossentropie\nm: [accuracy, mae, prcision]\n",
        {"o": WORD, "l": WORD, "m.2": WORD},
    ),
    "what compile knows, as it is written": (
        "m = tf.keras.Sequential()\nm.compile(optimizer=c['o'], loss=c['l'], metrics=c['m'])",
        "o: Adam\nl: mse\nm: [accuracy, acc, AUC, ce]\n",
        {},
    ),
    "a mistake in the name of an argument, each of them": (
        "tf.keras.callbacks.EarlyStopping(**c['stop'])\ntf.keras.layers.Conv2D(**c['conv'])",
        "stop:\n  patiens: 2\n  min_delt: 0.1\nconv:\n  filters: 3\n  kernel_size: 3\n  pading: same\n  wide: 2\n",
        {
            "stop.patiens": ("misspelt-key", "error"),
            "stop.min_delt": ("misspelt-key", "error"),
            "conv.pading": ("misspelt-key", "error"),
            "conv.wide": ("refused-key", "error"),
        },
    ),
    "arguments that a base class takes": (
        "tf.keras.layers.LSTM(**c['cell'])\ntf.keras.optimizers.Adam(**c['o'])",
        "cell:\n  units: 3\n  name: a\n  trainable: false\n  dtype: float32\no:\n  clipnorm: 1.0\n  weight_decay: 0.01\n",
        {},
    ),
    "an object that is described": (
        "tf.keras.optimizers.get(c['o'])\ntf.keras.layers.Dense(2, kernel_initializer=c['k'])",
        ("o:\n  class_name: SGD\n  config:\n    learning_rate: 0.1\n    momentun: 0.9\n"
        "k:\n  class_name: RandomNormal\n  config:\n    stdev: 0.1\n"),
        {"o.config.momentun": ("misspelt-key", "error"), "k.config.stdev": ("misspelt-key", "error")},
    ),
    "a class that a text names": (
        "getattr(tf.keras.optimizers, c['o'])(**c['args'])\ngetattr(tf.nn, c['ok'])\ngetattr(tf.nn, c['a'])",
        "o: Adamm\nargs:\n  learning_rate: 0.1\nok: relu\na: rleu\n",
        {"o": WORD, "a": WORD},
    ),
    "one that has another beside it": (
        ("f = getattr(tf.keras.optimizers, c['o'], tf.keras.optimizers.SGD)\n"
        "if hasattr(tf.nn, c['a']):\n    getattr(tf.nn, c['a'])"),
        "o: Adamm\na: rleu\n",
        {},
    ),
    "one in a description": (
        "tf.keras.optimizers.get(c['o'])\ntf.keras.layers.Dense(2, kernel_initializer=c['k'])",
        "o:\n  class_name: Adamm\n  config: {}\nk:\n  class_name: HeNormal\n  config: {}\n",
        {"o.class_name": WORD},
    ),
    "a target": (
        ("from hydra.utils import instantiate\nfrom omegaconf import OmegaConf\ncfg = OmegaConf.load('run.yaml')\n"
        "instantiate(cfg.a)\ninstantiate(cfg.b)\ninstantiate(cfg.c)"),
        ("a:\n  _target_: tensorflow.keras.layers.Denze\n  units: 4\nb:\n  _target_: tensorflow.keras.layers.Dense\n  units: 4.5\n"
        "c:\n  _target_: tensorflow.keras.layers.Dense\n  units: 4\n"),
        {"a._target_": WORD, "b.units": VALUE},
    ),
    "an integer that the code makes a float": (
        "size = c['pack'] / c['cards']\ntf.data.Dataset.range(9).batch(size)",
        "pack: 8\ncards: 2\n",
        {"cards": VALUE},
    ),
    "one that it rounds": (
        "size = int(c['pack'] / c['cards'])\ntf.data.Dataset.range(9).batch(size).take(c['pack'] // 2)",
        "pack: 8\ncards: 2\n",
        {},
    ),
    "a call that is ready for it": (
        "try:\n    a = tf.keras.layers.Dense(2, activation=c['a'])\nexcept ValueError:\n    a = None",
        "a: rleu\n",
        {},
    ),
    "a function of the project's own": (
        "def Dense(units):\n    return tf.keras.layers.Dense(int(units))\nDense(c['a'])",
        "a: '4'\n",
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "config", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_a_parameter_refuses_is_told_at_the_config(
    tmp_path: Path, code: str, config: str, expected: dict[str, tuple[str, str]]
) -> None:
    assert told(tmp_path, code, config, "tensorflow>=2.16") == expected


RELEASES = {
    "gone, and such a release is asked for": (
        "tensorflow>=2.16",
        {"cell.time_major": ("refused-key", "error")},
    ),
    "gone in some that are asked for": ("tensorflow>=2.12", {"cell.time_major": ("refused-key", "warning")}),
    "there": ("tensorflow==2.15.1", {}),
    "gone, and nothing says which": ("", {"cell.time_major": ("refused-key", "error")}),
}


VALUES = {
    "refused by every Keras": ("epochs=c['n']", "n: 2.0\n", "", "error"),
    "refused by Keras 3": ("steps_per_epoch=c['n']", "n: 2.0\n", "tensorflow>=2.16", "error"),
    "refused by Keras 3, and another may be meant": ("steps_per_epoch=c['n']", "n: 2.0\n", "tensorflow>=2.12", "warning"),
    "refused by Keras 3, and nothing says which is meant": ("steps_per_epoch=c['n']", "n: 2.0\n", "", "error"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "config", "requirement", "severity"), VALUES.values(), ids=VALUES)
def test_the_release_decides_about_a_value(
    tmp_path: Path, given: str, config: str, requirement: str, severity: str
) -> None:
    code = f"{FIT}model.fit(x, x, {given})"
    assert told(tmp_path, code, config, requirement) == {"n": ("refused-value", severity)}


def test_a_release_that_takes_a_value_is_left_alone(tmp_path: Path) -> None:
    assert (
        told(tmp_path, f"{FIT}model.fit(x, x, steps_per_epoch=c['n'])", "n: 2.0\n", "tensorflow==2.15.1")
        == {}
    )


@pytest.mark.parametrize(("requirement", "expected"), RELEASES.values(), ids=RELEASES)
def test_the_release_decides(tmp_path: Path, requirement: str, expected: dict[str, tuple[str, str]]) -> None:
    code = "tf.keras.layers.GRU(**c['cell'])"
    config = "cell:\n  units: 4\n  time_major: false\n"
    assert told(tmp_path, code, config, requirement) == expected


def test_a_name_that_is_not_there_hides_no_argument(tmp_path: Path) -> None:
    code = """
    def old():
        return tf.nn.relu7(tf.zeros((2, 2)))


    tf.data.Dataset.range(9).batch(c['pack'])
    """
    assert told(tmp_path, code, "pack: '16'\n") == {"pack": VALUE}
