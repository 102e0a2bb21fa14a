import math

import numpy as np
import keras


class SeedBatches(keras.utils.PyDataset):
    """Batches of seed photographs, flipped at random."""

    def __init__(self, images, labels, batch_size, augment=False):
        super().__init__()
        self.images = images
        self.labels = labels
        self.batch_size = batch_size
        self.augment = augment
        self.order = np.arange(len(images))

    def __len__(self):
        return math.ceil(len(self.images) / self.batch_size)

    def __getitem__(self, index):
        rows = self.order[index * self.batch_size:(index + 1) * self.batch_size]
        x = self.images[rows]
        if self.augment and index % 2:
            x = x[:, :, ::-1]
        return x, self.labels[rows]

    def on_epoch_end(self):
        np.random.shuffle(self.order)


def load(n=320, size=20, classes=4, seed=2):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    images = rng.normal(0.0, 0.4, (n, size, size, 1))
    for i, k in enumerate(labels):
        images[i, 3 + 3 * k:6 + 3 * k, 4:16, 0] += 1.0
    return images.astype("float32"), labels.astype("int32")
