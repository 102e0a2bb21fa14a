import numpy as np
import tensorflow as tf

from net import build
from serve import load

x = np.random.rand(300, 4).astype("float32")
y = x.sum(1, keepdims=True) * 3

model = build()
opt = tf.keras.optimizers.Adam(0.02)
model.compile(opt, "mse")
model.fit(x, y, epochs=20, verbose=0)
ckpt = tf.train.Checkpoint(model=model, optimizer=opt)
tf.train.CheckpointManager(ckpt, "ckpts", max_to_keep=2).save()

served = load("ckpts")
print("trained", float(tf.reduce_mean((model(x) - y) ** 2)), "served", float(tf.reduce_mean((served(x) - y) ** 2)))
