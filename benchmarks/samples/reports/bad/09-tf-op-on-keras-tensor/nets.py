import tensorflow as tf
from tensorflow.keras import Input, Model, layers


def tower(dim):
    inp = Input((dim,))
    h = layers.Dense(32, activation="relu")(inp)
    return Model(inp, layers.Dense(8)(h))


def pair_model(dim=10):
    encoder = tower(dim)
    left = Input((dim,), name="left")
    right = Input((dim,), name="right")
    gap = encoder(left) - encoder(right)
    dist = tf.reduce_sum(tf.square(gap), axis=-1, keepdims=True)
    score = layers.Dense(1, activation="sigmoid")(dist)
    return Model([left, right], score)
