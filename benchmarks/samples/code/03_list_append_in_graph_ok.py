import tensorflow as tf


class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(x, training=True) - y))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss, tf.linalg.global_norm(grads)

    def fit(self, data, epochs):
        for epoch in range(epochs):
            largest = 0.0
            for x, y in data:
                loss, norm = self.step(x, y)
                largest = max(largest, float(norm))
            print(f"epoch {epoch}: loss {float(loss):.4f}, largest gradient {largest:.4f}")


if __name__ == "__main__":
    x = tf.random.normal([256, 6])
    data = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).shuffle(256).batch(32).prefetch(2)
    net = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
    Trainer(net, tf.keras.optimizers.Adam(0.01)).fit(data, epochs=3)
