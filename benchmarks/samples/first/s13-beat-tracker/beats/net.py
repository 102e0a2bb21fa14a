from tensorflow import keras


def tcn(mels, filters, dilations, dropout=0.1):
    x = inputs = keras.Input((None, mels))
    for rate in dilations:
        x = keras.layers.Conv1D(filters, 3, padding="causal", dilation_rate=rate, activation="elu")(x)
        x = keras.layers.SpatialDropout1D(dropout)(x)
    return keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(x))
