import tensorflow as tf
from tensorflow.keras import layers


def conv_net(input_shape, classes, filters, kernel=3, dropout=0.0):
    model = tf.keras.Sequential([layers.Input(tuple(input_shape))])
    for f in filters:
        model.add(layers.Conv1D(f, kernel, padding="same", activation="relu"))
        model.add(layers.MaxPooling1D())
    model.add(layers.Flatten())
    model.add(layers.Dropout(dropout))
    model.add(layers.Dense(classes, activation="softmax"))
    return model


def mlp(input_shape, classes, units, activation="relu"):
    model = tf.keras.Sequential([layers.Input(tuple(input_shape)), layers.Flatten()])
    for u in units:
        model.add(layers.Dense(u, activation=activation))
    model.add(layers.Dense(classes, activation="softmax"))
    return model
