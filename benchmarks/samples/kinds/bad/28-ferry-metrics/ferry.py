"""Passenger load classes (low / medium / full) from timetable features."""
import numpy as np
import tensorflow as tf


class History(dict):
    def add(self, **kw):
        for k, v in kw.items():
            self.setdefault(k, []).append(round(float(v), 4))


class LoopTrainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy()
        self.train_loss = tf.keras.metrics.Mean("train_loss")
        self.train_acc = tf.keras.metrics.SparseCategoricalAccuracy("train_acc")
        self.val_loss = tf.keras.metrics.Mean("val_loss")
        self.val_acc = tf.keras.metrics.SparseCategoricalAccuracy("val_acc")
        self.history = History()

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            p = self.model(x, training=True)
            loss = self.loss_fn(y, p)
        g = tape.gradient(loss, self.model.trainable_weights)
        self.optimizer.apply_gradients(zip(g, self.model.trainable_weights))
        self.train_loss.update_state(loss)
        self.train_acc.update_state(y, p)

    @tf.function
    def val_step(self, x, y):
        p = self.model(x, training=False)
        self.val_loss.update_state(self.loss_fn(y, p))
        self.val_acc.update_state(y, p)

    def fit(self, train, val, epochs):
        for epoch in range(epochs):
            for x, y in train:
                self.train_step(x, y)
            for x, y in val:
                self.val_step(x, y)
            self.history.add(loss=self.train_loss.result(), acc=self.train_acc.result(),
                             val_loss=self.val_loss.result(), val_acc=self.val_acc.result())
            print(f"[{epoch + 1}/{epochs}] " + "  ".join(f"{k} {v[-1]}" for k, v in self.history.items()))
        return self.history


def trips(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5)).astype("float32")
    return x, np.digitize(x[:, 0] + 0.7 * x[:, 1], [-0.6, 0.6])


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(0)
    x, y = trips(960, 0)
    xv, yv = trips(320, 1)
    train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(960).batch(32)
    val = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(320)
    model = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(24, activation="relu"),
                                 tf.keras.layers.Dense(3, activation="softmax")])
    trainer = LoopTrainer(model, tf.keras.optimizers.Adam(5e-3))
    hist = trainer.fit(train, val, 5)
    print("reported", hist["val_acc"][-1], "recomputed", np.mean(np.argmax(model(xv), 1) == yv))
