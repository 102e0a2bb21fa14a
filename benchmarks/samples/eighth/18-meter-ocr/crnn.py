import tensorflow as tf
from tensorflow.keras import layers

CELLS = {"lstm": layers.LSTM, "gru": layers.GRU}


def crnn(height, width, net):
    inputs = layers.Input((height, width, 1))
    x = inputs
    for filters in net.filters:
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    # one step for each column
    x = layers.Permute((2, 1, 3))(x)
    x = layers.Reshape((width // 2 ** len(net.filters), -1))(x)
    x = layers.Bidirectional(CELLS[net.rnn](net.units, return_sequences=True))(x)
    return tf.keras.Model(inputs, layers.Dense(net.num_classes)(x))
