import numpy as np


class MiniLander:
    """Keep height and speed small with one of two thrusters."""

    thrust = (-0.1, 0.1)

    def __init__(self, max_steps, seed):
        self.max_steps = max_steps
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.t = 0
        self.state = self.rng.uniform(-0.5, 0.5, 4).astype("float32")
        return self.state

    def step(self, action):
        self.t += 1
        self.state = self.state.copy()
        self.state[1] += self.thrust[action] + self.rng.normal(0, 0.01)
        self.state[0] += self.state[1]
        reward = 1.0 - abs(float(self.state[0]))
        done = self.t >= self.max_steps or abs(self.state[0]) > 2
        return self.state, reward, done
