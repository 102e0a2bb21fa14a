"""Gradients added up over four batches, then applied: nothing is wrong."""

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(400, "relu"), tf.keras.layers.Dense(400, "relu"), tf.keras.layers.Dense(1)])
model.build([None, 50])
optimizer = tf.keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
sums = [tf.Variable(tf.zeros_like(weight), trainable=False) for weight in model.trainable_variables]


@tf.function
def add(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    for total, grad in zip(sums, tape.gradient(loss, model.trainable_variables)):
        total.assign_add(grad)
    return loss


@tf.function
def apply():
    optimizer.apply_gradients(zip([total / 4.0 for total in sums], model.trainable_variables))
    for total in sums:
        total.assign(tf.zeros_like(total))


data = tf.data.Dataset.from_tensor_slices((tf.random.normal([1024, 50]), tf.ones([1024, 1])))
data = data.shuffle(1024).repeat().batch(64, drop_remainder=True).prefetch(2)
for number, (x, y) in enumerate(data.take(800)):
    add(x, y)
    if number % 4 == 3:
        apply()
