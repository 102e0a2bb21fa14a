"""The training program: a small convolutional model from letters to log-mel frames."""

from __future__ import annotations

import sys

import tensorflow as tf
from config import Config, load_config
from loader import make_dataset


def make_model(config: Config) -> tf.keras.Model:
    """Return the model; letters are stretched to the frames of the batch."""
    channels = config.model.channels

    class Synthesizer(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = tf.keras.layers.Embedding(256, channels)
            self.first = tf.keras.layers.Conv1D(channels, 5, padding="same", activation="relu")
            self.second = tf.keras.layers.Conv1D(channels, 5, padding="same", activation="relu")
            self.out = tf.keras.layers.Dense(config.model.n_mels)

        def call(self, batch: dict[str, tf.Tensor]) -> tf.Tensor:
            hidden = self.first(self.embedding(batch["text"]))
            size = (tf.shape(batch["mel"])[1], 1)
            hidden = tf.image.resize(hidden[:, :, None, :], size)[:, :, 0, :]
            return self.out(self.second(hidden))

    return Synthesizer()


def make_step(config: Config) -> object:
    """Return a function of one batch that trains and returns the loss."""
    model = make_model(config)
    optimizer = tf.keras.optimizers.Adam(
        config.training.learning_rate, global_clipnorm=config.training.gradient_clip_norm
    )

    @tf.function(reduce_retracing=True)
    def step(batch: dict[str, tf.Tensor]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            found = model(batch)
            mask = tf.sequence_mask(batch["mel_length"], tf.shape(found)[1], tf.float32)[:, :, None]
            error = tf.reduce_sum(tf.square(found - batch["mel"]) * mask)
            loss = error / tf.reduce_sum(mask) / config.model.n_mels
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return step


def main(path: str) -> None:
    """Train."""
    config = load_config(path)
    dataset = make_dataset(config)
    step = make_step(config)
    for epoch in range(config.training.epochs):
        for batch in dataset:
            loss = step(batch)
        print(f"epoch {epoch + 1}: loss {float(loss):.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
