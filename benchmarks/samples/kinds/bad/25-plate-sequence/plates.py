import math
import os
import numpy as np
import tensorflow as tf


class PlateSequence(tf.keras.utils.PyDataset):
    """Batches of licence plate crops, read from disk."""

    def __init__(self, files, labels, batch_size=32, size=(32, 96), shuffle=True, **kw):
        super().__init__(**kw)
        self.files = np.asarray(files)
        self.labels = np.asarray(labels)
        self.batch_size = batch_size
        self.size = size
        self.shuffle = shuffle
        self.order = np.arange(len(self.files))
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.files) / self.batch_size)

    def on_epoch_end(self):
        if self.shuffle:
            np.random.shuffle(self.order)

    def __getitem__(self, i):
        idx = self.order[i * self.batch_size:(i + 1) * self.batch_size]
        batch = []
        for f in self.files[idx]:
            img = tf.io.decode_png(tf.io.read_file(f), channels=1)
            img = tf.image.resize(img, self.size)
            batch.append(img.numpy() / 255.0)
        return np.stack(batch), self.labels[idx]


def fake_plates(folder, n):
    rng = np.random.default_rng(0)
    files, labels = [], []
    for i in range(n):
        lab = i % 3
        img = rng.integers(0, 80, (160, 480, 1)).astype("uint8")
        img[30:130, 140 * lab:140 * lab + 120] = 220
        f = os.path.join(folder, "plate_%04d.png" % i)
        tf.io.write_file(f, tf.io.encode_png(img))
        files.append(f)
        labels.append(lab)
    return files, labels
