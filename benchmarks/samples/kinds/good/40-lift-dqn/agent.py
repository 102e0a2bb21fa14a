import time
import numpy as np
import tensorflow as tf
from memory import Memory

OBS, ACTIONS, TAU, GAMMA = 16, 3, 0.01, 0.98


def qnet():
    layers = [tf.keras.Input((OBS,))]
    layers += [tf.keras.layers.Dense(512, activation="relu") for _ in range(6)]
    return tf.keras.Sequential(layers + [tf.keras.layers.Dense(ACTIONS)])


class Agent:
    def __init__(self):
        self.online = qnet()
        self.target = qnet()
        self.target.set_weights(self.online.get_weights())
        self.opt = tf.keras.optimizers.Adam(5e-4)
        self.huber = tf.keras.losses.Huber()

    @tf.function
    def greedy(self, s):
        return tf.argmax(self.online(s), axis=1)

    @tf.function
    def learn(self, s, a, r, s2, d):
        best = tf.reduce_max(self.target(s2), axis=1)
        goal = r + GAMMA * (1.0 - d) * best
        with tf.GradientTape() as tape:
            q = tf.reduce_sum(self.online(s) * tf.one_hot(a, ACTIONS), axis=1)
            loss = self.huber(goal, q)
        g = tape.gradient(loss, self.online.trainable_variables)
        self.opt.apply_gradients(zip(g, self.online.trainable_variables))
        return loss

    @tf.function
    def soft_update(self):
        for w, tw in zip(self.online.trainable_variables, self.target.trainable_variables):
            tw.assign(TAU * w + (1.0 - TAU) * tw)

    def train(self, memory, steps):
        spent = 0.0
        for i in range(steps):
            s, a, r, s2, d = [tf.constant(v) for v in memory.sample(16)]
            loss = self.learn(s, a, r, s2, d)
            t0 = time.time()
            self.soft_update()
            spent += time.time() - t0
        return float(loss), spent


if __name__ == "__main__":
    np.random.seed(0)
    tf.random.set_seed(0)
    mem = Memory(2000, OBS)
    for _ in range(2000):
        s = np.random.randn(OBS)
        a = np.random.randint(ACTIONS)
        mem.push(s, a, float(s[a] > 0), np.random.randn(OBS), np.random.rand() < 0.1)
    agent = Agent()
    agent.learn(*[tf.constant(v) for v in mem.sample(16)])
    t0 = time.time()
    loss, spent = agent.train(mem, 150)
    print("150 steps %.2fs, of which update %.2fs, loss %.4f" % (time.time() - t0, spent, loss))
    print("greedy", np.bincount(agent.greedy(tf.constant(mem.s[:100])).numpy(), minlength=ACTIONS))
