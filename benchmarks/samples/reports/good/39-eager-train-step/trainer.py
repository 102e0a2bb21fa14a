import tensorflow as tf


class Trainer:
    def __init__(self, net, opt, loss):
        self.net, self.opt, self.loss = net, opt, loss

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            value = self.loss(y, self.net(x, training=True))
        w = self.net.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(value, w), w))
        return value

    def epoch(self, data):
        for x, y in data:
            value = self.step(x, y)
        return value
