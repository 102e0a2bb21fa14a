import tensorflow as tf


def two_way_strategy():
    """Two GPUs, or two logical CPUs for a dry run."""
    gpus = tf.config.list_physical_devices("GPU")
    if len(gpus) > 1:
        return tf.distribute.MirroredStrategy()
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(2)])
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
