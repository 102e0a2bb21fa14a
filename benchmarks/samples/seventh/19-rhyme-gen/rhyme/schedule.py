import tensorflow as tf


class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
    """Linear to the peak, then with the inverse root of the step."""

    def __init__(self, peak, warmup_steps):
        self.peak = peak
        self.warmup_steps = warmup_steps
        self.slope = peak / warmup_steps

    def __call__(self, step):
        rising = self.slope * (step + 1)
        falling = self.peak * self.warmup_steps ** 0.5 * tf.math.rsqrt(step + 1)
        return tf.minimum(rising, falling)

    def get_config(self):
        return {"peak": self.peak, "warmup_steps": self.warmup_steps}
