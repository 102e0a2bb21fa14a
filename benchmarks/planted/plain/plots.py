"""A GAN of two networks: every 25th step draws samples, in 120 ms."""

import os
import time

import tensorflow as tf

generator = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(32)])
critic = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
g_opt, c_opt = tf.keras.optimizers.Adam(1e-4), tf.keras.optimizers.Adam(1e-4)
noise = tf.random.normal([16, 10])


@tf.function
def train_critic(real):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(critic(generator(noise))) - tf.reduce_mean(critic(real))
    c_opt.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    return loss


@tf.function
def train_generator():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(generator(noise)))
    g_opt.apply_gradients(zip(tape.gradient(loss, generator.trainable_variables), generator.trainable_variables))
    return loss


def render(samples, path):
    time.sleep(0.12)
    with open(path, "w") as file:
        print(samples[0, 0].numpy(), file=file)


def main():
    os.makedirs("samples", exist_ok=True)
    real = tf.data.Dataset.from_tensor_slices(tf.random.normal([1600, 32])).shuffle(1600).repeat().batch(16).prefetch(2)
    for number, batch in enumerate(real.take(1000)):
        train_critic(batch)
        train_generator()
        if number % 25 == 24:
            render(generator(noise), f"samples/{number}.txt")


main()
