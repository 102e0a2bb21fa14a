import tensorflow as tf
from tensorflow import keras


class DecayedAdam(keras.optimizers.Adam):
    """Adam whose weights shrink in every step."""

    def __init__(self, shrink=1e-4, **kwargs):
        super().__init__(**kwargs)
        self.shrink = shrink

    def _resource_apply_dense(self, grad, var, apply_state=None):
        var.assign_sub(self.shrink * var)
        return super()._resource_apply_dense(grad, var, apply_state)
