import tensorflow as tf


def replicas(count):
    """GPUs where there are any, else slices of the CPU (for the tests on a laptop)."""
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        return tf.distribute.MirroredStrategy([f"GPU:{i}" for i in range(min(count, len(gpus)))])
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * count)
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(count)])
