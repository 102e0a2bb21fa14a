"""Batches of any length for a step with reduce_retracing, the last one smaller as well: traced three times and no more."""

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(256, "relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.001)


@tf.function(reduce_retracing=True)
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
    )
    return loss


lengths = [40 + 7 * number % 23 for number in range(900)]
clips = tf.data.Dataset.from_tensor_slices(lengths).map(lambda count: tf.ones([count, 32]))
batches = clips.cache().shuffle(900).padded_batch(8).prefetch(2)
for _ in range(3):
    for x in batches:
        step(x)
