import tensorflow as tf


class Accumulator:
    """Sums the gradients of a few small batches."""

    def __init__(self, variables, every):
        self.variables = variables
        self.every = every
        self.sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in variables]

    def add(self, grads):
        for s, g in zip(self.sums, grads):
            s.assign_add(g / self.every)

    def clear(self):
        for s in self.sums:
            s.assign(tf.zeros_like(s))

    def flush(self, optimizer):
        optimizer.apply_gradients(zip([s.value() for s in self.sums], self.variables))
