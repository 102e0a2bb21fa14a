import tensorflow as tf
from tensorflow.keras import layers


def conv_block(x, filters):
    for _ in range(2):
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return x


def build_unet(shape, cfg):
    inputs = layers.Input(shape)
    x, skips = inputs, []
    for level in range(cfg.depth):
        x = conv_block(x, cfg.filters[level])
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = conv_block(x, cfg.filters[-1] * 2)
    for level in reversed(range(cfg.depth)):
        x = layers.Conv2DTranspose(cfg.filters[level], 2, strides=2)(x)
        x = layers.Concatenate()([x, skips[level]])
        x = conv_block(x, cfg.filters[level])
    outputs = layers.Conv2D(cfg.classes, 1, activation=cfg.activation, dtype="float32")(x)
    return tf.keras.Model(inputs, outputs, name="unet")
