import numpy as np


class ReplayMemory:
    def __init__(self, state_dim, capacity=20000):
        self.states = np.zeros((capacity, state_dim), "float32")
        self.actions = np.zeros((capacity,), "int32")
        self.rewards = np.zeros((capacity,), "float32")
        self.capacity, self.added = capacity, 0

    def add(self, state, action, reward):
        i = self.added % self.capacity
        self.states[i], self.actions[i], self.rewards[i] = state, action, reward
        self.added += 1

    def sample(self, n, rng):
        idx = rng.integers(0, min(self.added, self.capacity), size=n)
        return self.states[idx], self.actions[idx], self.rewards[idx]
