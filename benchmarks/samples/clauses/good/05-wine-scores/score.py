import numpy as np
import pandas as pd
import tensorflow as tf


def build(width):
    inputs = tf.keras.Input((width,))
    hidden = tf.keras.layers.Dense(24, activation="relu")(inputs)
    outputs = tf.keras.layers.Dense(1)(hidden)
    model = tf.keras.Model(inputs, outputs)
    model.compile("adam", "mse")
    return model


def score(model, table):
    return model.predict(table, verbose=0)[:, 0]


if __name__ == "__main__":
    frame = pd.read_csv("wine.csv")
    x = frame.drop(columns="quality").to_numpy("float32")
    y = frame["quality"].to_numpy("float32")
    net = build(x.shape[1])
    net.fit(x, y, epochs=10)
    print(np.abs(score(net, x) - y).mean())
