import numpy as np
import tensorflow as tf
import keras

from loop import Loop
from nets import AccentNet


def speakers(n, seed, accents=4, dims=40):
    centres = np.random.default_rng(0).normal(0, 0.35, (accents, dims))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, accents, n)
    x = 3.0 + 2.0 * (centres[y] + rng.normal(0, 1.0, (n, dims)))
    return x.astype("float32"), y.astype("int32")


def batches(data, size, shuffle):
    ds = tf.data.Dataset.from_tensor_slices(data)
    if shuffle:
        ds = ds.shuffle(len(data[0]))
    return ds.batch(size).prefetch(1)


if __name__ == "__main__":
    keras.utils.set_random_seed(77)
    train = batches(speakers(300, seed=1), 50, True)
    valid = batches(speakers(300, seed=2), 100, False)
    model = AccentNet(accents=4)
    Loop(model).run(train, valid, epochs=30)
    norm = model.blocks[0][1]
    print("moving mean", np.abs(norm.moving_mean.numpy()).max())
