import random

import numpy as np
import tensorflow as tf

model = tf.keras.applications.ResNet50(weights=None, classes=20, input_shape=(96, 96, 3))
optimizer = tf.keras.optimizers.Adam()


def read(path):
    picture = tf.keras.utils.load_img(path, target_size=(96, 96))
    return tf.keras.utils.img_to_array(picture) / 255.0


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x, training=True)))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


rows = [line.split(",") for line in open("beetles.csv").read().splitlines()]
for epoch in range(10):
    random.shuffle(rows)
    for start in range(0, len(rows), 16):
        part = rows[start : start + 16]
        x = np.stack([read(path) for path, _ in part])
        y = np.array([int(label) for _, label in part])
        loss = step(tf.constant(x), tf.constant(y))
    print(epoch, float(loss))
