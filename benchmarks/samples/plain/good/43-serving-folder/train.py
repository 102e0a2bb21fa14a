import argparse
import tempfile

import numpy as np
import tensorflow as tf

from export import export_for_serving


def parse_args():
    p = argparse.ArgumentParser(description="Train the churn model and export it")
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--version", type=int, default=3)
    p.add_argument("--rate", type=float, default=5e-3)
    return p.parse_args()


def customers(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 9)).astype("float32")
    return x, (x[:, 0] + x[:, 3] > 0.3).astype("float32")


def build(features):
    model = tf.keras.Sequential([
        tf.keras.Input((features,)),
        tf.keras.layers.Dense(24, activation="relu"),
        tf.keras.layers.Dropout(0.1),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ], name="churn")
    return model


def main():
    args = parse_args()
    tf.keras.utils.set_random_seed(48)
    x, y = customers(800, 1)
    model = build(x.shape[1])
    model.compile(tf.keras.optimizers.Adam(args.rate), "binary_crossentropy",
                  metrics=["accuracy"])
    model.fit(x, y, epochs=args.epochs, batch_size=32, verbose=0)
    x_test, y_test = customers(200, 2)
    print("accuracy", model.evaluate(x_test, y_test, verbose=0)[1])

    with tempfile.TemporaryDirectory() as root:
        path = export_for_serving(model, root, args.version)
        served = tf.saved_model.load(path)
        difference = np.abs(served.serve(x_test).numpy() - model.predict(x_test, verbose=0)).max()
    print("served model differs by", float(difference))


if __name__ == "__main__":
    main()
