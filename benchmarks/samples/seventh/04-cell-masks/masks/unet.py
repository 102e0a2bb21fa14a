import keras
from keras import layers


def block(x, filters, norm):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=not norm)(x)
    if norm:
        x = layers.BatchNormalization()(x)
    return layers.Activation("relu")(x)


def build(model_cfg):
    inputs = keras.Input((model_cfg.input_size, model_cfg.input_size, 1))
    x, skips = inputs, []
    for level in range(model_cfg.depth):
        x = block(x, model_cfg.filters * 2 ** level, model_cfg.norm)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = block(x, model_cfg.filters * 2 ** model_cfg.depth, model_cfg.norm)
    for level in reversed(range(model_cfg.depth)):
        x = layers.UpSampling2D()(x)
        x = layers.Concatenate()([x, skips[level]])
        x = block(x, model_cfg.filters * 2 ** level, model_cfg.norm)
    return keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))
