"""The same strategy over data that is ready, for a step that computes."""

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
images = tf.random.uniform([256, 32, 32, 3])
labels = tf.random.uniform([256], 0, 5, tf.int32)
data = tf.data.Dataset.from_tensor_slices((images, labels)).cache().shuffle(256).repeat().batch(32).prefetch(2)
with strategy.scope():
    model = tf.keras.Sequential(
        [tf.keras.layers.Conv2D(24, 5), tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(5)]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data, steps_per_epoch=150, epochs=3, verbose=0)
