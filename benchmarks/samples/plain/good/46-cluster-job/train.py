import numpy as np
import tensorflow as tf

from cluster import local_cluster

GLOBAL_BATCH, RATE = 32, 1e-2


def claims(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 7)).astype("float32")
    return x, (x @ np.arange(7, dtype="float32"))[:, None]


def build():
    return tf.keras.Sequential([
        tf.keras.Input((7,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1),
    ])


def main():
    local_cluster()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    tf.keras.utils.set_random_seed(50)
    x, y = claims(640, 1)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640).repeat()
    ds = ds.batch(GLOBAL_BATCH).prefetch(tf.data.AUTOTUNE)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    ds = ds.with_options(options)

    with strategy.scope():
        model = build()
        optimizer = tf.keras.optimizers.SGD(RATE)

    def replica_step(batch):
        bx, by = batch
        with tf.GradientTape() as tape:
            error = tf.reduce_mean(tf.square(by - model(bx, training=True)), axis=-1)
            loss = tf.nn.compute_average_loss(error, global_batch_size=GLOBAL_BATCH)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function
    def train_step(batch):
        losses = strategy.run(replica_step, args=(batch,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    batches = iter(strategy.experimental_distribute_dataset(ds))
    for _ in range(60):
        loss = train_step(next(batches))
    print("workers", strategy.num_replicas_in_sync, "loss", round(float(loss), 3))


if __name__ == "__main__":
    main()
