import tensorflow as tf


def head(features, units):
    x = tf.keras.layers.GlobalAveragePooling2D()(features)
    x = tf.keras.layers.Dropout(0.3)(x)
    return tf.keras.layers.Dense(units, activation="sigmoid")(x)


def build():
    base = tf.keras.applications.MobileNetV2(include_top=False, weights=None, input_shape=(96, 96, 3))
    model = tf.keras.Model(base.input, head(base.output, 1))
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model


if __name__ == "__main__":
    x = tf.random.uniform([16, 96, 96, 3])
    build().fit(x, tf.constant([0, 1] * 8), epochs=1)
