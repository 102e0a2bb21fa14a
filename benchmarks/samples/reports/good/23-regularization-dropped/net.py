import tensorflow as tf


def build(n_in, l2):
    reg = tf.keras.regularizers.L2(l2)
    return tf.keras.Sequential(
        [
            tf.keras.Input((n_in,)),
            tf.keras.layers.Dense(16, activation="relu", kernel_regularizer=reg),
            tf.keras.layers.Dense(1),
        ]
    )
