import numpy as np
import tensorflow as tf
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
        return int(self.choose(keras.ops.convert_to_tensor(state, "float32")))

    @tf.function
    def choose(self, state):
        return tf.argmax(self.net(state, training=False)[0])
