"""Which loans will not be paid back."""
import json

import numpy as np
import tensorflow as tf

from features import applications, encode


def dense(units, activation="relu"):
    return tf.keras.layers.Dense(units, activation=activation)


def build(width, net):
    model = tf.keras.Sequential([tf.keras.Input((width,))])
    for layer in net["layers"]:
        model.add(dense(**layer))
    model.add(tf.keras.layers.Dense(1, activation=net["output_activation"]))
    return model


def main():
    with open("loan.json") as f:
        cfg = json.load(f)
    tf.keras.utils.set_random_seed(cfg["seed"])
    table, bad = applications(cfg["rows"], cfg["seed"])
    x = encode(table, cfg["features"])
    model = build(x.shape[1], cfg["network"])

    train = cfg["training"]
    opt = train["optimizer"]
    optimizer = tf.keras.optimizers.get(opt["name"])
    optimizer.learning_rate = opt["learning_rate"]
    model.compile(optimizer=optimizer, loss=train["loss"], metrics=train["metrics"])
    stop = tf.keras.callbacks.EarlyStopping(monitor=train["monitor"], mode="max", patience=train["patience"])
    history = model.fit(
        x, bad,
        validation_split=0.25,
        batch_size=train["batch_size"],
        epochs=train["epochs"],
        class_weight={int(k): w for k, w in train["class_weight"].items()},
        callbacks=[stop],
        verbose=0,
    )
    refused = model.predict(x, verbose=0)[:, 0] > train["threshold"]
    print("loss %.5f refused %d of %d" % (history.history["loss"][-1], int(np.sum(refused)), len(bad)))


if __name__ == "__main__":
    main()
