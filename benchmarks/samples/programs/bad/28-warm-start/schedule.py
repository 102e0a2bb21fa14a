import math

import tensorflow as tf


class WarmupCosine(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total, floor=0.0):
        super().__init__()
        self.peak, self.warmup, self.total, self.floor = peak, warmup, total, floor

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        if step < self.warmup:
            return self.peak * step / self.warmup
        done = tf.minimum(1.0, (step - self.warmup) / (self.total - self.warmup))
        return self.floor + 0.5 * (self.peak - self.floor) * (1.0 + tf.cos(math.pi * done))

    def get_config(self):
        return dict(peak=self.peak, warmup=self.warmup, total=self.total, floor=self.floor)
