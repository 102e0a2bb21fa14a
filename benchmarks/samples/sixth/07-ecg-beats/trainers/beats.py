import numpy as np
import tensorflow as tf

from .base import BaseTrainer


class BeatTrainer(BaseTrainer):
    def __init__(self, cfg):
        super().__init__(cfg)
        self.data_cfg = cfg["data"]
        # 16 is what fits next to the viewer
        self.batch_size = 16

    def build_data(self):
        d = self.data_cfg
        rng = np.random.default_rng(2)
        x = rng.normal(size=(d["n_records"], d["beat_length"], 1)).astype("float32")
        y = rng.integers(0, d["classes"], d["n_records"])
        ds = tf.data.Dataset.from_tensor_slices((x, y))
        train = ds.skip(8).batch(self.batch_size, drop_remainder=d["drop_last"])
        return train, ds.take(8).batch(self.batch_size)

    def build_model(self):
        m = self.model_cfg
        layers = [tf.keras.Input((self.data_cfg["beat_length"], 1))]
        for c in m["channels"]:
            layers.append(tf.keras.layers.Conv1D(c, m["kernel_size"], strides=2, activation="relu"))
        layers += [
            tf.keras.layers.GlobalMaxPooling1D(),
            tf.keras.layers.Dropout(m["dropout"]),
            tf.keras.layers.Dense(self.data_cfg["classes"], activation="softmax"),
        ]
        return tf.keras.Sequential(layers)
