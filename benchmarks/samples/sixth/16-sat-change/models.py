import tensorflow as tf

L = tf.keras.layers
MERGE = {
    "subtract": lambda a, b: L.Subtract()([a, b]),
    "concat": lambda a, b: L.Concatenate()([a, b]),
}


def siamese(shape, width, merge):
    branch = tf.keras.Sequential([L.Input(shape), L.Conv2D(width, 3, strides=2, activation="relu"), L.Flatten()])
    before, after = L.Input(shape), L.Input(shape)
    joint = MERGE[merge](branch(before), branch(after))
    return tf.keras.Model((before, after), L.Dense(1, activation="sigmoid")(joint))


MODELS = {"siamese": siamese}
