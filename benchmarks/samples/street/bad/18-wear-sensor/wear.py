"""Tool-wear estimate from spindle vibration, trained with a plain loop."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

CHANNELS = 3
LENGTH = 48
EPOCHS = 6


def vibrations(n, seed):
    rng = np.random.default_rng(seed)
    wear = rng.integers(0, 2, n)
    t = np.arange(LENGTH)
    sig = np.sin(0.7 * t)[None, :, None] * rng.uniform(20, 40, (n, 1, CHANNELS))
    sig = sig + wear[:, None, None] * 12 * np.sin(2.3 * t)[None, :, None]
    sig = sig + rng.normal(35, 9, (n, LENGTH, CHANNELS))
    return sig.astype("float32"), wear.astype("float32")[:, None]


def network():
    inputs = tf.keras.Input((LENGTH, CHANNELS))
    x = layers.BatchNormalization()(inputs)
    x = layers.Conv1D(16, 5, use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.Conv1D(32, 5, use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dropout(0.3)(x)
    return tf.keras.Model(inputs, layers.Dense(1)(x))


class Loop:
    def __init__(self, model):
        self.model = model
        self.loss_fn = tf.keras.losses.BinaryCrossentropy(from_logits=True)
        self.optimizer = tf.keras.optimizers.Adam(1e-3)
        self.train_loss = tf.keras.metrics.Mean()
        self.val_acc = tf.keras.metrics.BinaryAccuracy(threshold=0.0)

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x)
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.train_loss.update_state(loss)

    @tf.function
    def val_step(self, x, y):
        self.val_acc.update_state(y, self.model(x, training=False))

    def fit(self, train, val, epochs):
        for epoch in range(epochs):
            self.train_loss.reset_state()
            self.val_acc.reset_state()
            for x, y in train:
                self.train_step(x, y)
            for x, y in val:
                self.val_step(x, y)
            print(
                f"epoch {epoch} loss {float(self.train_loss.result()):.4f} "
                f"val acc {float(self.val_acc.result()):.3f}"
            )


def main():
    tf.keras.utils.set_random_seed(18)
    train = tf.data.Dataset.from_tensor_slices(vibrations(1600, 1))
    train = train.shuffle(1600, seed=18).batch(32).prefetch(tf.data.AUTOTUNE)
    val = tf.data.Dataset.from_tensor_slices(vibrations(400, 2)).batch(64)
    loop = Loop(network())
    loop.fit(train, val.prefetch(tf.data.AUTOTUNE), EPOCHS)
    for layer in loop.model.layers:
        if isinstance(layer, layers.BatchNormalization):
            print(layer.name, "moving mean", layer.moving_mean.numpy()[:3])


if __name__ == "__main__":
    main()
