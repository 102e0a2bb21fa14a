import numpy as np
import tensorflow as tf
import yaml

from accumulate import Accumulator

hp = yaml.safe_load(open("hparams.yaml"))
tf.keras.utils.set_random_seed(6)

net = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.SGD(hp["lr"])
acc = Accumulator(net.trainable_variables, hp["accumulate"])
acc.clear()


@tf.function
def backward(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
    acc.add(tape.gradient(loss, net.trainable_variables))
    return loss


x = np.random.randn(160, 5).astype("float32")
y = x @ np.array([[1.0], [0.5], [-1.0], [2.0], [0.0]], "float32")
ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(hp["micro_batch"])

for r in range(hp["rounds"]):
    losses = []
    for i, (bx, by) in enumerate(ds, 1):
        losses.append(float(backward(bx, by)))
        if i % hp["accumulate"] == 0:
            acc.flush(opt)
            acc.clear()
    print("round", r, "loss %.4f" % np.mean(losses))
print("kernel", net.weights[0].numpy().ravel().round(3))
