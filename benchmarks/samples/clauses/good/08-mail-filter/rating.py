import numpy as np
from tensorflow import keras


class Rater:
    def __init__(self, path, words):
        self.model = keras.models.load_model(path)
        self.words = words

    def row(self, text):
        found = np.zeros(len(self.words), "float32")
        for word in text.lower().split():
            if word in self.words:
                found[self.words[word]] = 1.0
        return found

    def rate(self, text):
        return float(self.model.predict(self.row(text)[None, :], verbose=0)[0, 0])

    def rate_all(self, texts):
        rows = np.stack([self.row(text) for text in texts])
        return self.model.predict(rows, verbose=0)[:, 0]
