import json

import numpy as np
import tensorflow as tf

from train import OUT


class Grader:
    """Loads the stored network and grades a tray of fruit at a time."""

    NAMES = ("green", "turning", "ripe")

    def __init__(self, folder=OUT):
        self.model = tf.keras.models.load_model(folder / "grader.keras")
        scaling = json.loads((folder / "scaling.json").read_text())
        self.mean = np.array(scaling["mean"], dtype="float32")
        self.std = np.array(scaling["std"], dtype="float32")

    def prepare(self, tray):
        tray = np.asarray(tray, dtype="float32")
        if tray.ndim == 1:
            tray = tray[None, :]
        return tray

    def grade(self, tray):
        probabilities = self.model.predict(self.prepare(tray), batch_size=256, verbose=0)
        return probabilities.argmax(axis=1)

    def names(self, tray):
        return [self.NAMES[i] for i in self.grade(tray)]
