import numpy as np
import tensorflow as tf

from net import PlanktonNet


def load(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    freq = np.array([1.0, 2.0, 4.0])[y][:, None, None]
    grid = np.linspace(0, 2 * np.pi, 16)
    wave = np.sin(freq * grid[None, None, :]) * np.ones((n, 16, 1))
    x = 12.0 + 6.0 * wave + rng.normal(0, 2.0, (n, 16, 16))
    return x[..., None].astype("float32"), y.astype("int32")


class Trainer:
    def __init__(self, model, rate=1e-3):
        self.model = model
        self.optimizer = tf.keras.optimizers.Adam(rate)
        self.loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.loss(y, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))

    @tf.function
    def test_step(self, x, y):
        self.accuracy.update_state(y, self.model(x, training=False))

    def fit(self, train, test, epochs):
        for epoch in range(epochs):
            for x, y in train:
                self.train_step(x, y)
            self.accuracy.reset_state()
            for x, y in test:
                self.test_step(x, y)
            print(f"epoch {epoch} test accuracy {float(self.accuracy.result()):.3f}")


tf.keras.utils.set_random_seed(2)
train = tf.data.Dataset.from_tensor_slices(load(600, 1)).shuffle(600).batch(32).prefetch(2)
test = tf.data.Dataset.from_tensor_slices(load(300, 2)).batch(100).prefetch(2)
trainer = Trainer(PlanktonNet(3))
trainer.fit(train, test, epochs=8)
print("moving mean", np.round(trainer.model.bn.moving_mean.numpy()[:4], 3))
