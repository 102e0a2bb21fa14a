import numpy as np
import tensorflow as tf

from devices import make_strategy

PER_REPLICA, EPOCHS, RATE = 16, 3, 0.45

strategy = make_strategy(2)
tf.keras.utils.set_random_seed(30)
GLOBAL_BATCH = PER_REPLICA * strategy.num_replicas_in_sync

rng = np.random.default_rng(30)
x = rng.normal(size=(512, 4)).astype("float32")
y = (x @ np.array([1.0, -2.0, 0.5, 3.0], "float32"))[:, None]
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512)
ds = ds.batch(GLOBAL_BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
dist_ds = strategy.experimental_distribute_dataset(ds)

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(RATE)
    per_example = tf.keras.losses.MeanSquaredError(reduction="none")


def replica_step(bx, by):
    with tf.GradientTape() as tape:
        pred = model(bx, training=True)
        loss = tf.nn.compute_average_loss(per_example(by, pred), global_batch_size=GLOBAL_BATCH)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def train_step(bx, by):
    losses = strategy.run(replica_step, args=(bx, by))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


for epoch in range(EPOCHS):
    total = 0.0
    for batch in dist_ds:
        total += train_step(*batch)
    print(f"epoch {epoch} loss {float(total) / (512 // GLOBAL_BATCH):.5f}")
print("weights", model.get_weights()[0].ravel().round(3))
