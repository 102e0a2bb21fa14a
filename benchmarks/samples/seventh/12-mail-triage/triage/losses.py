import tensorflow as tf

from triage.registry import LOSSES

LOSSES.register("binary_crossentropy")(tf.keras.losses.BinaryCrossentropy)
LOSSES.register("focal")(tf.keras.losses.BinaryFocalCrossentropy)
