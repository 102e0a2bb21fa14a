import numpy as np
import tensorflow as tf
import yaml

with open("schedule.yaml") as fh:
    conf = yaml.safe_load(fh)
lr = conf["learning_rate"]

x = np.random.randn(800, 10).astype("float32")
y = x @ np.random.randn(10, 1).astype("float32")
steps_per_epoch = len(x) // conf["batch_size"]

schedule = tf.keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=lr["start"],
    decay_steps=lr["decay_every"] * steps_per_epoch,
    decay_rate=lr["factor"],
    staircase=True,
)
model = tf.keras.Sequential([tf.keras.Input((10,)), tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(schedule), "mse")
log = model.fit(x, y, batch_size=conf["batch_size"], epochs=conf["epochs"], verbose=0)
print("rate after 2 epochs", float(schedule(2 * steps_per_epoch)), "final loss", log.history["loss"][-1])
