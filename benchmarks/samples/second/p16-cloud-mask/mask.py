import numpy as np
import tensorflow as tf
from tensorflow import keras

import plan


def data(tiles, batch):
    rng = np.random.default_rng(16)
    shape = (tiles["count"], tiles["size"], tiles["size"])
    x = rng.random((*shape, tiles["bands"]), dtype="float32")
    y = rng.integers(0, 2, (*shape, 1)).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(batch, drop_remainder=True).prefetch(1)


def main():
    run, tiles, _ = plan.read("run.yaml")
    keras.utils.set_random_seed(16)
    keras.mixed_precision.set_global_policy(run.precision)
    strategy = tf.distribute.MirroredStrategy()
    run = run._replace(global_batch=4 * strategy.num_replicas_in_sync)
    with strategy.scope():
        net = keras.Sequential([
            keras.Input((None, None, tiles["bands"])),
            keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
            keras.layers.Conv2D(1, 1, dtype="float32", activation="sigmoid"),
        ])
        net.compile(keras.optimizers.Adam(run.rate), "binary_crossentropy",
                    steps_per_execution=run.steps_per_execution)
    log = net.fit(data(tiles, run.global_batch), epochs=run.epochs, verbose=0)
    print("loss", log.history["loss"])


if __name__ == "__main__":
    main()
