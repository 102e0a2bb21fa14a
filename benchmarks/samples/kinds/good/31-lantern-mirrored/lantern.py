import numpy as np
import tensorflow as tf

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
GLOBAL_BATCH = 32 * strategy.num_replicas_in_sync
EPOCHS = 3

rng = np.random.default_rng(0)
x = rng.normal(size=(512, 6)).astype("float32")
y = (x @ rng.normal(size=(6, 1)) + 0.1 * rng.normal(size=(512, 1))).astype("float32")
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=0).batch(GLOBAL_BATCH, drop_remainder=True)
dist_ds = strategy.experimental_distribute_dataset(ds)

tf.keras.utils.set_random_seed(0)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.05)
    loss_obj = tf.keras.losses.MeanSquaredError(reduction="none")

    def compute_loss(labels, preds):
        per_example = loss_obj(labels, preds)
        return tf.nn.compute_average_loss(per_example, global_batch_size=GLOBAL_BATCH)


def replica_step(inputs):
    xb, yb = inputs
    with tf.GradientTape() as tape:
        loss = compute_loss(yb, model(xb, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def train_step(batch):
    per_replica = strategy.run(replica_step, args=(batch,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)


first = None
for epoch in range(EPOCHS):
    total, n = 0.0, 0
    for batch in dist_ds:
        loss = float(train_step(batch))
        first = loss if first is None else first
        total += loss
        n += 1
    print("epoch %d loss %.4f  mse over the set %.4f" % (epoch, total / n, np.mean((model(x).numpy() - y) ** 2)))
print("first step loss %.4f" % first)
