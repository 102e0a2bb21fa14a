import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def weave(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    g = np.indices((20, 20)).sum(0)
    x = np.stack([np.sin(g * (0.5 + 0.4 * k)) for k in y])[..., None] + 0.5 * rng.normal(size=(n, 20, 20, 1))
    return x.astype("float32"), y


def backbone():
    return tf.keras.Sequential([
        layers.Input((20, 20, 1)),
        layers.Conv2D(8, 3, activation="relu", name="c1"),
        layers.BatchNormalization(),
        layers.Conv2D(8, 3, strides=2, activation="relu", name="c2"),
        layers.GlobalAveragePooling2D(),
    ], name="backbone")


class FineTuner:
    def __init__(self, base, classes=3):
        self.base = base
        self.base.trainable = False
        inp = layers.Input((20, 20, 1))
        h = self.base(inp, training=False)
        self.model = tf.keras.Model(inp, layers.Dense(classes)(h))

    def compile(self, lr):
        self.model.compile(tf.keras.optimizers.Adam(lr),
                           loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                           metrics=["accuracy"])

    def warm_up(self, ds, epochs):
        self.compile(1e-2)
        return self.model.fit(ds, epochs=epochs, verbose=0)

    def fine_tune(self, ds, epochs):
        self.base.trainable = True
        for layer in self.base.layers:
            if isinstance(layer, layers.BatchNormalization):
                layer.trainable = False
        self.compile(1e-3)
        return self.model.fit(ds, epochs=epochs, verbose=0)


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(0)
    x, y = weave(640, 0)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640).batch(32)
    base = backbone()
    tuner = FineTuner(base)
    h1 = tuner.warm_up(ds, 3)
    before = base.get_layer("c1").get_weights()[0].copy()
    h2 = tuner.fine_tune(ds, 3)
    print("loss", np.round(h1.history["loss"] + h2.history["loss"], 3))
    print("c1 moved by %.5f" % np.abs(base.get_layer("c1").get_weights()[0] - before).max())
