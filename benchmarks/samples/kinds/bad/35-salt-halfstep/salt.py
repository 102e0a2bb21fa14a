"""Salinity from conductivity spectra; half precision to fit the small card."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, mixed_precision

mixed_precision.set_global_policy("mixed_float16")
tf.keras.utils.set_random_seed(0)


def spectra(n=640, dim=20):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, dim)).astype("float32")
    y = 1e-3 * np.tanh(x[:, :1] + 0.5 * x[:, 1:2])
    return x, y.astype("float32")


def get_model(dim):
    inp = layers.Input((dim,))
    h = layers.Dense(64, activation="relu")(inp)
    h = layers.Dense(64, activation="relu")(h)
    out = layers.Dense(1, kernel_initializer=tf.keras.initializers.RandomNormal(stddev=1e-3), name="raw")(h)
    out = layers.Activation("linear", dtype="float32")(out)
    return tf.keras.Model(inp, out)


x, y = spectra()
model = get_model(x.shape[1])
optimizer = tf.keras.optimizers.Adam(1e-3, epsilon=1e-10)
start = [w.numpy().copy() for w in model.trainable_variables]


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        pred = model(xb, training=True)
        loss = tf.reduce_mean(tf.square(pred - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, [tf.reduce_mean(tf.cast(g == 0, tf.float32)) for g in grads]


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640).batch(64)
for epoch in range(4):
    losses = []
    for xb, yb in ds:
        loss, zeros = train_step(xb, yb)
        losses.append(float(loss) * 1e6)
    print("epoch %d loss %.3f (x1e-6), zero grads %s" % (epoch, np.mean(losses), [round(float(z), 2) for z in zeros]))
