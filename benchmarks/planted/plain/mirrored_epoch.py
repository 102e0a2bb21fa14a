"""Two replicas whose epochs are loops over the distributed dataset in a tf.function; nothing is wrong."""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = tf.keras.Sequential(
        [tf.keras.Input([64]), tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(1)]
    )
    optimizer = tf.keras.optimizers.SGD(0.01)
rows = tf.data.Dataset.from_tensor_slices((tf.random.normal([9600, 64]), tf.ones([9600, 1])))
shared = strategy.experimental_distribute_dataset(rows.batch(64).prefetch(2))


def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((model(x, training=True) - y) ** 2) / 64
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
    )
    return loss


@tf.function
def epoch(batches):
    total = 0.0
    for x, y in batches:
        total += strategy.reduce("SUM", strategy.run(train, args=(x, y)), axis=None)
    return total


for number in range(3):
    print(number, float(epoch(shared)))
