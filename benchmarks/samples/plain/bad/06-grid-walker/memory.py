import numpy as np


class ReplayMemory:
    def __init__(self, state_dim):
        self.states = np.zeros((0, state_dim), "float32")
        self.actions = np.zeros((0,), "int32")
        self.rewards = np.zeros((0,), "float32")

    def add(self, state, action, reward):
        self.states = np.concatenate([self.states, state[None]])
        self.actions = np.concatenate([self.actions, [action]])
        self.rewards = np.concatenate([self.rewards, [reward]])

    def sample(self, n, rng):
        idx = rng.integers(0, len(self.actions), size=n)
        return self.states[idx], self.actions[idx].astype("int32"), self.rewards[idx].astype("float32")
