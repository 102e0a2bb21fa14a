import numpy as np
import tensorflow as tf

from config import CONFIG as C

tf.keras.utils.set_random_seed(C["seed"])


def simulate(n, rng):
    x = rng.normal(size=(n, C["features"])).astype("float32")
    y = x[:, :C["informative"]].sum(axis=1, keepdims=True)
    return x, (y + rng.normal(0, 0.5, (n, 1))).astype("float32")


rng = np.random.default_rng(C["seed"])
x_train, y_train = simulate(C["samples"], rng)
x_test, y_test = simulate(1000, rng)

model = tf.keras.Sequential([
    tf.keras.Input((C["features"],)),
    tf.keras.layers.Dense(1, kernel_regularizer=tf.keras.regularizers.L1(C["l1"])),
])
optimizer = tf.keras.optimizers.Adam(C["rate"])
mse = tf.keras.losses.MeanSquaredError()
train_loss = tf.keras.metrics.Mean()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = mse(y, pred) + tf.add_n(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss.update_state(loss)


data = tf.data.Dataset.from_tensor_slices((x_train, y_train))
data = data.shuffle(C["samples"]).batch(C["batch"]).prefetch(tf.data.AUTOTUNE)

for epoch in range(C["epochs"]):
    train_loss.reset_state()
    for x, y in data:
        train_step(x, y)

kernel = model.layers[0].kernel.numpy().ravel()
test_mse = float(mse(y_test, model(x_test, training=False)))
print(f"train loss {float(train_loss.result()):.3f} test mse {test_mse:.3f}")
print(f"weight on noise inputs {np.abs(kernel[C['informative']:]).mean():.4f}")
