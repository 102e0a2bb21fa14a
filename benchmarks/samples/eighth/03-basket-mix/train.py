"""Which product goes into whose basket next."""
import sys

import numpy as np
import tensorflow as tf

from configs import load_config
from towers import TwoTower

N_PRODUCTS = 200


def events(n, num_users):
    rng = np.random.default_rng(3)
    users = rng.integers(0, num_users, n)
    items = (users * 4 + rng.integers(0, 8, n)) % N_PRODUCTS
    return users.astype("int32"), items.astype("int32")


def main(path="two_tower.json"):
    data, tower, train = load_config(path)
    tf.keras.utils.set_random_seed(0)

    users, items = events(data.num_events, data.num_users)
    rows = np.tile(np.arange(train.batch_size), data.num_events // train.batch_size)
    ds = (
        tf.data.Dataset.from_tensor_slices(({"user": users, "item": items}, rows))
        .batch(train.batch_size, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )

    model = TwoTower(data, tower)
    model.compile(
        optimizer=tf.keras.optimizers.get(train.optimizer),
        loss=train.loss,
        metrics=[tf.keras.metrics.SparseTopKCategoricalAccuracy(k=train.top_k, name="top_k")],
    )
    history = model.fit(ds, epochs=train.epochs, verbose=0)
    print("epochs", len(history.epoch), "loss %.5f" % history.history["loss"][-1],
          "top_k %.4f" % history.history["top_k"][-1],
          "width", model.user_tower.embed.output_dim)


if __name__ == "__main__":
    main(*sys.argv[1:])
