"""Saliency map: which pixels move the score of the class?"""
import tensorflow as tf

cnn = tf.keras.Sequential([
    tf.keras.Input((28, 28, 1)),
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10),
])


def saliency(model, image, label):
    batch = tf.expand_dims(tf.constant(image, tf.float32), 0)
    with tf.GradientTape() as tape:
        score = model(batch, training=False)[0, label]
    slope = tape.gradient(score, batch)
    return tf.reduce_max(tf.abs(slope[0]), axis=-1)


heat = saliency(cnn, tf.random.uniform([28, 28, 1]).numpy(), 3)
print("hottest pixel", float(tf.reduce_max(heat)))
