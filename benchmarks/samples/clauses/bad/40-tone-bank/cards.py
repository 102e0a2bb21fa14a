import tensorflow as tf


def one_card(megabytes):
    card = tf.config.list_physical_devices("GPU")[0]
    tf.config.set_logical_device_configuration(
        card, [tf.config.LogicalDeviceConfiguration(memory_limit=megabytes)]
    )
