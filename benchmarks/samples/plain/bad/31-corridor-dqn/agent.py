import numpy as np
import tensorflow as tf


def q_network(states, actions):
    return tf.keras.Sequential([
        tf.keras.Input((states,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(actions),
    ])


class DqnAgent:
    def __init__(self, states, actions, gamma=0.97, rate=3e-3, sync_every=100):
        self.actions, self.gamma, self.sync_every = actions, gamma, sync_every
        self.online = q_network(states, actions)
        self.target = self.online
        self.optimizer = tf.keras.optimizers.Adam(rate)
        self.updates = 0

    def act(self, state, epsilon, rng):
        if rng.uniform() < epsilon:
            return int(rng.integers(self.actions))
        return int(np.argmax(self.online(state[None], training=False)[0]))

    @tf.function
    def _learn(self, s, a, r, s2, done):
        best = tf.reduce_max(self.target(s2, training=False), axis=1)
        goal = tf.stop_gradient(r + self.gamma * (1.0 - done) * best)
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(s, training=True), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        variables = self.online.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def learn(self, batch):
        loss = self._learn(*batch)
        self.updates += 1
        if self.updates % self.sync_every == 0:
            self.target.set_weights(self.online.get_weights())
        return loss
