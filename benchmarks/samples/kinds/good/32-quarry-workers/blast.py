"""Vibration after a blast from charge, distance and rock class. Multi worker."""
import numpy as np
import tensorflow as tf

import cluster

PER_WORKER = 32


def blasts(n=640):
    rng = np.random.default_rng(0)
    x = rng.uniform(0.1, 1, (n, 3)).astype("float32")
    return x, (1.4 * np.log(x[:, :1]) - 1.1 * np.log(x[:, 1:2]) + 0.2 * x[:, 2:]).astype("float32")


def build():
    model = tf.keras.Sequential([
        tf.keras.Input((3,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile(tf.keras.optimizers.Adam(5e-3), loss="mse")
    return model


def main():
    cluster.export_tf_config()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    resolver = strategy.cluster_resolver
    print("cluster:", resolver.cluster_spec().as_dict(), "task", resolver.task_id,
          "replicas", strategy.num_replicas_in_sync)

    x, y = blasts()
    batch = PER_WORKER * strategy.num_replicas_in_sync
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640).batch(batch)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    ds = ds.with_options(options)
    with strategy.scope():
        model = build()
    model.fit(ds, epochs=2, verbose=2)


if __name__ == "__main__":
    main()
