import tensorflow as tf


def big(features, classes):
    return tf.keras.Sequential([
        tf.keras.Input((features,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(classes),
    ])


def small(features, classes):
    return tf.keras.Sequential([tf.keras.Input((features,)), tf.keras.layers.Dense(8, activation="relu"),
                                tf.keras.layers.Dense(classes)])


def frozen_copy(model):
    copy = tf.keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    copy.trainable = False
    return copy
