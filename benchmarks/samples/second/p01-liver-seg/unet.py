from tensorflow.keras import layers, Model, Input

from settings import CFG, DATA


def conv(x, filters):
    u = CFG["unet"]
    x = layers.Conv2D(filters, 3, padding="same")(x)
    if u["normalisation"] == "batch":
        x = layers.BatchNormalization()(x)
    return layers.Activation(u["activation"])(x)


def unet():
    depth, filters = CFG["unet"]["depth"], CFG["unet"]["filters"]
    inputs = x = Input((DATA["size"], DATA["size"], 1))
    skips = []
    for level in range(depth):
        x = conv(x, filters * 2 ** level)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = conv(x, filters * 2 ** depth)
    for level in reversed(range(depth)):
        x = layers.UpSampling2D()(x)
        x = layers.Concatenate()([x, skips[level]])
        x = conv(x, filters * 2 ** level)
    return Model(inputs, layers.Conv2D(DATA["n_classes"], 1, activation="softmax")(x))
