from tensorflow import keras
from tensorflow.keras import layers

import config as C


def grain_net():
    reg = keras.regularizers.l2(C.L2)
    return keras.Sequential([
        keras.Input((C.IMG_SIZE, C.IMG_SIZE, C.CHANNELS)),
        layers.Conv2D(C.FILTERS, 3, padding="same", activation="relu", kernel_regularizer=reg),
        layers.MaxPooling2D(),
        layers.Conv2D(C.FILTERS * 2, 3, padding="same", activation="relu", kernel_regularizer=reg),
        layers.GlobalAveragePooling2D(),
        layers.Dropout(C.DROP),
        layers.Dense(C.N_CLASSES),
    ])
