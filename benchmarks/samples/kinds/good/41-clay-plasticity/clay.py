import os
import tempfile
import time
import numpy as np
import tensorflow as tf
from callbacks import FitTable, LossLog

tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.uniform(size=(800, 6)).astype("float32")
y = (3 * x[:, :1] - x[:, 1:2] ** 2).astype("float32")
out = tempfile.mkdtemp()

model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
t0 = time.time()
model.fit(x, y, epochs=5, batch_size=40, verbose=0,
          callbacks=[FitTable(x, y, out), LossLog(os.path.join(out, "loss.txt"))])
print("fit %.1fs" % (time.time() - t0), sorted(os.listdir(out)))
