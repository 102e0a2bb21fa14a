import numpy as np
import tensorflow as tf


def records(data, seed):
    """Bend sensors of a glove: every gesture has its own rhythm."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, data.gestures, data.records)
    t = np.arange(data.frames)[None, :, None]
    f = (y[:, None, None] + 1) * 0.2
    x = np.sin(f * t + rng.uniform(0, 3, (data.records, 1, data.channels)))
    return (x + rng.normal(0, 0.2, x.shape)).astype("float32"), y.astype("int32")


def batches(data, seed):
    x, y = records(data, seed)
    cut = 3 * data.records // 4
    train = tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut]))
    test = tf.data.Dataset.from_tensor_slices((x[cut:], y[cut:]))
    train = train.shuffle(cut, seed=seed).repeat().batch(data.batch_size, drop_remainder=True)
    return train.prefetch(2), test.batch(data.batch_size)


class GestureNet(tf.keras.Model):
    def __init__(self, model, gestures):
        super().__init__()
        self.convs = [tf.keras.layers.Conv1D(f, model.kernel, padding="same", activation="relu")
                      for f in model.filters]
        self.pool = tf.keras.layers.GlobalMaxPooling1D()
        self.drop = tf.keras.layers.Dropout(model.dropout)
        self.out = tf.keras.layers.Dense(gestures)

    def call(self, x, training=False):
        for conv in self.convs:
            x = conv(x)
        return self.out(self.drop(self.pool(x), training=training))
