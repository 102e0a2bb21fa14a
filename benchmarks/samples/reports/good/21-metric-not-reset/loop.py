import tensorflow as tf


class Runner:
    def __init__(self, model, lr):
        self.model = model
        self.opt = tf.keras.optimizers.Adam(lr)
        self.ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.acc = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_batch(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.ce(y, self.model(x, training=True))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))

    @tf.function
    def test_batch(self, x, y):
        self.acc.update_state(y, self.model(x, training=False))

    def run(self, train, val, epochs):
        best = 0.0
        for epoch in range(epochs):
            self.acc.reset_state()
            for x, y in train:
                self.train_batch(x, y)
            for x, y in val:
                self.test_batch(x, y)
            score = float(self.acc.result())
            best = max(best, score)
            print(f"epoch {epoch}: val accuracy {score:.3f}")
        return best
