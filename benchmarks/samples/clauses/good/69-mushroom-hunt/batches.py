import numpy as np
from PIL import Image
from tensorflow import keras


class Batches(keras.utils.Sequence):
    def __init__(self, paths, labels, batch=32, **kwargs):
        super().__init__(**kwargs)
        self.paths, self.labels, self.batch = paths, labels, batch

    def __len__(self):
        return len(self.paths) // self.batch

    def _open(self, path):
        return np.asarray(Image.open(path).convert("RGB").resize((128, 128)), "float32") / 255.0

    def __getitem__(self, index):
        here = slice(index * self.batch, (index + 1) * self.batch)
        return np.stack([self._open(path) for path in self.paths[here]]), self.labels[here]
