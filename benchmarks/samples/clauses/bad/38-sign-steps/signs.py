import tensorflow as tf


class SignSteps(tf.keras.optimizers.SGD):
    def __init__(self, learning_rate=0.01, beta=0.9, name="SignSteps", **kwargs):
        super().__init__(learning_rate, name=name, **kwargs)
        self.beta = beta

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "m")

    def _resource_apply_dense(self, grad, var):
        m = self.get_slot(var, "m")
        m.assign(self.beta * m + (1 - self.beta) * grad)
        return var.assign_sub(self._get_hyper("learning_rate") * tf.sign(m))

    def _resource_apply_sparse(self, grad, var, indices):
        raise NotImplementedError


OPTIMIZERS = {"sign": SignSteps, "adam": tf.keras.optimizers.Adam}
