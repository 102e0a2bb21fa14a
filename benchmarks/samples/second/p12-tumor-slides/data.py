import numpy as np
from tensorflow import keras


class Slides(keras.utils.PyDataset):
    """Batches of tiles; what is left of the section goes to PyDataset."""

    def __init__(self, section, tiles=24):
        section = dict(section)
        self.tile = section.pop("tile")
        self.batch = section.pop("batch", 8)
        self.flip = section.pop("flip", False)
        super().__init__(**section)
        rng = np.random.default_rng(12)
        self.x = rng.random((tiles, self.tile, self.tile, 3), dtype="float32")
        self.y = rng.integers(0, 2, (tiles, 1))

    def __len__(self):
        return -(-len(self.x) // self.batch)

    def __getitem__(self, index):
        part = slice(index * self.batch, (index + 1) * self.batch)
        x = self.x[part]
        return (x[:, :, ::-1] if self.flip and index % 2 else x), self.y[part]
