import random

import tensorflow as tf

table = tf.Variable(tf.random.normal([1000, 32]))
optimizer = tf.keras.optimizers.SGD(0.05)


@tf.function
def walk_step(nodes, target):
    with tf.GradientTape() as tape:
        centre = tf.reduce_mean(tf.gather(table, nodes), axis=0)
        loss = tf.reduce_mean((centre - tf.gather(table, target)) ** 2)
    grads = tape.gradient(loss, [table])
    optimizer.apply_gradients(zip(grads, [table]))
    return loss


def walks(count):
    for _ in range(count):
        length = random.randint(3, 20)
        yield [random.randrange(1000) for _ in range(length)]


for nodes in walks(2000):
    loss = walk_step(nodes, tf.constant(nodes[0]))
print(float(loss))
