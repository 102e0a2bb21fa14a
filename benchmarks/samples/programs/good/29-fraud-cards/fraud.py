import numpy as np
import tensorflow as tf

from balance import oversample, split

rng = np.random.default_rng(0)
tf.keras.utils.set_random_seed(0)

x = rng.normal(size=(1000, 8)).astype("float32")
y = (rng.random(1000) < 0.06).astype("float32")

(x_train, y_train), (x_test, y_test) = split(x, y, 0.25, rng)
x_train, y_train = oversample(x_train, y_train, rng)

net = tf.keras.Sequential([
    tf.keras.Input((8,)),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
net.compile(tf.keras.optimizers.Adam(0.003), "binary_crossentropy", metrics=[tf.keras.metrics.AUC(name="auc")])
net.fit(x_train, y_train, epochs=25, batch_size=64, verbose=0)
print("test auc", round(net.evaluate(x_test, y_test, verbose=0)[1], 3))
