import os

import numpy as np
import tensorflow as tf

from matcher import build
from settings import Settings

settings = Settings.read(os.environ.get("QA_SETTINGS", "qa.json"))
settings.trainer.epochs = int(os.environ.get("QA_EPOCHS", "1"))


def pairs(n=32):
    rng = np.random.default_rng(settings.seed)
    q = rng.integers(1, settings.encoder.vocab, (n, settings.max_len))
    a = rng.integers(1, settings.encoder.vocab, (n, settings.max_len))
    return [q, a], rng.integers(0, 2, (n, 1)).astype("float32")


tf.keras.utils.set_random_seed(6)
x, y = pairs()
model = build(settings)
t = settings.trainer
model.compile(tf.keras.optimizers.Adam(t.learning_rate), loss=t.loss)
log = model.fit(x, y, batch_size=t.batch_size, epochs=t.epochs, verbose=0)
print("epochs", len(log.epoch), "steps", int(model.optimizer.iterations), "loss", log.history["loss"][-1])
