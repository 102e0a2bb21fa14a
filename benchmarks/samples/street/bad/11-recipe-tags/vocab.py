"""Word index for recipe titles. Index 0 is kept for padding."""
from collections import Counter

import numpy as np


class WordIndex:
    def __init__(self, max_words=None):
        self.max_words = max_words
        self.index = {}

    def fit(self, titles):
        counts = Counter(word for title in titles for word in title.split())
        common = counts.most_common(self.max_words)
        self.index = {word: i + 1 for i, (word, _) in enumerate(common)}
        return self

    @property
    def size(self):
        return len(self.index)

    def encode(self, titles, length):
        out = np.zeros((len(titles), length), dtype="int32")
        for row, title in enumerate(titles):
            ids = [self.index[w] for w in title.split() if w in self.index][:length]
            out[row, : len(ids)] = ids
        return out
