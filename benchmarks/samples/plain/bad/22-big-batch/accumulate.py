import tensorflow as tf


class Accumulator:
    """Collects gradients of several small batches before one update."""

    def __init__(self, variables, every):
        self.variables = variables
        self.every = every
        self.sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]

    def add(self, grads):
        for total, g in zip(self.sums, grads):
            total.assign_add(g / self.every)

    def apply(self, optimizer):
        optimizer.apply_gradients(zip(self.sums, self.variables))
