import numpy as np
import tensorflow as tf


def make_model():
    return tf.keras.Sequential(
        [tf.keras.Input((12,)), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(1)]
    )


def make_data(global_batch):
    x = np.random.rand(256, 12).astype("float32")
    ds = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True)))
    return ds.shuffle(256).batch(global_batch).prefetch(tf.data.AUTOTUNE)


cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
print("replicas", strategy.num_replicas_in_sync)

model = make_model()
with strategy.scope():
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")
model.fit(make_data(32 * strategy.num_replicas_in_sync), epochs=2, verbose=2)
