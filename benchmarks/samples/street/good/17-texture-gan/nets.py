import tensorflow as tf
from tensorflow.keras import layers

LATENT = 16
SIDE = 12


def generator():
    return tf.keras.Sequential(
        [
            layers.Input((LATENT,)),
            layers.Dense(64),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Dense(128),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Dense(SIDE * SIDE, activation="tanh"),
            layers.Reshape((SIDE, SIDE, 1)),
        ],
        name="generator",
    )


def discriminator():
    return tf.keras.Sequential(
        [
            layers.Input((SIDE, SIDE, 1)),
            layers.Conv2D(16, 3, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Flatten(),
            layers.Dense(32),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Dense(1),
        ],
        name="discriminator",
    )
