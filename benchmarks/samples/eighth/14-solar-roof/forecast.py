"""Power of a roof from the weather of the last two days."""
import sys

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import settings


def weather(hours):
    rng = np.random.default_rng(9)
    t = np.arange(hours)
    ghi = np.clip(np.sin(2 * np.pi * (t % 24) / 24), 0, None)
    table = {
        "ghi": ghi,
        "temp": 10 + 8 * ghi + rng.normal(0, 1, hours),
        "cloud": rng.uniform(0, 1, hours),
        "wind": rng.gamma(2, 2, hours),
    }
    table["kw"] = table["ghi"] * (1 - 0.6 * table["cloud"])
    return table


def make_datasets(cfg, horizon):
    table = weather(cfg.hours)
    x = np.stack([table[name] for name in cfg.features], axis=1).astype("float32")
    y = table[cfg.target].astype("float32")
    span = (cfg.sequence_length - 1) * cfg.sampling_rate + horizon
    cut = int(cfg.train_fraction * cfg.hours)
    kwargs = dict(sequence_length=cfg.sequence_length, sampling_rate=cfg.sampling_rate, batch_size=cfg.batch_size)
    make = tf.keras.utils.timeseries_dataset_from_array
    return (
        make(x[:cut], y[span:cut], **kwargs),
        make(x[cut:], y[cut + span :], **kwargs),
    )


def make_model(cfg, length):
    model = tf.keras.Sequential([tf.keras.Input((length, cfg.input_features))])
    for rate in cfg.dilations:
        model.add(layers.Conv1D(cfg.filters, cfg.kernel_size, dilation_rate=rate, padding=cfg.padding, activation="relu"))
    model.add(layers.Lambda(lambda h: h[:, -1]))
    model.add(layers.Dense(1))
    return model


def main(path="solar.toml"):
    cfg = settings.read(path)
    tf.keras.utils.set_random_seed(0)
    train_ds, val_ds = make_datasets(cfg.data, cfg.model.horizon)
    model = make_model(cfg.model, cfg.data.sequence_length)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(cfg.train.learning_rate),
        loss=cfg.train.loss,
        metrics=cfg.train.metrics,
    )
    callbacks = [tf.keras.callbacks.ReduceLROnPlateau(**cfg.train.reduce_lr)]
    history = model.fit(train_ds, validation_data=val_ds, epochs=cfg.train.epochs, callbacks=callbacks, verbose=0)
    print("loss %.5f batches %d" % (history.history["loss"][-1], len(train_ds)))


if __name__ == "__main__":
    main(*sys.argv[1:])
