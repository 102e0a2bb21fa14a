import tensorflow as tf


def setup(memory_mb=None, threads=2):
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    gpu = tf.config.list_physical_devices("GPU")[0]
    if memory_mb:
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=memory_mb)])
    else:
        tf.config.experimental.set_memory_growth(gpu, True)
