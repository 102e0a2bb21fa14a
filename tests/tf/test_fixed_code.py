"""Fixes of code, run by TensorFlow: what the program did before, and what it does after them."""

from __future__ import annotations

import runpy
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

tf = pytest.importorskip("tensorflow", reason="needs the tf extra")

from cfgfix.lint.runner import Request, fix
from cfgfix.settings.reader import Settings

pytestmark = pytest.mark.tensorflow


def fixed(folder: Path, rule: str, program: str, *, unsafe: bool) -> str:
    """Return a program with the fixes of one rule."""
    place = folder / "program.py"
    place.write_text(program)
    fix(Request(paths=(str(place),), settings=Settings(select=(rule,)), unsafe_fixes=unsafe))
    return place.read_text()


def run(program: str) -> dict[str, Any]:
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as stream:
        # A file: AutoGraph reads the source of what it traces.
        stream.write(program)
    return runpy.run_path(stream.name)


def epochs(names: dict[str, Any]) -> list[list[Any]]:
    """Two passes over the dataset that a program makes."""
    return [[item.tolist() for item in names["ds"].as_numpy_iterator()] for _ in range(2)]


def mixed(names: dict[str, Any]) -> bool:
    first, second = epochs(names)
    return {tuple(sorted(batch)) for batch in first} != {tuple(sorted(batch)) for batch in second}


def anew(names: dict[str, Any]) -> bool:
    first, second = epochs(names)
    return first != second


def whole_epochs(names: dict[str, Any]) -> bool:
    return all(len(set(items[:50])) == 50 for items in epochs(names))


def traces(names: dict[str, Any]) -> bool:
    return names["run"].experimental_get_tracing_count() == 1


CASES: list[tuple[str, str, Callable[[dict[str, Any]], bool]]] = [
    (
        "TFD015",
        """
        import tensorflow as tf
        ds = tf.data.Dataset.range(60).batch(4).shuffle(60)
        """,
        mixed,
    ),
    (
        "TFD016",
        """
        import tensorflow as tf
        ds = tf.data.Dataset.range(60)
        ds = ds.shuffle(60)
        ds = ds.cache()
        """,
        anew,
    ),
    (
        "TFD017",
        """
        import tensorflow as tf
        def augment(x):
            return tf.cast(x, tf.float32) + tf.random.uniform([])
        ds = tf.data.Dataset.range(9).map(augment).cache()
        """,
        anew,
    ),
    (
        "TFD029",
        """
        import tensorflow as tf
        ds = tf.data.Dataset.range(50).repeat(2).shuffle(100)
        """,
        whole_epochs,
    ),
    (
        "TFD026",
        """
        import tensorflow as tf
        ds = tf.data.Dataset.range(9).batch(3)
        seen = []
        for step in range(3):
            seen.append(int(next(iter(ds))[0]))
        """,
        lambda names: names["seen"] == [0, 3, 6],
    ),
    (
        "TFD030",
        """
        import tensorflow as tf
        ds = tf.data.Dataset.range(200).shuffle(200)
        first, second = ds.take(100), ds.skip(100)
        both = [set(part.as_numpy_iterator()) for part in (first, second)]
        """,
        lambda names: not names["both"][0] & names["both"][1],
    ),
    (
        "TFD031",
        """
        import tensorflow as tf
        def part(worker):
            ds = tf.data.Dataset.range(100)
            ds = ds.shuffle(100)
            ds = ds.shard(2, worker)
            return set(ds.as_numpy_iterator())
        parts = [part(0), part(1)]
        """,
        lambda names: len(names["parts"][0] | names["parts"][1]) == 100,
    ),
    (
        "TFF002",
        """
        import tensorflow as tf
        def model(x):
            return x * 2.0
        made = []
        for step in range(3):
            run = tf.function(model)
            made.append(run)
            run(tf.ones([2]))
        """,
        lambda names: len({id(item) for item in names["made"]}) == 1 and traces(names),
    ),
    (
        "TFF001",
        """
        import tensorflow as tf
        @tf.function
        def run(x, step):
            return x * tf.cast(step, tf.float32)
        for step in range(5):
            run(tf.ones([2]), step)
        """,
        traces,
    ),
    (
        "TFF010",
        """
        import tensorflow as tf
        weight = tf.Variable(1.0)
        optimizer = tf.keras.optimizers.SGD(0.1)
        graphs = []
        def train_step(model, optimizer, x):
            tf.py_function(lambda: graphs.append(1), [], [])
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(x))
            gradients = tape.gradient(loss, [weight])
            optimizer.apply_gradients(zip(gradients, [weight]))
        def train(model, optimizer, data):
            for x in data:
                train_step(model, optimizer, x)
        train(lambda x: x * weight, optimizer, tf.data.Dataset.range(20).map(lambda x: tf.cast(x, tf.float32)))
        """,
        lambda names: hasattr(names["train_step"], "get_concrete_function"),
    ),
    (
        "TFF018",
        """
        import tensorflow as tf
        weight = tf.Variable(1.0)
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(1.0))
        optimizer.build([weight])
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(x * weight)
            gradients = tape.gradient(loss, [weight])
            optimizer.apply_gradients(zip(gradients, [weight]))
        step(tf.ones([4]))
        """,
        lambda names: abs(float(names["weight"].numpy())) < 1e-6,
    ),
]


