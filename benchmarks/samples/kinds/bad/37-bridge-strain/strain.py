import resource
import numpy as np
import tensorflow as tf


def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 2 ** 20


class StrainModel:
    def __init__(self, sensors=256):
        self.net = tf.keras.Sequential([
            tf.keras.Input((sensors,)),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(sensors),
        ])
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.losses = []
        self.val_history = []

    @tf.function
    def _step(self, x):
        with tf.GradientTape() as tape:
            err = tf.square(self.net(x, training=True) - x)
            loss = tf.reduce_mean(err)
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return err

    def run(self, stream, steps, report=200):
        for i, x in enumerate(stream.take(steps), 1):
            err = self._step(x)
            self.losses.append(err)
            if i % report == 0:
                recent = tf.reduce_mean(tf.stack([tf.reduce_mean(e) for e in self.losses[-50:]]))
                self.val_history.append(float(recent))
                print("step %d loss %.4f rss %.0f MB" % (i, float(recent), rss()))


def stream(sensors=256, batch=512):
    base = np.random.default_rng(0).normal(size=(4, sensors)).astype("float32")
    return tf.data.Dataset.range(10 ** 9).map(
        lambda i: tf.random.stateless_normal((batch, 4), seed=[i, 1]) @ base).prefetch(2)


if __name__ == "__main__":
    tf.random.set_seed(0)
    m = StrainModel()
    m.run(stream(), steps=1000)
