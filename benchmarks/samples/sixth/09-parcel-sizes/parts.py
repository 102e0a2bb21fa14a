import numpy as np
import tensorflow as tf

from registry import DATA, MODELS, register


@register(DATA, "synthetic")
def synthetic(n, cameras, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.random((n, 3)).astype("float32")
    views = np.tile(sizes.mean(axis=1, keepdims=True), (1, cameras))
    return (views + noise * rng.normal(size=views.shape)).astype("float32"), sizes


@register(MODELS, "mlp")
def mlp(units, activation, outputs, inputs):
    return tf.keras.Sequential([
        tf.keras.Input((inputs,)),
        tf.keras.layers.Dense(int(units), activation=activation),
        tf.keras.layers.Dense(outputs),
    ])


@register(MODELS, "linear")
def linear(outputs, inputs):
    return tf.keras.Sequential([tf.keras.Input((inputs,)), tf.keras.layers.Dense(outputs)])
