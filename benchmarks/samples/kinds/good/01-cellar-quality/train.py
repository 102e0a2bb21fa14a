import time

import tensorflow as tf

from data import load_wine, batches

BATCH = 32
MAX_ITER = 300
EVAL_EVERY = 100


class QualityNet(tf.keras.Model):
    def __init__(self, units=(64, 64, 32)):
        super().__init__()
        self.hidden = [tf.keras.layers.Dense(u, activation="relu") for u in units]
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)


class Trainer:
    def __init__(self, model, lr=1e-3):
        self.model = model
        self.opt = tf.keras.optimizers.Adam(lr)
        self.mse = tf.keras.losses.MeanSquaredError()
        self.running = tf.keras.metrics.Mean()

    @tf.function
    def update(self, x, y):
        with tf.GradientTape() as tape:
            pred = self.model(x, training=True)
            loss = self.mse(y, pred)
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        self.running.update_state(loss)

    @tf.function
    def validate(self, x, y):
        return self.mse(y, self.model(x, training=False))


def main():
    tf.keras.utils.set_random_seed(3)
    (xtr, ytr), (xva, yva) = load_wine()
    trainer = Trainer(QualityNet())
    it = iter(batches(xtr, ytr, BATCH))
    xva, yva = tf.constant(xva), tf.constant(yva[:, None])

    best = float("inf")
    i = 0
    start = time.time()
    while i < MAX_ITER:
        x, y = next(it)
        trainer.update(x, y)
        i += 1
        if i % EVAL_EVERY == 0:
            val = float(trainer.validate(xva, yva))
            print(f"iter {i:5d}  train {float(trainer.running.result()):.4f}  val {val:.4f}")
            trainer.running.reset_state()
            best = min(best, val)
    print(f"done in {time.time() - start:.1f}s, best val {best:.4f}")


if __name__ == "__main__":
    main()
