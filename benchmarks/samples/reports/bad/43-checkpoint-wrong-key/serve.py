import tensorflow as tf

from net import build


def load(folder):
    net = build()
    ckpt = tf.train.Checkpoint(net=net)
    ckpt.restore(tf.train.latest_checkpoint(folder)).expect_partial()
    return net
