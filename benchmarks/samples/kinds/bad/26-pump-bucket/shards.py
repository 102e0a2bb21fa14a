import os
import time
import tempfile
import numpy as np
import tensorflow as tf

FILES, DIM = 160, 512


class Bucket:
    """Thin wrapper over the object store of the pumping station (a folder here)."""

    def __init__(self, root, round_trip=0.02):
        self.root = root
        self.round_trip = round_trip

    def keys(self):
        return sorted(os.listdir(self.root))

    def get(self, key):
        time.sleep(self.round_trip)
        with open(os.path.join(self.root, key.decode()), "rb") as f:
            return f.read()


def fill(root):
    rng = np.random.default_rng(0)
    for i in range(FILES):
        lab = i % 2
        sig = rng.normal(size=DIM) + lab * 0.5
        with open(os.path.join(root, f"pump_{i:03d}_{lab}.raw"), "wb") as f:
            f.write(sig.astype("float32").tobytes())


def dataset(bucket, batch=20):
    def fetch(key):
        raw = tf.numpy_function(bucket.get, [key], tf.string)
        sig = tf.reshape(tf.io.decode_raw(raw, tf.float32), [DIM])
        lab = tf.strings.to_number(tf.strings.substr(key, 9, 1))
        return sig, lab

    def spectrum(sig, lab):
        return tf.math.log1p(tf.abs(tf.signal.rfft(sig))), lab

    ds = tf.data.Dataset.from_tensor_slices(bucket.keys())
    ds = ds.shuffle(FILES)
    ds = ds.map(fetch)
    ds = ds.batch(batch)
    ds = ds.map(spectrum)
    return ds.prefetch(tf.data.AUTOTUNE)


if __name__ == "__main__":
    root = tempfile.mkdtemp()
    fill(root)
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential([
        tf.keras.Input((DIM // 2 + 1,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(tf.keras.optimizers.Adam(3e-3), "binary_crossentropy", metrics=["accuracy"])
    ds = dataset(Bucket(root))
    t0 = time.time()
    model.fit(ds, epochs=4, verbose=2)
    print("4 epochs in %.2fs" % (time.time() - t0))
