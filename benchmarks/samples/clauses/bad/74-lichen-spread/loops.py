import tensorflow as tf


class Loop:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.loss = tf.keras.losses.SparseCategoricalCrossentropy()
        self.metrics = {
            "train": tf.keras.metrics.SparseCategoricalAccuracy(),
            "valid": tf.keras.metrics.SparseCategoricalAccuracy(),
        }

    @tf.function
    def train(self, x, y):
        with tf.GradientTape() as tape:
            odds = self.model(x, training=True)
            loss = self.loss(y, odds)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.metrics["train"].update_state(y, odds)

    @tf.function
    def valid(self, x, y):
        self.metrics["valid"].update_state(y, self.model(x, training=False))

    def run(self, train, valid, epochs):
        for epoch in range(epochs):
            for x, y in train:
                self.train(x, y)
            for x, y in valid:
                self.valid(x, y)
            print(epoch, {name: float(metric.result()) for name, metric in self.metrics.items()})
