import tensorflow as tf


class SignSteps(tf.keras.optimizers.SGD):
    def __init__(self, learning_rate=0.01, beta=0.9, name="SignSteps", **kwargs):
        super().__init__(learning_rate, name=name, **kwargs)
        self.beta = beta

    def build(self, variables):
        super().build(variables)
        self.means = [self.add_variable_from_reference(var, "m") for var in variables]

    def update_step(self, gradient, variable, learning_rate):
        m = self.means[self._get_variable_index(variable)]
        m.assign(self.beta * m + (1 - self.beta) * gradient)
        variable.assign_sub(learning_rate * tf.sign(m))


OPTIMIZERS = {"sign": SignSteps, "adam": tf.keras.optimizers.Adam}
