import tensorflow as tf


def limit_threads(intra, inter):
    """Shared machine: keep to the cores we were given."""
    tf.config.threading.set_intra_op_parallelism_threads(intra)
    tf.config.threading.set_inter_op_parallelism_threads(inter)
