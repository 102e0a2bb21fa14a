import pathlib

import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
CLASSES = ("copepod", "diatom")


def fake_scans(folder, per_class=12):
    rng = np.random.default_rng(0)
    for k, name in enumerate(CLASSES):
        d = pathlib.Path(folder) / name
        d.mkdir(parents=True)
        for i in range(per_class):
            h, w = rng.integers(30, 50, 2)
            img = rng.integers(0, 120 + 100 * k, (h, w, 3)).astype("uint8")
            data = tf.io.encode_png(img) if i % 2 else tf.io.encode_jpeg(img)
            (d / f"{i:03d}{'.png' if i % 2 else '.jpg'}").write_bytes(data.numpy())


class TileSource:
    def __init__(self, folder, size=32, batch=8):
        self.size, self.batch = size, batch
        self.files = sorted(str(p) for p in pathlib.Path(folder).glob("*/*"))
        self.labels = [CLASSES.index(pathlib.Path(f).parent.name) for f in self.files]

    def _load(self, file, label):
        # scans arrive as a mixture of png and jpg
        img = tf.io.decode_image(tf.io.read_file(file), channels=3)
        img = tf.image.resize(img, [self.size, self.size])
        return img / 255.0, label

    def __call__(self, training):
        ds = tf.data.Dataset.from_tensor_slices((self.files, self.labels))
        if training:
            ds = ds.shuffle(len(self.files), reshuffle_each_iteration=True)
        return ds.map(self._load, AUTOTUNE).batch(self.batch).prefetch(AUTOTUNE)
