"""Run settings for the tide gauge forecaster."""
import os
from dataclasses import dataclass


@dataclass
class RunSettings:
    name: str = "harbour-a"
    out_dir: str = "/tmp/tide_runs"
    window: int = 24
    horizon: int = 3
    batch_size: int = 32
    epochs: int = 4
    learning_rate: float = 1e-3
    patience: int = 3

    def run_dir(self):
        path = os.path.join(self.out_dir, self.name)
        os.makedirs(path, exist_ok=True)
        return path

    def best_path(self):
        return os.path.join(self.run_dir(), "best_{}.h5".format(self.window))
