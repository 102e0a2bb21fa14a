import random
from collections import deque

import numpy as np
import tensorflow as tf

import config as C


def build_q_net():
    inputs = tf.keras.Input((C.OBS_DIM,))
    x = inputs
    for units in C.HIDDEN_UNITS:
        x = tf.keras.layers.Dense(units, activation=C.ACTIVATION)(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(C.NUM_ACTIONS)(x))


class Agent:
    def __init__(self):
        self.q = build_q_net()
        self.q_target = build_q_net()
        self.q_target.set_weights(self.q.get_weights())
        optimizer_cls = getattr(tf.keras.optimizers, C.OPTIMIZER)
        self.optimizer = optimizer_cls(learning_rate=C.LEARNING_RATE, clipnorm=C.GRAD_CLIP)
        self.loss_fn = tf.keras.losses.get(C.LOSS)
        self.memory = deque(maxlen=C.BUFFER_SIZE)
        self.epsilon = C.EPS_START
        self.updates = 0
        self.syncs = 0

    def act(self, obs):
        if random.random() < self.epsilon:
            return random.randrange(C.NUM_ACTIONS)
        return int(np.argmax(self.q(obs[None])[0]))

    def learn(self):
        if len(self.memory) < C.BATCH_SIZE:
            return
        obs, act, rew, nxt, done = map(np.array, zip(*random.sample(self.memory, C.BATCH_SIZE)))
        best = tf.reduce_max(self.q_target(nxt), axis=1)
        goal = rew.astype("float32") + C.GAMMA * best * (1.0 - done.astype("float32"))
        with tf.GradientTape() as tape:
            q = tf.reduce_sum(self.q(obs) * tf.one_hot(act, C.NUM_ACTIONS), axis=1)
            loss = tf.reduce_mean(self.loss_fn(goal[:, None], q[:, None]))
        grads = tape.gradient(loss, self.q.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.q.trainable_variables))
        self.updates += 1
        if self.updates % C.TARGET_UPDATE_EVERY == 0:
            self.q_target.set_weights(self.q.get_weights())
            self.syncs += 1
