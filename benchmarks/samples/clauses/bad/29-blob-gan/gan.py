import tensorflow as tf
from figures import save_grid

maker = tf.keras.Sequential([tf.keras.layers.Dense(28 * 28, activation="sigmoid"), tf.keras.layers.Reshape((28, 28, 1))])
optimizer = tf.keras.optimizers.Adam()
fixed = tf.random.normal([64, 16])


@tf.function
def train_step(images):
    noise = tf.random.normal([tf.shape(images)[0], 16])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((maker(noise, training=True) - images) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, maker.trainable_variables), maker.trainable_variables))
    return loss


def train(data, epochs):
    step = 0
    for epoch in range(epochs):
        for images in data:
            train_step(images)
            if step % 50 == 0:
                save_grid(maker(fixed, training=False), f"out/{step:06d}.png")
            step += 1


images = tf.keras.datasets.mnist.load_data()[0][0][..., None].astype("float32") / 255.0
train(tf.data.Dataset.from_tensor_slices(images).shuffle(60000).batch(128), 10)
