import tensorflow as tf


def build(cfg, data):
    reg = tf.keras.regularizers.L2(cfg.l2)
    x = inputs = tf.keras.Input((data.samples, data.stations))
    for filters in cfg.filters:
        x = tf.keras.layers.Conv1D(filters, cfg.kernel, strides=2, kernel_regularizer=reg)(x)
        x = tf.keras.layers.LayerNormalization()(x)
        x = tf.keras.layers.ReLU()(x)
    x = tf.keras.layers.GlobalMaxPooling1D()(x)
    x = tf.keras.layers.Dropout(cfg.dropout)(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))
