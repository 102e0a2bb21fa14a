import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
BATCH = 64

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(5)])
    optimizer = tf.keras.optimizers.Adam()
    cross = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.nn.compute_average_loss(cross(y, model(x, training=True)), global_batch_size=BATCH)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def step(x, y):
    losses = strategy.run(replica_step, args=(x, y))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


x = tf.random.normal([640, 12])
data = tf.data.Dataset.from_tensor_slices((x, tf.zeros([640], tf.int32))).batch(BATCH)
for a, b in strategy.experimental_distribute_dataset(data):
    print(float(step(a, b)))
