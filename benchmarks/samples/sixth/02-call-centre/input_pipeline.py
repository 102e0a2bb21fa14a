"""Transcripts -> padded token ids."""
import numpy as np
import tensorflow as tf


def _fake_calls(config, n, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        label = rng.integers(len(config["intents"]))
        length = rng.integers(4, config["max_len"] + 1)
        low = 1 + label * 60
        yield rng.integers(low, low + 60, size=length), label


def get_dataset(config, split, batch_size):
    n, seed = {"train": (256, 1), "eval": (64, 2)}[split]
    ds = tf.data.Dataset.from_generator(
        lambda: _fake_calls(config, n, seed),
        output_signature=(tf.TensorSpec((None,), tf.int32), tf.TensorSpec((), tf.int32)),
    )
    if split == "train":
        ds = ds.shuffle(n, seed=seed).repeat()
    return ds.padded_batch(batch_size, padded_shapes=((config["max_len"],), ())).prefetch(2)
