import tensorflow as tf


class SignMomentum(tf.keras.optimizers.Optimizer):
    """Lion-like update: sign of the interpolated momentum."""

    def __init__(self, learning_rate=1e-3, beta=0.9, name="SignMomentum", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.beta = beta

    def build(self, var_list):
        if self.built:
            return
        super().build(var_list)
        self.m = [self.add_variable_from_reference(v, "m") for v in var_list]

    def update_step(self, grad, var, learning_rate):
        lr = tf.cast(learning_rate, var.dtype)
        m = self.m[self._get_variable_index(var)]
        m.assign(self.beta * m + (1.0 - self.beta) * grad)
        return var.assign_sub(lr * tf.sign(m))

    def get_config(self):
        cfg = super().get_config()
        cfg["beta"] = self.beta
        return cfg
