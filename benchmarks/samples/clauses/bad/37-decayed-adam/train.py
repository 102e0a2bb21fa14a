import tensorflow as tf
from decayed import DecayedAdam

model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(DecayedAdam(learning_rate=1e-3), "mse")
x = tf.random.normal([1000, 8])
model.fit(x, x[:, :1], epochs=3)