@pytest.mark.parametrize(("rule", "program", "holds"), CASES, ids=[case[0] for case in CASES])
def test_a_fix_does_what_it_says(rule, program, holds, tmp_path) -> None:
    before = textwrap.dedent(program)
    after = fixed(tmp_path, rule, before, unsafe=True)
    assert after != before
    assert not holds(run(before))
    assert holds(run(after))


def test_options_that_raise_are_set_by_the_fix(tmp_path) -> None:
    before = "import tensorflow as tf\nds = tf.data.Dataset.range(9)\nds.options().deterministic = False\n"
    after = fixed(tmp_path, "TFD025", before, unsafe=False)
    with pytest.raises(ValueError, match="options"):
        run(before)
    assert run(after)["ds"].options().deterministic is False


SAME = {
    "TFD007": ".batch(3).map(lambda x: x + 1, num_parallel_calls=2)",
    "TFD009": ".prefetch(tf.data.AUTOTUNE).map(lambda x: x + 1).batch(2)",
    "TFD013": ".map(lambda x: tf.cast(x, tf.float32) / 255.0).batch(2)",
}


@pytest.mark.parametrize("rule", SAME)
def test_what_a_fix_leaves_as_it_is(rule, tmp_path) -> None:
    before = (
        f"import tensorflow as tf\n\ndef go():\n    ds = tf.data.Dataset.range(9){SAME[rule]}\n    found = []\n"
        "    for x in ds:\n        found.append(x.numpy().tolist())\n    return found\n"
    )
    after = fixed(tmp_path, rule, before, unsafe=True)
    assert after != before
    assert run(after)["go"]() == run(before)["go"]()


def test_a_count_stays_the_same(tmp_path) -> None:
    before = "import tensorflow as tf\n\nds = tf.data.Dataset.range(9).batch(2)\nsteps = len(list(ds))\n"
    after = fixed(tmp_path, "TFD028", before, unsafe=True)
    assert after != before
    assert run(after)["steps"] == run(before)["steps"] == 5


BY_POSITION = {
    "layers": """
        import tensorflow as tf
        class Block(tf.keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.norm = tf.keras.layers.BatchNormalization()
                self.dropout = tf.keras.layers.Dropout(0.9)
            def call(self, x, scale, training=None, shift=None):
                return self.dropout(self.norm(x, training), training) * scale + shift
        class Net(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.blocks = [Block() for _ in range(2)]
            def call(self, x, training=False):
                for block in self.blocks:
                    x = block(x, 3, training, tf.zeros_like(x))
                return x
        def go():
            net = Net()
            x = tf.random.normal([8, 4])
            still = net(x, False)
            moved = net(x, True)
            net.compile("sgd", "mse")
            net.fit(x, x, verbose=0)
            return bool(tf.reduce_all(still != 0)), bool(tf.reduce_any(moved == 0))
        """,
    "functional": """
        import tensorflow as tf
        def go():
            inputs = tf.keras.Input((4,))
            model = tf.keras.Model(inputs, tf.keras.layers.Dropout(0.9)(inputs))
            x = tf.ones([8, 4])
            return bool(tf.reduce_all(model(x, False) != 0)), bool(tf.reduce_any(model(x, True) == 0))
        """,
}


@pytest.mark.parametrize("kind", BY_POSITION)
def test_layers_given_flags_by_position(kind, tmp_path) -> None:
    before = textwrap.dedent(BY_POSITION[kind])
    after = fixed(tmp_path, "DEP023", before, unsafe=False)
    with pytest.raises((TypeError, ValueError), match=r"training|positional"):
        run(before)["go"]()
    assert run(after)["go"]() == (True, True)


def test_keras_gives_training_a_truth_value() -> None:
    given = []

    class Net(tf.keras.Model):
        def call(self, x, training=None):
            given.append(training)
            return x

    net = Net()
    net.compile(loss="mse")
    x = tf.ones([2, 3])
    net.evaluate(x, x, verbose=0)
    net.predict(x, verbose=0)
    net(x, training=True)
    assert given
    assert all(isinstance(item, bool) for item in given)
