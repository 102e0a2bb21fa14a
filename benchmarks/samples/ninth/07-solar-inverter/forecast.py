"""Forecast the output of solar panels for the next hours."""
import configparser

import numpy as np
import tensorflow as tf


def windows(section):
    total = section.getint("history") + section.getint("horizon")
    t = np.arange(section.getint("windows"))[:, None, None] + np.arange(total)[None, :, None]
    power = np.sin(t / 6.0 + np.arange(section.getint("panels"))).astype("float32")
    history = section.getint("history")
    return power[:, :history], power[:, history:, 0]


def network(section, shape, horizon):
    units = [int(n) for n in section["units"].split(",")]
    model = tf.keras.Sequential([tf.keras.Input(shape)])
    for i, n in enumerate(units):
        model.add(tf.keras.layers.LSTM(
            n,
            return_sequences=i + 1 < len(units),
            dropout=section.getfloat("dropout"),
            stateful=section["stateful"],
        ))
    model.add(tf.keras.layers.Dense(horizon))
    return model


def main(path="inverter.ini"):
    config = configparser.ConfigParser()
    config.read(path)
    training, checkpoint = config["training"], config["checkpoint"]
    tf.keras.utils.set_random_seed(config.getint("training", "seed"))
    x, y = windows(config["data"])
    model = network(config["network"], x.shape[1:], config.getint("data", "horizon"))

    optimizer = tf.keras.optimizers.get(training.get("optimizer", "adam"))
    optimizer.learning_rate = training.getfloat("learning_rate")
    optimizer.clipnorm = config.getfloat("training", "clipnorm")
    model.compile(optimizer, training["loss"])
    keep = tf.keras.callbacks.ModelCheckpoint(
        checkpoint["path"], save_best_only=checkpoint.getboolean("best_only")
    )
    log = model.fit(
        x, y,
        epochs=training.getint("epochs"),
        batch_size=training.getint("batch_size"),
        validation_split=0.25,
        callbacks=[keep],
        verbose=0,
    )
    print(optimizer.name, round(log.history["val_loss"][-1], 5))


if __name__ == "__main__":
    main()
