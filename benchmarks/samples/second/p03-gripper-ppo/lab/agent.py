import numpy as np
import tensorflow as tf
from tensorflow import keras


class Agent:
    def __init__(self, cfg):
        self.ppo = cfg.ppo
        self.net = keras.Sequential([keras.Input((2 * cfg.robot.joints,))])
        for n in cfg.policy.hidden:
            self.net.add(keras.layers.Dense(n, activation=cfg.policy.activation))
        self.net.add(keras.layers.Dense(3, activation="softmax"))
        self.optimizer = keras.optimizers.Adam(**vars(cfg.adam))
        self.max_norm = getattr(cfg.ppo, "max_grad_norm", None)

    def advantages(self, rewards, values):
        out, last = np.zeros(len(rewards), "float32"), 0.0
        decay = self.ppo.gamma * self.ppo.lam
        for t in reversed(range(len(rewards) - 1)):
            delta = rewards[t] + self.ppo.gamma * values[t + 1] - values[t]
            last = delta + decay * last
            out[t] = last
        return out

    @tf.function
    def update(self, states, actions, old, adv):
        with tf.GradientTape() as tape:
            probs = self.net(states, training=True)
            chosen = tf.gather(probs, actions, batch_dims=1)
            ratio = chosen / old
            clipped = tf.clip_by_value(ratio, 1 - self.ppo.clip, 1 + self.ppo.clip)
            gain = tf.reduce_mean(tf.minimum(ratio * adv, clipped * adv))
            spread = -tf.reduce_mean(tf.reduce_sum(probs * tf.math.log(probs + 1e-8), -1))
            loss = -gain - self.ppo.entropy * spread
        grads = tape.gradient(loss, self.net.trainable_variables)
        if self.max_norm:
            grads, _ = tf.clip_by_global_norm(grads, self.max_norm)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss
