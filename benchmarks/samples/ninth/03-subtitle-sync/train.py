"""Find the frames in which somebody speaks, to align subtitles."""
import tomllib
from pathlib import Path

import numpy as np
import tensorflow as tf

import encoder

CONF = tomllib.loads(Path(__file__).with_name("sync.toml").read_text())


def dataset(audio, train):
    x = np.random.rand(audio["clips"], audio["frames"], audio["mel_bins"]).astype("float32")
    y = (x.mean(axis=-1, keepdims=True) > 0.5).astype("float32")
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if train.get("shuffle"):
        ds = ds.shuffle(train["shuffle"], seed=1)
    return ds.batch(train["batch"])


def main():
    train = CONF["train"]
    tf.keras.utils.set_random_seed(CONF["run"]["seed"])
    model = encoder.build(CONF["encoder"], CONF["audio"]["frames"])
    optimizer = getattr(tf.keras.optimizers, train["optimizer"])(
        train["learning_rate"], weight_decay=train["weight_decay"]
    )
    model.compile(optimizer, "binary_crossentropy")
    history = model.fit(dataset(CONF["audio"], train), epochs=train["epochs"], verbose=0)
    print("loss", round(history.history["loss"][-1], 5))


if __name__ == "__main__":
    main()
