import numpy as np
import tensorflow as tf

from transformer import build

VOCAB, LENGTH = 12, 16


def tunes(n, seed):
    """Random walk over the scale; the next note is only partly predictable."""
    rng = np.random.default_rng(seed)
    steps = rng.choice([-1, 0, 1, 2], size=(n, LENGTH + 1), p=[0.2, 0.1, 0.6, 0.1])
    notes = (rng.integers(0, VOCAB, (n, 1)) + np.cumsum(steps, axis=1)) % VOCAB
    return notes[:, :-1].astype("int32"), notes[:, 1:].astype("int32")


tf.keras.utils.set_random_seed(16)
x, y = tunes(1200, 1)
model = build(VOCAB, LENGTH)
model.compile(tf.keras.optimizers.Adam(3e-3),
              tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
history = model.fit(x, y, batch_size=60, epochs=10, verbose=0)
print("training accuracy", round(history.history["accuracy"][-1], 3))

x_test, y_test = tunes(400, 2)
half = LENGTH // 2
prompt = x_test.copy()
prompt[:, half + 1:] = 0
logits = model.predict(prompt, verbose=0)[:, half]
print("next note after a prompt", round(float(np.mean(logits.argmax(-1) == y_test[:, half])), 3))
