from tensorflow import keras

OPTIMIZER = keras.optimizers.RMSprop(1e-3)


def member(width):
    net = keras.Sequential([keras.Input((width,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
    net.compile(optimizer=OPTIMIZER, loss="mae")
    return net
