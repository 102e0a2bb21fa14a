import numpy as np
import tensorflow as tf

from store import LENGTH, write_traces


def _read(path):
    trace = np.load(path.numpy().decode())
    return trace - trace.mean(axis=0)


def load(path, label):
    trace = tf.py_function(_read, [path], tf.float32)
    trace.set_shape((LENGTH, 3))
    return trace, label


def dataset(folder, n, seed, training):
    paths, labels = write_traces(folder, n, seed)
    ds = tf.data.Dataset.from_tensor_slices((paths, labels))
    ds = ds.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if training:
        ds = ds.shuffle(n, seed=seed)
    return ds.batch(32).prefetch(tf.data.AUTOTUNE)


def picker():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv1D(16, 7, activation="relu"),
            tf.keras.layers.MaxPooling1D(4),
            tf.keras.layers.Conv1D(24, 7, activation="relu"),
            tf.keras.layers.GlobalMaxPooling1D(),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(31)
    train = dataset("traces/train", 600, 1, training=True)
    val = dataset("traces/val", 150, 2, training=False)
    model = picker()
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(train, validation_data=val, epochs=8, verbose=2)
    print("events of", LENGTH, "samples;", model.evaluate(val, verbose=0, return_dict=True))
