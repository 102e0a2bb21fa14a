"""A distributed dataset in a loop of one's own; every batch of the input waits 40 ms."""

import time

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration(), tf.config.LogicalDeviceConfiguration()],
)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def wait(x):
    time.sleep(0.04)
    return x


def fetch(x):
    return tf.ensure_shape(tf.numpy_function(wait, [x], tf.float32), [8, 4])


data = tf.data.Dataset.from_tensors(tf.ones([8, 4])).repeat().map(fetch).prefetch(1)
shared = strategy.experimental_distribute_dataset(data)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD()
    model.build([None, 4])
    optimizer.build(model.trainable_variables)


@tf.function
def train(batch):
    def on_replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x) ** 2) / 8
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(on_replica, [batch]), axis=None)


for number, batch in enumerate(shared):
    train(batch)
    if number == 400:
        break
