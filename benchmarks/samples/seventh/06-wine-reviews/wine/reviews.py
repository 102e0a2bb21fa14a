import numpy as np
import tensorflow as tf

TASTES = [("thin", "sour", "flat"), ("round", "fruity", "fair"), ("deep", "long", "grand")]


def write_reviews(n, seed=8):
    rng = np.random.default_rng(seed)
    filler = [f"note{i}" for i in range(120)]
    texts, marks = [], []
    for _ in range(n):
        mark = int(rng.integers(0, 3))
        words = list(rng.choice(filler, 9)) + list(rng.choice(TASTES[mark], 3))
        rng.shuffle(words)
        texts.append(" ".join(words))
        marks.append(mark)
    return np.array(texts), np.array(marks)


def prepare(text, batch_size):
    texts, marks = write_reviews(text.reviews)
    cut = int(len(texts) * (1 - text.valid_share))
    vectorize = tf.keras.layers.TextVectorization(
        max_tokens=text.vocab, output_sequence_length=text.length)
    vectorize.adapt(texts[:cut])

    def make(a, b):
        return tf.data.Dataset.from_tensor_slices((a, b)).batch(batch_size)

    def to_ids(batch, labels):
        return vectorize(batch), labels

    train = make(texts[:cut], marks[:cut]).map(to_ids).cache().shuffle(10)
    valid = make(texts[cut:], marks[cut:]).map(to_ids).cache()
    return train, valid, vectorize, texts[cut:]
