"""Tell dialects apart by spectrograms.

    python dialects.py fast train.epochs=3
"""
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
from omegaconf import OmegaConf

HERE = Path(__file__).resolve().parent / "configs"


def configure(arguments):
    names = [a for a in arguments if "=" not in a]
    dots = [a for a in arguments if "=" in a]
    layers = [OmegaConf.load(HERE / f"{name}.yaml") for name in ["base", *names]]
    return OmegaConf.merge(*layers, OmegaConf.from_dotlist(dots))


def spectrograms(audio, corpus):
    sound = np.random.normal(size=(corpus.clips, int(audio.rate * audio.seconds))).astype("float32")
    spectrum = tf.abs(tf.signal.stft(sound, audio.frame, audio.hop))[..., None]
    labels = np.arange(corpus.clips) % len(corpus.dialects)
    return spectrum.numpy(), labels


def build(model, shape):
    return tf.keras.Sequential([
        tf.keras.Input(shape),
        tf.keras.layers.Conv2D(model.filters, tuple(model.kernel), activation="relu"),
        tf.keras.layers.GlobalMaxPooling2D(),
        tf.keras.layers.Dense(model.n_classes, activation="softmax"),
    ])


def main(cfg):
    tf.keras.utils.set_random_seed(cfg.seed)
    x, y = spectrograms(cfg.audio, cfg.corpus)
    model = build(cfg.model, x.shape[1:])
    rate = tf.keras.optimizers.schedules.ExponentialDecay(
        cfg.optim.lr, cfg.optim.decay_every, cfg.optim.decay_rate, staircase=True
    )
    model.compile(tf.keras.optimizers.Adam(rate), "sparse_categorical_crossentropy", metrics=["accuracy"])
    callbacks = []
    if cfg.train.keep_best:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(
            "best.keras", monitor=cfg.train.monitor, save_best_only=True
        ))
    log = model.fit(x, y, batch_size=cfg.train.batch_size, epochs=cfg.train.epochs, callbacks=callbacks, verbose=0)
    print({k: round(v[-1], 4) for k, v in log.history.items()}, "steps", int(model.optimizer.iterations))


if __name__ == "__main__":
    main(configure(sys.argv[1:]))
