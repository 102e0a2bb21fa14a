import tensorflow as tf

from gestures import network, recordings


class GestureTrainer:
    def __init__(self, model, rate):
        self.model = model
        self.optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
        self.loss = tf.keras.losses.SparseCategoricalCrossentropy()
        self.mean = tf.keras.metrics.Mean()
        self.accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            output = self.model(x, training=True)
            loss = self.loss(y, output)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.mean.update_state(loss)

    def evaluate(self, x, y):
        self.accuracy.reset_state()
        self.accuracy.update_state(y, self.model(x, training=False))
        return float(self.accuracy.result())


tf.keras.utils.set_random_seed(38)
train = tf.data.Dataset.from_tensor_slices(recordings(960, 1))
train = train.shuffle(960).batch(48).prefetch(tf.data.AUTOTUNE)
x_val, y_val = recordings(400, 2)

trainer = GestureTrainer(network(), rate=0.02)
for epoch in range(6):
    trainer.mean.reset_state()
    for x, y in train:
        trainer.step(x, y)
    print(f"epoch {epoch} loss {float(trainer.mean.result()):.3f} "
          f"val accuracy {trainer.evaluate(x_val, y_val):.3f}")
