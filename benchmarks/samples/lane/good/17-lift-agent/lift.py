import numpy as np


class Lift:
    """One lift, seven floors, one waiting passenger at a time."""

    floors = 7
    actions = 3

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.floor = int(self.rng.integers(self.floors))
        self.call = int(self.rng.integers(self.floors))
        self.ticks = 0
        return self.observe()

    def observe(self):
        view = np.zeros(2 * self.floors, dtype="float32")
        view[self.floor] = 1.0
        view[self.floors + self.call] = 1.0
        return view

    def step(self, action):
        self.floor = int(np.clip(self.floor + action - 1, 0, self.floors - 1))
        self.ticks += 1
        arrived = self.floor == self.call
        reward = 1.0 if arrived else -0.1
        return self.observe(), reward, arrived or self.ticks >= 20
