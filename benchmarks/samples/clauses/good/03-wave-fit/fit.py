import numpy as np
import tensorflow as tf
import yaml

with open("settings.yaml") as stream:
    settings = yaml.safe_load(stream)

times = tf.constant(np.linspace(0, 6, 400), tf.float32)
seen = 2.0 * tf.sin(1.7 * times + 0.3)

height = tf.Variable(1.0)
speed = tf.Variable(1.5)
shift = tf.Variable(0.0)
params = [height, speed, shift]
opt = tf.keras.optimizers.Adam(settings["rate"])


@tf.function
def update():
    with tf.GradientTape() as tape:
        error = tf.reduce_mean(tf.square(height * tf.sin(speed * times + shift) - seen))
    grads = tape.gradient(error, params)
    opt.apply_gradients(zip(grads, params))
    return error


turn = 0
while turn < settings["turns"]:
    error = update()
    if turn % 500 == 0:
        print(turn, float(error))
    turn += 1
