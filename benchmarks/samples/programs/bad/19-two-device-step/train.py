import numpy as np
import tensorflow as tf

from devices import replicas

strategy = replicas(2)
PER_REPLICA = 16
GLOBAL = PER_REPLICA * strategy.num_replicas_in_sync

x = np.random.rand(256, 3).astype("float32")
y = x.sum(1, keepdims=True)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(256).batch(GLOBAL, drop_remainder=True)

with strategy.scope():
    net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    opt = tf.keras.optimizers.SGD(0.1)
    opt.build(net.trainable_variables)


def replica_step(bx, by):
    with tf.GradientTape() as tape:
        err = tf.square(net(bx, training=True) - by)
        loss = tf.reduce_sum(err) / GLOBAL
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss, tf.shape(bx)[0]


@tf.function
def step(bx, by):
    loss, n = strategy.run(replica_step, args=(bx, by))
    total = strategy.reduce(tf.distribute.ReduceOp.SUM, loss, axis=None)
    return total, strategy.reduce(tf.distribute.ReduceOp.SUM, n, axis=None)


for epoch in range(2):
    seen = 0
    for bx, by in ds:
        loss, n = step(bx, by)
        seen += int(n)
    print(f"epoch {epoch}: {seen} samples through the network of {len(x)}, loss {float(loss):.5f}")
