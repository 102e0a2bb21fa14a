import tensorflow as tf
from hydra.utils import instantiate


def crust_net(crust, rack):
    parts = [tf.keras.Input((5,))]
    for _ in range(rack):
        parts.append(tf.keras.layers.Dense(crust.width, activation=crust.bake))
        parts.append(instantiate(crust.rise))
    if "salt" in crust:
        parts.append(tf.keras.layers.ActivityRegularization(l2=crust.salt))
    return tf.keras.Sequential(parts + [tf.keras.layers.Dense(1)])
