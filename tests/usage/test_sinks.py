"""Config values are followed to the parameters of the library calls that they reach."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cfgfix.code.inference.interpreter.objects import Scalar
from cfgfix.code.tensorflow.objects import load
from cfgfix.usage.project_code import ProjectCode
from cfgfix.usage.sinks import Sinks

HEAD = (
    "import tensorflow as tf\nimport yaml\nwith open('run.yaml') as stream:\n    c = yaml.safe_load(stream)\n"
)


def reached(folder: Path, code: str, config: str) -> list[tuple[str, str, object]]:
    """The parameters that the values of `run.yaml`, loaded as `c`, reach, each with a plain value."""
    (folder / "train.py").write_text(HEAD + textwrap.dedent(code), encoding="utf-8")
    (folder / "run.yaml").write_text(config, encoding="utf-8")
    project = ProjectCode(str(folder), lambda _path: False, keep=False)
    runs = project._run(project._files())
    sinks = Sinks(runs)
    return [
        (sink.callable, sink.parameter, sink.value.value if isinstance(sink.value, Scalar) else "...")
        for result in runs.results
        for sink in sinks.sinks_of(result, "run.yaml")
    ]


ENDS = {
    "by position and by name": (
        "tf.keras.layers.Dense(c['n'], activation=c['a'])",
        "n: 4\na: relu\n",
        [("keras.layers.Dense", "units", 4), ("keras.layers.Dense", "activation", "relu")],
    ),
    "fit of a model in layers": (
        "tf.keras.Sequential([tf.keras.layers.Dense(1)]).fit([1], [2], c['b'], c['n'])",
        "b: 2\nn: 4\n",
        [("keras.Model.fit", "batch_size", 2), ("keras.Model.fit", "epochs", 4)],
    ),
    "fit of a class of the project's, one more between": (
        """
        from tensorflow.keras import Model
        class Net(Model):
            def call(self, x):
                return x
        class Wide(Net):
            pass
        net = Wide()
        net.fit([1], epochs=c['n'])
        """,
        "n: 4\n",
        [("keras.Model.fit", "epochs", 4)],
    ),
    "fit of a model from another function": (
        """
        import keras
        def build(kind):
            if kind == 'old':
                return keras.models.load_model('m.keras')
            return keras.applications.MobileNetV2(alpha=c['w'])
        build(c['kind']).fit([1], epochs=c['n'])
        """,
        "kind: new\nw: 0.5\nn: 4\n",
        [("keras.applications.MobileNetV2", "alpha", 0.5), ("keras.Model.fit", "epochs", 4)],
    ),
    "a chain of datasets": (
        """
        from tensorflow.data import TFRecordDataset
        data = TFRecordDataset('x').map(len, c['p'])
        data.cache().shuffle(c['s']).batch(c['b'], True).repeat(c['r'])
        """,
        "p: 2\ns: 9\nb: 3\nr: 1\n",
        [
            ("tensorflow.data.Dataset.map", "num_parallel_calls", 2),
            ("tensorflow.data.Dataset.shuffle", "buffer_size", 9),
            ("tensorflow.data.Dataset.batch", "batch_size", 3),
            ("tensorflow.data.Dataset.repeat", "count", 1),
        ],
    ),
    "options of a dataset": (
        """
        options = tf.data.Options()
        options.deterministic = c['d']
        options.threading.private_threadpool_size = c['t']
        """,
        "d: true\nt: 2\n",
        [
            ("tensorflow.data.Options", "deterministic", True),
            ("tensorflow.data.Options", "threading.private_threadpool_size", 2),
        ],
    ),
    "a section in place of arguments": (
        "tf.keras.optimizers.SGD(**c['o'])",
        "o:\n  learning_rate: 0.1\n  momentum: 0.9\n",
        [("keras.optimizers.SGD", "learning_rate", 0.1), ("keras.optimizers.SGD", "momentum", 0.9)],
    ),
    "a class that a text names": (
        "getattr(tf.keras.optimizers, c['o']['name'])(**c['o']['args'])",
        "o:\n  name: Nadam\n  args:\n    beta_1: 0.8\n",
        [("keras.optimizers", "<name>", "Nadam"), ("keras.optimizers.Nadam", "beta_1", 0.8)],
    ),
    "a class from a table": (
        "KINDS = {'lstm': tf.keras.layers.LSTM, 'gru': tf.keras.layers.GRU}\nKINDS[c['kind']](c['n'])",
        "kind: gru\nn: 4\n",
        [("keras.layers.GRU", "units", 4)],
    ),
    "a class name with its arguments": (
        "tf.keras.losses.get(c['loss'])",
        "loss:\n  class_name: Huber\n  config:\n    delta: 0.5\n",
        [("keras.losses.get", "identifier", "..."), ("keras.losses.Huber", "delta", 0.5)],
    ),
    "one that the code puts together": (
        "tf.keras.optimizers.deserialize({'class_name': c['o'], 'config': c['args']})",
        "o: Lion\nargs:\n  beta_1: 0.8\n",
        [("keras.optimizers.deserialize", "config", "..."), ("keras.optimizers.Lion", "beta_1", 0.8)],
    ),
    "one for a parameter": (
        "tf.keras.layers.Dense(3, kernel_initializer=c['k'])",
        "k:\n  class_name: RandomNormal\n  config:\n    stddev: 0.2\n",
        [
            ("keras.layers.Dense", "kernel_initializer", "..."),
            ("keras.initializers.RandomNormal", "stddev", 0.2),
        ],
    ),
    "a target of Hydra": (
        """
        import hydra
        from omegaconf import OmegaConf
        cfg = OmegaConf.load('run.yaml')
        hydra.utils.instantiate(cfg.o)
        """,
        "o:\n  _target_: tensorflow.keras.optimizers.RMSprop\n  rho: 0.8\n",
        [("keras.optimizers.RMSprop", "rho", 0.8)],
    ),
    "a part of a list": (
        "tf.keras.Sequential().compile('sgd', metrics=['acc', c['m']])",
        "m: mae\n",
        [("keras.Model.compile", "metrics", "...")],
    ),
    "a computed value": (
        "tf.data.Dataset.range(9).batch(c['b'] / 2)",
        "b: 8\n",
        [("tensorflow.data.Dataset.batch", "batch_size", 4.0)],
    ),
}


@pytest.mark.parametrize(("code", "config", "expected"), ENDS.values(), ids=ENDS)
def test_a_config_value_reaches_a_parameter(
    tmp_path: Path, code: str, config: str, expected: list[tuple[str, str, object]]
) -> None:
    assert reached(tmp_path, code, config) == expected


def test_what_a_class_of_the_project_defines_is_no_call_of_the_library(tmp_path: Path) -> None:
    code = "class Net(tf.keras.Model):\n    def fit(self, epochs):\n        return epochs\nNet().fit(c['n'])"
    assert reached(tmp_path, code, "n: 4\n") == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("keras.Sequential.fit", "keras.Model.fit"),
        ("keras.layers.Dense", "keras.layers.Dense"),
        ("keras.layers.Dense.__call__", "keras.layers.Layer.__call__"),
        ("keras.optimizers.schedules.CosineDecay", "keras.optimizers.schedules.CosineDecay"),
        ("tensorflow.data.Dataset.range.batch.map", "tensorflow.data.Dataset.map"),
        ("tensorflow.data.TFRecordDataset", "tensorflow.data.TFRecordDataset"),
        ("keras.utils.image_dataset_from_directory.batch", "tensorflow.data.Dataset.batch"),
        ("tensorflow.random.set_seed", "tensorflow.random.set_seed"),
        ("numpy.load.astype", "numpy.load.astype"),
    ],
)
def test_methods_have_the_name_under_which_they_are_documented(name: str, expected: str) -> None:
    assert load().canonical(name) == expected
