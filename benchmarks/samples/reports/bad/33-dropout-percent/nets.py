from tensorflow import keras
from tensorflow.keras import layers


def mlp(n_in, n_out, widths, dropout):
    i = h = keras.Input((n_in,))
    for w in widths:
        h = layers.Dense(w, activation="gelu")(h)
        h = layers.Dropout(dropout)(h)
    return keras.Model(i, layers.Dense(n_out)(h))
