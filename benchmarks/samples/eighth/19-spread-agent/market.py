import numpy as np


class Market:
    """Several tapes at once; actions: 0 wait, 1 buy, 2 sell."""

    n_actions = 3
    n_features = 5

    def __init__(self, n_envs, seed=0):
        self.n, self.rng = n_envs, np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.normal(size=(self.n, self.n_features)).astype("float32")
        return self.state

    def step(self, actions):
        side = np.choose(actions, [0.0, 1.0, -1.0])
        reward = side * self.state[:, 0] - 0.05 * np.abs(side)
        self.state = (0.8 * self.state + 0.3 * self.rng.normal(size=self.state.shape)).astype("float32")
        return self.state, reward.astype("float32")
