import tensorflow as tf


class Experiment:
    batch = 32

    def __init__(self, x, y):
        self.data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(self.batch).repeat()
        self.steps = len(x) // self.batch
