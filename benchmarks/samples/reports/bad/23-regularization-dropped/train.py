import numpy as np
import tensorflow as tf
import yaml

from net import build

cfg = yaml.safe_load(open("config.yaml"))
tf.keras.utils.set_random_seed(0)
x = np.random.randn(128, 20).astype("float32")
y = x[:, :1] * 2 + 0.3 * np.random.randn(128, 1).astype("float32")

model = build(20, cfg["l2"])
opt = tf.keras.optimizers.SGD(cfg["lr"])
mse = tf.keras.losses.MeanSquaredError()


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = mse(y, model(x, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for i in range(cfg["steps"]):
    loss = step()
print("loss", float(loss), "norm", float(tf.norm(model.layers[0].kernel)))
