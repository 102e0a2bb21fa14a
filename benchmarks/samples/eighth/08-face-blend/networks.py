import tensorflow as tf
from tensorflow.keras import layers


def make_generator(opt):
    model = tf.keras.Sequential(name="generator")
    model.add(tf.keras.Input((opt.latent_dim,)))
    model.add(layers.Dense(4 * 4 * opt.base_filters * 4))
    model.add(layers.Reshape((4, 4, opt.base_filters * 4)))
    size, filters = 4, opt.base_filters * 2
    while size < opt.image_size:
        model.add(layers.Conv2DTranspose(filters, 4, strides=2, padding="same", use_bias=not opt.use_bn))
        if opt.use_bn:
            model.add(layers.BatchNormalization())
        model.add(layers.ReLU())
        size, filters = size * 2, max(filters // 2, 8)
    model.add(layers.Conv2D(opt.channels, 3, padding="same", activation="tanh"))
    return model


def make_discriminator(opt):
    return tf.keras.Sequential([
        tf.keras.Input((opt.image_size, opt.image_size, opt.channels)),
        layers.Conv2D(opt.base_filters, 4, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv2D(opt.base_filters * 2, 4, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Flatten(),
        layers.Dense(1),
    ], name="discriminator")
