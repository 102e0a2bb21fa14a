import tensorflow as tf
from tensorflow.keras import layers


def make_generator(cfg):
    g = cfg.generator
    net = tf.keras.Sequential([layers.Input((cfg.latent_dim,))])
    net.add(layers.Dense(g.start_size * g.start_size * g.filters[0]))
    net.add(layers.Reshape((g.start_size, g.start_size, g.filters[0])))
    for f in g.filters:
        net.add(layers.Conv2DTranspose(f, 4, strides=2, padding="same", activation="relu"))
    net.add(layers.Conv2D(1, 3, padding="same", activation="tanh"))
    return net


def make_discriminator(cfg):
    d = cfg.discriminator
    net = tf.keras.Sequential([layers.Input((cfg.image_size, cfg.image_size, 1))])
    if d.input_noise:
        net.add(layers.GaussianNoise(d.input_noise))
    for f in d.filters:
        net.add(layers.Conv2D(f, 4, strides=2, padding="same"))
        net.add(layers.LeakyReLU(0.2))
    net.add(layers.Flatten())
    net.add(layers.Dense(1))
    return net
