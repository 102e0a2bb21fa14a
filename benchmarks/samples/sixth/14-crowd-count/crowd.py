import numpy as np
import tensorflow as tf

keras = tf.keras

CALLBACKS = {
    "plateau": keras.callbacks.ReduceLROnPlateau,
    "stop": keras.callbacks.EarlyStopping,
    "nan": keras.callbacks.TerminateOnNaN,
}


def frames(frames, size, batch_size, seed):
    def gen():
        rng = np.random.default_rng(seed)
        for _ in range(frames):
            x = rng.random((size, size, 1)).astype("float32")
            yield x, np.float32((x > 0.9).sum())

    sig = (tf.TensorSpec((size, size, 1), tf.float32), tf.TensorSpec((), tf.float32))
    ds = tf.data.Dataset.from_generator(gen, output_signature=sig)
    return ds.apply(tf.data.experimental.assert_cardinality(frames)).batch(batch_size).prefetch(1)


def counter(size, widths, activation, head):
    net = [keras.Input((size, size, 1))]
    net += [keras.layers.Conv2D(w, 3, strides=2, activation=activation) for w in widths]
    net += [keras.layers.Flatten(), keras.layers.Dense(1, activation=head)]
    return keras.Sequential(net)


def make_callbacks(section):
    return [CALLBACKS[name](**kwargs) for name, kwargs in section.items()]
