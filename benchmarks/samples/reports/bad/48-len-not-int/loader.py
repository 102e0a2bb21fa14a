import numpy as np
from tensorflow.keras.utils import Sequence


class SensorWindows(Sequence):
    def __init__(self, signal, window, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.signal = signal
        self.window = window
        self.batch_size = batch_size
        self.starts = np.arange(len(signal) - window)

    def __len__(self):
        return np.ceil(len(self.starts) / self.batch_size)

    def __getitem__(self, i):
        idx = self.starts[i * self.batch_size : (i + 1) * self.batch_size]
        x = np.stack([self.signal[s : s + self.window] for s in idx])
        y = np.array([self.signal[s + self.window, 0] for s in idx])
        return x, y

    def on_epoch_end(self):
        np.random.shuffle(self.starts)
