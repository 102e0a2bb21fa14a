import numpy as np
import tensorflow as tf
from tensorflow import keras

STARS = 5
VOCAB = 300
rng = np.random.default_rng(5)


def reviews(n):
    words = rng.integers(1, VOCAB, size=(n, 20))
    stars = rng.integers(1, STARS + 1, size=n)
    return words, stars


def to_dataset(pair, batch):
    return tf.data.Dataset.from_tensor_slices(pair).shuffle(500).batch(batch).prefetch(2)


def build():
    tokens = keras.Input((20,), dtype="int32")
    h = keras.layers.Embedding(VOCAB, 16)(tokens)
    h = keras.layers.GlobalAveragePooling1D()(h)
    return keras.Model(tokens, keras.layers.Dense(STARS)(h))


model = build()
model.compile(
    keras.optimizers.Adam(3e-3),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(to_dataset(reviews(400), 32), validation_data=to_dataset(reviews(80), 32), epochs=2, verbose=2)
