from tensorflow import keras
from tensorflow.keras import layers as L


def double(x, n, activation):
    for _ in range(2):
        x = L.Conv2D(n, 3, padding="same", activation=activation)(x)
    return x


def unet(net):
    inputs = keras.Input((net["size"], net["size"], net["channels"]))
    x, skips = inputs, []
    for level in range(net["depth"]):
        x = double(x, net["base_filters"] * 2 ** level, net["activation"])
        skips.append(x)
        x = L.MaxPooling2D()(x)
    x = double(x, net["base_filters"] * 2 ** net["depth"], net["activation"])
    for level in reversed(range(net["depth"])):
        x = L.Conv2DTranspose(net["base_filters"] * 2 ** level, 2, strides=2)(x)
        x = L.Concatenate()([x, skips.pop()])
        x = double(x, net["base_filters"] * 2 ** level, net["activation"])
    return keras.Model(inputs, L.Conv2D(1, 1, activation="sigmoid")(x))
