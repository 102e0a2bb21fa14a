import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIZE = 96


def stream(batches, batch_size, seed, flawed=False):
    rng = np.random.default_rng(seed)
    weave = np.sin(np.arange(SIZE) / 2.0)[None, :, None]
    for _ in range(batches):
        x = 0.5 + 0.3 * weave * np.ones((batch_size, SIZE, SIZE))
        x = x + rng.normal(0, 0.03, x.shape)
        if flawed:
            x[:, 30:60, 30:60] += 0.4
        yield tf.constant(x[..., None], tf.float32)


def build():
    inputs = keras.Input((SIZE, SIZE, 1))
    x = layers.Conv2D(8, 3, strides=4, padding="same", activation="relu")(inputs)
    x = layers.Conv2D(4, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2DTranspose(1, 3, strides=4, padding="same")(x)
    return keras.Model(inputs, x)


@tf.function
def train_step(model, optimizer, x):
    with tf.GradientTape() as tape:
        rebuilt = model(x, training=True)
        error = tf.square(rebuilt - x)
        loss = tf.reduce_mean(error)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, error
