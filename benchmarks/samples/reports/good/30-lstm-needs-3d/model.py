from tensorflow.keras import Input, Model, layers


def forecaster(n_features, units=16):
    series = Input(shape=(n_features,))
    h = layers.LSTM(units)(layers.Reshape((n_features, 1))(series))
    return Model(series, layers.Dense(1)(h))
