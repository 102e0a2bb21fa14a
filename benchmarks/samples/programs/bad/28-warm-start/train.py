import numpy as np
import tensorflow as tf

from schedule import WarmupCosine

ROWS, BATCH, EPOCHS = 256, 32, 4
lr = WarmupCosine(peak=0.05, warmup=8.0, total=float(ROWS // BATCH * EPOCHS))
print("schedule:", [round(float(lr(s)), 4) for s in (0, 4, 8, 20, 32)])

x = np.random.randn(ROWS, 4).astype("float32")
y = x @ np.ones((4, 1), "float32")
m = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
m.compile(tf.keras.optimizers.SGD(lr, momentum=0.9), "mse")
m.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=2)
