"""Breaks off in its 31st step."""

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
sgd = tf.keras.optimizers.SGD()


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    sgd.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for number, x in enumerate(tf.data.Dataset.from_tensors(tf.ones([8, 4])).repeat(1000)):
    step(x)
    if number == 30:
        raise KeyError("the label of row 30 is missing")
