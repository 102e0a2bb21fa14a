import os
import tempfile

import tensorflow as tf

from feed import ArrivalFeed, STOPS, write_log

tf.keras.utils.set_random_seed(0)
path = os.path.join(tempfile.mkdtemp(), "arrivals.csv")
write_log(path)

ds = ArrivalFeed(path, batch_size=32).as_dataset()

net = tf.keras.Sequential([
    tf.keras.Input((STOPS + 1,)),
    tf.keras.layers.Dense(16, "relu"),
    tf.keras.layers.Dense(1),
])
optimizer = tf.keras.optimizers.Adam(0.01)
mean_loss = tf.keras.metrics.Mean()


@tf.function(reduce_retracing=True)
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(y - net(x, training=True)[:, 0]))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    mean_loss.update_state(loss)


for epoch in range(4):
    mean_loss.reset_state()
    for x, y in ds:
        step(x, y)
    print(f"epoch {epoch}: updates so far {int(optimizer.iterations)}, loss {float(mean_loss.result()):.4f}")
