"""What a compiled step counts in Python: TFF005 over the ways in which people write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

MODEL = """\
import tensorflow as tf


class Gan(tf.keras.Model):
    def __init__(self, critic, maker):
        super().__init__()
        self.critic, self.maker = critic, maker
        self.turn = 0
        self.weight = 1.0
        self.drawn = []
        self.traces = 0
        self.unread = 0

    def call(self, x):
        return self.critic(x)

    def train_step(self, real):
        self.turn += 1  # found
        self.weight = self.weight - 0.001  # found
        self.traces += 1
        self.unread += 1
        with tf.GradientTape() as tape:
            loss = self.weight * tf.reduce_mean(self.critic(real, training=True))
        self.drawn.append(loss)  # found
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.critic.trainable_variables))
        if self.turn % 5 == 0:
            self.make(real)
        return {"loss": loss}

    def make(self, real):
        return self.maker(real)


gan = Gan(tf.keras.layers.Dense(1), tf.keras.layers.Dense(2))
gan.compile("adam")
gan.fit(tf.ones((64, 2)), epochs=3)
print(gan.drawn)
"""


def test_counters_of_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFF005", MODEL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('gan.compile("adam")', 'gan.compile("adam", run_eagerly=True)'),
        ("import tensorflow as tf\n", "import tensorflow as tf\n\ntf.config.run_functions_eagerly(True)\n"),
        ("gan.fit(tf.ones((64, 2)), epochs=3)", "for _ in range(3):\n    gan.train_step(tf.ones((64, 2)))"),
    ],
    ids=["compile", "switch", "called"],
)
def test_counters_of_an_eager_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    assert old in MODEL
    text = MODEL.replace(old, new).replace("  # found", "")
    check_marked(tmp_path, monkeypatch, "TFF005", text)


def test_counters_that_are_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = MODEL.replace(
        "    def call",
        '    def build(self, shape):\n        self.turn = self.add_weight(name="turn")\n\n    def call',
    )
    text = text.replace("self.turn += 1  # found", "self.turn = self.turn + 1")
    check_marked(tmp_path, monkeypatch, "TFF005", text)
