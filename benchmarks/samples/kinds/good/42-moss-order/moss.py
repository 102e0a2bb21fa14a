import csv
import os
import tempfile
import numpy as np
import tensorflow as tf

COLS = ["wet", "shade", "ph", "slope", "species"]


def survey(path, seed):
    """One row per quadrat; the field sheet is kept in order of species."""
    rng = np.random.default_rng(seed)
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(COLS)
        for k in range(4):
            for _ in range(250):
                v = rng.normal(size=4) * 0.7
                v[k] += 1.2
                w.writerow(["%.4f" % a for a in v] + [k])


def load(path, batch, training):
    ds = tf.data.experimental.CsvDataset(path, [tf.float32] * 4 + [tf.int32], header=True)
    ds = ds.map(lambda *c: (tf.stack(c[:4]), c[4])).cache()
    if training:
        ds = ds.shuffle(1000)
    ds = ds.batch(batch)
    return ds.prefetch(tf.data.AUTOTUNE)


def run():
    tf.keras.utils.set_random_seed(2)
    folder = tempfile.mkdtemp()
    paths = {}
    for i, part in enumerate(("train", "test")):
        paths[part] = os.path.join(folder, part + ".csv")
        survey(paths[part], i)
    train, test = load(paths["train"], 25, True), load(paths["test"], 250, False)
    net = tf.keras.Sequential([
        tf.keras.Input((4,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(4, activation="softmax"),
    ])
    net.compile(tf.keras.optimizers.SGD(0.05, momentum=0.9), "sparse_categorical_crossentropy", metrics=["accuracy"])
    h = net.fit(train, validation_data=test, epochs=5, verbose=0)
    print("val acc", np.round(h.history["val_accuracy"], 3))


if __name__ == "__main__":
    run()
