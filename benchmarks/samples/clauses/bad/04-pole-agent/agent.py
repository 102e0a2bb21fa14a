import numpy as np
from tensorflow import keras


class Agent:
    def __init__(self, size, actions):
        self.actions = actions
        self.net = keras.Sequential(
            [keras.layers.Input((size,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(actions)]
        )
        self.net.compile(optimizer="adam", loss="mse")

    def act(self, state, epsilon):
        if np.random.rand() < epsilon:
            return np.random.randint(self.actions)
        values = self.net.predict(state)
        return int(np.argmax(values[0]))
