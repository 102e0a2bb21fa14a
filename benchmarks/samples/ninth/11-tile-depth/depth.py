"""Guess the depth of each pixel of a camera tile."""
import sys

import numpy as np
import tensorflow as tf

from schema import read

REPEATS = {"tiny": 1, "base": 2}


def network(net, size):
    x = inputs = tf.keras.Input((size, size, 3))
    for channels in net.channels:
        for _ in range(REPEATS[net.backbone]):
            x = tf.keras.layers.SeparableConv2D(channels, 3, padding="same", activation="relu")(x)
        x = tf.keras.layers.SpatialDropout2D(net.dropout)(x)
    return tf.keras.Model(inputs, tf.keras.layers.Conv2D(1, 1)(x))


def main(path):
    job = read(path)
    tf.keras.utils.set_random_seed(job.seed)
    tiles = job.tiles
    x = np.random.rand(tiles.count, tiles.size, tiles.size, 3).astype("float32")
    depth = tiles.near + (tiles.far - tiles.near) * x.mean(axis=-1, keepdims=True)
    model = network(job.net, tiles.size)
    model.compile(tf.keras.optimizers.Adam(job.fit.step), loss=job.fit.loss)
    log = model.fit(x, depth, batch_size=job.fit.batch_size, epochs=job.fit.epochs, verbose=job.fit.verbose)
    print(round(float(model.optimizer.learning_rate), 5), round(log.history["loss"][-1], 5))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "job.json")
