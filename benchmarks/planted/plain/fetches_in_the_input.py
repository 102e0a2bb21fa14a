"""The input's Python calls `.numpy()` and `float()`; the loop itself fetches nothing. The input keeps up."""

import tensorflow as tf


def tidy(path, weight):
    name = path.numpy().decode()
    return tf.fill([32], float(weight) + len(name))


def load(path, weight):
    x = tf.py_function(tidy, [path, weight], tf.float32)
    x.set_shape([32])
    return x


paths = [f"clip-{number}.wav" for number in range(400)]
data = tf.data.Dataset.from_tensor_slices((paths, tf.ones([400]))).repeat().map(load).batch(4).prefetch(4)
big = tf.Variable(tf.random.normal([900, 900]) / 30)
head = tf.keras.layers.Dense(900)
head.build([None, 32])
optimizer = tf.keras.optimizers.SGD(1e-4)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        y = tf.matmul(tf.matmul(big, big), head(x), transpose_b=True)
        loss = tf.reduce_mean(y**2)
    weights = [big, *head.trainable_variables]
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))


for x in data.take(500):
    step(x)
