import tempfile

import numpy as np
import tensorflow as tf

from evaluate import load_ranker, pair_accuracy
from ranker import Ranker

FEATURES = 12


def make_pairs(n, seed):
    rng = np.random.default_rng(seed)
    w = np.random.default_rng(0).normal(size=FEATURES)
    a, b = rng.normal(size=(2, n, FEATURES))
    first = ((a - b) @ w > 0)[:, None]
    return np.where(first, a, b).astype("float32"), np.where(first, b, a).astype("float32")


def train(folder):
    model = Ranker()
    model(tf.zeros((1, FEATURES)))
    optimizer = tf.keras.optimizers.Adam(5e-3)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)

    @tf.function
    def step(better, worse):
        with tf.GradientTape() as tape:
            margin = model(better, training=True) - model(worse, training=True)
            loss = tf.reduce_mean(tf.nn.softplus(-margin))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))

    ds = tf.data.Dataset.from_tensor_slices(make_pairs(640, 1)).shuffle(640).batch(32)
    for _ in range(5):
        for better, worse in ds.prefetch(tf.data.AUTOTUNE):
            step(better, worse)
        manager.save()
    return model


tf.keras.utils.set_random_seed(28)
with tempfile.TemporaryDirectory() as folder:
    test = make_pairs(400, 2)
    trained = train(folder)
    print(f"trained  {pair_accuracy(trained, *test):.3f}")
    print(f"restored {pair_accuracy(load_ranker(folder, FEATURES), *test):.3f}")
