"""A speech-like loop with arguments of its own; each clip is decoded by Python that waits."""

import argparse
import time

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, required=True)
parser.add_argument("--decode-ms", type=float, default=3.0)
parser.add_argument("--name", default="run")
args = parser.parse_args()


def decode(number):
    time.sleep(args.decode_ms / 1e3)
    return tf.fill([40, 20], tf.cast(number % 7, tf.float32))


def load(number):
    clip = tf.py_function(decode, [number], tf.float32)
    clip.set_shape([40, 20])
    return clip, number % 3


clips = tf.data.Dataset.range(10**6).map(load).batch(args.batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.GRU(16), tf.keras.layers.Dense(3)])
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
adam = tf.keras.optimizers.Adam()


@tf.function
def train_step(clip, label):
    with tf.GradientTape() as tape:
        loss = loss_of(label, model(clip, training=True))
    adam.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for number, (clip, label) in enumerate(clips):
    loss = train_step(clip, label)
    if number % 100 == 0:
        print(args.name, number, float(loss))
