"""Roof / no roof on aerial tiles."""
import glob
import os
import resource
import tempfile

import numpy as np
import tensorflow as tf

SIDE = 128


def write_tiles(folder, n=700):
    rng = np.random.default_rng(0)
    for i in range(n):
        lab = i % 2
        img = rng.integers(0, 20, (16, 16, 3)).repeat(8, 0).repeat(8, 1).astype("uint8")
        if lab:
            img[40:80, 40:80] = 200
        tf.io.write_file(os.path.join(folder, f"{'roof' if lab else 'bare'}_{i:04d}.png"), tf.io.encode_png(img))


def load_tile(path):
    img = tf.io.decode_png(tf.io.read_file(path), channels=3)
    return tf.image.resize(img, (SIDE, SIDE)) / 255.0


def label_of(path):
    return tf.cast(tf.strings.regex_full_match(path, ".*roof_.*"), tf.int32)


def make_dataset(folder, batch_size=16):
    paths = sorted(glob.glob(os.path.join(folder, "*.png")))
    np.random.default_rng(1).shuffle(paths)
    images = [load_tile(p).numpy() for p in paths]
    labels = [int(label_of(p)) for p in paths]
    ds = tf.data.Dataset.from_tensor_slices((np.array(images), labels))
    return ds.shuffle(256).batch(batch_size).prefetch(1)


def rss():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main():
    folder = tempfile.mkdtemp()
    write_tiles(folder)
    before = rss()
    ds = make_dataset(folder)
    model = tf.keras.Sequential([
        tf.keras.Input((SIDE, SIDE, 3)),
        tf.keras.layers.AveragePooling2D(8),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(ds, epochs=1, verbose=2)
    print("rss MB before", before, "after", rss())


if __name__ == "__main__":
    main()
