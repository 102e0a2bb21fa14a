from collections import Counter

import numpy as np


class Vocabulary:
    """Maps words to ids; 0 is kept for padding."""

    def __init__(self, min_count=1):
        self.min_count = min_count
        self.word_index = {}

    def fit(self, sentences):
        counts = Counter(word for s in sentences for word in s.lower().split())
        kept = [w for w, c in counts.most_common() if c >= self.min_count]
        self.word_index = {w: i for i, w in enumerate(kept, start=1)}
        return self

    def encode(self, sentences, length):
        out = np.zeros((len(sentences), length), dtype="int32")
        for row, sentence in enumerate(sentences):
            ids = [self.word_index.get(w, 0) for w in sentence.lower().split()]
            ids = ids[:length]
            out[row, :len(ids)] = ids
        return out

    @property
    def size(self):
        return len(self.word_index)
