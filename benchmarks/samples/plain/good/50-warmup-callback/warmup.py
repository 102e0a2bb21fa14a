import math

import tensorflow as tf


class WarmupCosine(tf.keras.callbacks.Callback):
    """Linear warm-up, then a cosine down to zero, set before each batch."""

    def __init__(self, peak, warmup_steps, total_steps):
        super().__init__()
        self.peak = peak
        self.warmup_steps = warmup_steps
        self.total_steps = total_steps
        self.step = 0
        self.history = []

    def rate(self):
        if self.step < self.warmup_steps:
            return self.peak * (self.step + 1) / self.warmup_steps
        share = (self.step - self.warmup_steps) / max(1, self.total_steps - self.warmup_steps)
        return 0.5 * self.peak * (1 + math.cos(math.pi * min(1.0, share)))

    def on_train_batch_begin(self, batch, logs=None):
        self.model.optimizer.learning_rate = self.rate()

    def on_train_batch_end(self, batch, logs=None):
        self.history.append(self.rate())
        self.step += 1
