import tensorflow as tf
from tensorflow.keras import layers


def build(conf):
    net = conf["net"]
    store = layers.Input((), name="store", dtype="int32")
    dense = layers.Input((len(conf["features"]) - 1,), name="numbers")
    x = layers.Embedding(conf["store_count"], net["embedding"])(store)
    x = layers.Concatenate()([x, dense])
    for units in net["hidden"]:
        x = layers.Dense(units, activation=net["activation"])(x)
    return tf.keras.Model({"store": store, "numbers": dense}, layers.Dense(1, dtype="float32")(x))
