import numpy as np


class Memory:
    def __init__(self, size, obs_dim):
        self.s = np.zeros((size, obs_dim), "float32")
        self.s2 = np.zeros((size, obs_dim), "float32")
        self.a = np.zeros(size, "int32")
        self.r = np.zeros(size, "float32")
        self.d = np.zeros(size, "float32")
        self.size, self.n = size, 0

    def push(self, s, a, r, s2, d):
        i = self.n % self.size
        self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i] = s, a, r, s2, d
        self.n += 1

    def sample(self, k):
        i = np.random.randint(0, min(self.n, self.size), k)
        return self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i]
