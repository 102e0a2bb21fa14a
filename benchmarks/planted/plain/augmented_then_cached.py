"""Random flips before the cache: all epochs see the flips of the first. The input is fast."""

import tensorflow as tf

pictures = tf.random.uniform([512, 24, 24, 3])
targets = tf.random.uniform([512, 1])


def augment(picture, target):
    picture = tf.image.random_flip_left_right(picture)
    return tf.image.random_brightness(picture, 0.2), target


data = (
    tf.data.Dataset.from_tensor_slices((pictures, targets))
    .map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    .cache()
    .shuffle(512)
    .batch(32)
    .prefetch(tf.data.AUTOTUNE)
)
model = tf.keras.Sequential([tf.keras.layers.Conv2D(16, 3), tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()


@tf.function
def update(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))


for epoch in range(20):
    for x, y in data:
        update(x, y)
