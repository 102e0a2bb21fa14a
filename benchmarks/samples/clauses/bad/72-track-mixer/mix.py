import tensorflow as tf
from mixing import Mixer

model = tf.keras.Sequential([Mixer(2), tf.keras.layers.Dense(4)])
model.compile("adam", "mse")
waves = tf.random.normal([64, 2, 50])
model.fit(waves, waves[:, 0, :4])
