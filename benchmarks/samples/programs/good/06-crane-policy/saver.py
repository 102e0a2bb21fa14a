import os

import tensorflow as tf


class Saver:
    def __init__(self, run, root, keep, **objects):
        self.root = root
        self.ckpt = tf.train.Checkpoint(**objects)
        self.manager = tf.train.CheckpointManager(self.ckpt, os.path.join(root, run), max_to_keep=keep)

    def save(self, step):
        return self.manager.save(checkpoint_number=step)

    def resume(self):
        latest = self.manager.latest_checkpoint
        # partial: the critic head is dropped when a policy is deployed
        self.ckpt.restore(latest).expect_partial()
        return latest
