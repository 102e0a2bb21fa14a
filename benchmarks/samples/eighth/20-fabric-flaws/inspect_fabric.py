"""Learn faultless fabric and mark the rolls that differ from it."""
import json
import os

import fire
import numpy as np
import tensorflow as tf

from vae import VAE


def weave(n, size, low, high):
    """Grey photos of a plain weave."""
    rng = np.random.default_rng(0)
    yy, xx = np.mgrid[:size, :size]
    phase = rng.uniform(0, 6, (n, 1, 1))
    cloth = 0.5 + 0.4 * np.sin(yy + phase) * np.cos(xx) + 0.05 * rng.normal(size=(n, size, size))
    return (low + (high - low) * np.clip(cloth, 0, 1))[..., None].astype("float32")


def main(config="fabric.json", **overrides):
    with open(config) as f:
        cfg = json.load(f)
    cfg.update(overrides)
    tf.keras.utils.set_random_seed(8)

    images = weave(96, cfg["image_size"], *cfg["pixel_range"])
    ds = tf.data.Dataset.from_tensor_slices(images).batch(cfg["batch_size"])
    model = VAE(cfg)
    model.compile(optimizer=tf.keras.optimizers.Adam(cfg["lr"]))
    saver = tf.keras.callbacks.ModelCheckpoint(**cfg["checkpoint"])
    history = model.fit(ds, epochs=cfg["epochs"], steps_per_epoch=cfg["steps_per_epoch"], callbacks=[saver], verbose=0)

    score = np.mean((model(images)[0] - images) ** 2, axis=(1, 2, 3))
    limit = np.quantile(score, cfg["anomaly_quantile"])
    print("steps %d total %.4f limit %.6f written %s" % (
        int(model.optimizer.iterations), history.history["total"][-1], limit,
        os.path.exists(cfg["checkpoint"]["filepath"])))


if __name__ == "__main__":
    fire.Fire(main)
