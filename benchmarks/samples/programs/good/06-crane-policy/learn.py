import tomllib

import numpy as np
import tensorflow as tf

from saver import Saver


def load():
    with open("run.toml", "rb") as fh:
        return tomllib.load(fh)


class Learner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.policy = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
        self.opt = tf.keras.optimizers.Adam(cfg["optimizer"]["lr"])
        self.step = tf.Variable(0, dtype=tf.int64)
        ck = cfg["checkpoint"]
        self.saver = Saver(cfg["run"]["name"], ck["root"], ck["keep"], policy=self.policy, opt=self.opt, step=self.step)
        if cfg["run"]["resume"]:
            self.saver.resume()

    @tf.function
    def update(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.policy(x) - y) ** 2)
        v = self.policy.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))
        self.step.assign_add(1)
        return loss

    def train(self, until):
        while int(self.step) < until:
            x = np.random.uniform(-1, 1, (64, 3)).astype("float32")
            loss = self.update(tf.constant(x), tf.constant(x.sum(1, keepdims=True)))
            if int(self.step) % self.cfg["checkpoint"]["every"] == 0:
                self.saver.save(int(self.step))
        return float(loss)


cfg = load()
print("first session, loss", Learner(cfg).train(cfg["run"]["steps"]))
again = Learner(cfg)
print("second session starts at step", int(again.step))
print("loss", again.train(cfg["run"]["steps"] + 20))
