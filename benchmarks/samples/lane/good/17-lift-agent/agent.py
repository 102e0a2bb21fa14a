import random
from collections import deque

import numpy as np
import keras


class LiftAgent:
    def __init__(self, observation_size, actions, gamma=0.9, lr=5e-3):
        self.actions = actions
        self.gamma = gamma
        self.epsilon = 1.0
        self.memory = deque(maxlen=2000)
        self.net = keras.Sequential(
            [
                keras.Input((observation_size,)),
                keras.layers.Dense(32, activation="relu"),
                keras.layers.Dense(actions),
            ]
        )
        self.net.compile(optimizer=keras.optimizers.Adam(lr), loss="mse")

    def act(self, view):
        if random.random() < self.epsilon:
            return random.randrange(self.actions)
        values = self.net(view[None, :], training=False)
        return int(np.argmax(values[0]))

    def remember(self, *transition):
        self.memory.append(transition)

    def learn(self, batch_size=32):
        if len(self.memory) < batch_size:
            return
        batch = random.sample(self.memory, batch_size)
        views, actions, rewards, following, done = map(np.array, zip(*batch))
        future = self.net.predict_on_batch(following).max(axis=1)
        targets = self.net.predict_on_batch(views)
        targets[np.arange(batch_size), actions] = rewards + self.gamma * future * ~done
        self.net.train_on_batch(views, targets)
        self.epsilon = max(0.05, self.epsilon * 0.97)
