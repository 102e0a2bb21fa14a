import tensorflow as tf


def expression_net(n_genes, l1=0.0, units=32):
    reg = tf.keras.regularizers.L1(l1) if l1 else None
    return tf.keras.Sequential([
        tf.keras.Input((n_genes,)),
        tf.keras.layers.Dense(units, activation="relu", kernel_regularizer=reg, name="genes"),
        tf.keras.layers.Dropout(0.1),
        tf.keras.layers.Dense(1, name="risk"),
    ])
