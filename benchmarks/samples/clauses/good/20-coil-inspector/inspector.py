import tensorflow as tf


class Inspector:
    def __init__(self):
        self.net = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.Adam()
        self.step = 0

    @tf.function
    def train_step(self, x, y, step):
        weight = tf.minimum(1.0, tf.cast(step, tf.float32) / 1000.0)
        with tf.GradientTape() as tape:
            loss = weight * tf.reduce_mean((self.net(x, training=True) - y) ** 2)
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def fit(self, data, epochs):
        for _ in range(epochs):
            for x, y in data:
                self.train_step(x, y, tf.constant(self.step))
                self.step += 1


x = tf.random.normal([4096, 10])
Inspector().fit(tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(32), 4)
