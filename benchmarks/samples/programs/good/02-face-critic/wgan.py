import tensorflow as tf
from tensorflow.keras import layers


def make_generator(latent, dim):
    return tf.keras.Sequential([
        layers.Input((latent,)),
        layers.Dense(32), layers.LeakyReLU(),
        layers.Dense(dim, activation="tanh"),
    ], name="G")


def make_critic(dim):
    # no batch norm in the critic, see the paper
    return tf.keras.Sequential([
        layers.Input((dim,)),
        layers.Dense(32), layers.LeakyReLU(),
        layers.Dense(1),
    ], name="D")


def gradient_penalty(critic, real, fake):
    eps = tf.random.uniform([tf.shape(real)[0], 1])
    mixed = real + eps * (fake - real)
    with tf.GradientTape() as gp_tape:
        gp_tape.watch(mixed)
        score = critic(mixed, training=True)
    slope = gp_tape.gradient(score, mixed)
    norm = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1) + 1e-12)
    return tf.reduce_mean(tf.square(norm - 1.0))
