import argparse

import numpy as np
from tensorflow import keras

from settings import AttentionNet, GruNet, Settings


def day(b, seed):
    rng = np.random.default_rng(seed)
    x = rng.random((24, 6, b.inputs)).astype("float32")
    start, end = b.peak
    y = np.zeros(24, "float32")
    y[start:end] = 1
    return x, y


def network(net, inputs):
    i = keras.Input((6, inputs))
    match net:
        case GruNet(units=u, dropout=d):
            x = keras.layers.GRU(u, dropout=d)(i)
        case AttentionNet():
            x = keras.layers.MultiHeadAttention(net.heads, net.key_dim)(i, i)
            x = keras.layers.GlobalAveragePooling1D()(x)
    return keras.Model(i, keras.layers.Dense(1, activation="sigmoid")(x))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("settings", nargs="?", default="tower.yaml")
    s = Settings.load(p.parse_args().settings)
    keras.utils.set_random_seed(s.seed)
    model = network(s.net, s.building.inputs)
    model.compile(keras.optimizers.Adam(s.fit.learning_rate, clipnorm=s.fit.clip), "binary_crossentropy")
    h = model.fit(*day(s.building, s.seed), verbose=0,
                  **s.fit.model_dump(include={"epochs", "batch_size"}))
    print("loss", round(h.history["loss"][-1], 4))


if __name__ == "__main__":
    main()
