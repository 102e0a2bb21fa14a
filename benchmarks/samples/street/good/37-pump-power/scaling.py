import numpy as np


class ColumnScaler:
    """Zero mean and unit spread per column, learnt on the training rows."""

    def fit(self, x):
        self.mean = x.mean(axis=0)
        std = x.std(axis=0)
        self.std = np.where(std > 1e-8, std, 1.0)
        return self

    def transform(self, x):
        return ((x - self.mean) / self.std).astype("float32")

    def fit_transform(self, x):
        return self.fit(x).transform(x)
