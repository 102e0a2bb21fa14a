import tensorflow as tf

from ranker import Ranker


def load_ranker(folder, features):
    ranker = Ranker()
    ranker(tf.zeros((1, features)))
    checkpoint = tf.train.Checkpoint(model=ranker)
    checkpoint.restore(tf.train.latest_checkpoint(folder)).expect_partial()
    return ranker


def pair_accuracy(ranker, better, worse):
    margin = ranker(better) - ranker(worse)
    return float(tf.reduce_mean(tf.cast(margin > 0, tf.float32)))
