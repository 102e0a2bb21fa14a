import numpy as np
import tensorflow as tf

from accumulate import Accumulator

MICRO, EVERY, EPOCHS = 8, 4, 6

tf.keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
x = rng.normal(size=(768, 16)).astype("float32")
y = (x[:, :3].sum(axis=1) + 0.5 * x[:, 3] * x[:, 4]).astype("float32")[:, None]
ds = tf.data.Dataset.from_tensor_slices((x[:640], y[:640]))
ds = ds.shuffle(640).batch(MICRO, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential([
    tf.keras.Input((16,)),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(1),
])
optimizer = tf.keras.optimizers.SGD(0.05)
mse = tf.keras.losses.MeanSquaredError()
accumulator = Accumulator(model.trainable_variables, EVERY)
running = tf.keras.metrics.Mean()


@tf.function
def micro_step(bx, by):
    with tf.GradientTape() as tape:
        loss = mse(by, model(bx, training=True))
    accumulator.add(tape.gradient(loss, model.trainable_variables))
    running.update_state(loss)


@tf.function
def update():
    accumulator.apply(optimizer)


for epoch in range(EPOCHS):
    running.reset_state()
    for i, (bx, by) in enumerate(ds, start=1):
        micro_step(bx, by)
        if i % EVERY == 0:
            update()
    val = float(mse(y[640:], model(x[640:], training=False)))
    print(f"epoch {epoch} train {float(running.result()):.4f} val {val:.4f}")
