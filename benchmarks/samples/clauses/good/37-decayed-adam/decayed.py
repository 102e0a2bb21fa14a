import tensorflow as tf
from tensorflow import keras


class DecayedAdam(keras.optimizers.Adam):
    """Adam whose weights shrink in every step."""

    def __init__(self, shrink=1e-4, **kwargs):
        super().__init__(**kwargs)
        self.shrink = shrink

    def update_step(self, gradient, variable, learning_rate):
        variable.assign_sub(self.shrink * variable)
        return super().update_step(gradient, variable, learning_rate)
