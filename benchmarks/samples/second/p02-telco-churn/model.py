from tensorflow import keras

from config import Config


def build():
    net = keras.Sequential([keras.Input((Config.FEATURES,))])
    for units in Config.HIDDEN:
        net.add(keras.layers.Dense(units, activation=Config.ACTIVATION))
        net.add(keras.layers.Dropout(Config.DROPOUT))
    net.add(keras.layers.Dense(1, activation="sigmoid"))
    net.compile(keras.optimizers.Adam(Config.LEARNING_RATE), "binary_crossentropy")
    return net
