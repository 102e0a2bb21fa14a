"""Classify bedside monitor alarms from short ECG windows."""
import json
import os

import numpy as np
import tensorflow as tf

from config import Config


class WardData:
    def __init__(self, cfg, seed):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(cfg.records, cfg.window, cfg.channels)).astype("float32")
        self.y = rng.integers(0, cfg.num_classes, cfg.records)
        self.split = int(cfg.records * (1 - cfg.val_split))

    def train(self):
        return self.x[: self.split], self.y[: self.split]

    def val(self):
        return self.x[self.split:], self.y[self.split:]


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.tc = cfg.training
        tf.keras.utils.set_random_seed(cfg.experiment.seed)
        self.data = WardData(cfg.data, cfg.experiment.seed)

    def build(self):
        mc, dc = self.cfg.model, self.cfg.data
        inputs = tf.keras.Input((dc.window, dc.channels))
        x = inputs
        for n in mc.filters:
            x = tf.keras.layers.Conv1D(n, mc.kernel_size, padding="same", activation="relu")(x)
            x = tf.keras.layers.MaxPooling1D()(x)
        x = tf.keras.layers.LSTM(mc.lstm_units)(x)
        x = tf.keras.layers.Dropout(mc.dropout)(x)
        outputs = tf.keras.layers.Dense(dc.num_classes, activation="softmax")(x)
        return tf.keras.Model(inputs, outputs, name="alarms")

    def optimizer(self):
        return tf.keras.optimizers.get(
            {"class_name": self.tc.optimizer, "config": {"learning_rate": self.tc.learning_rate}}
        )

    def callbacks(self):
        stopping = self.tc.early_stopping
        return [tf.keras.callbacks.EarlyStopping(monitor=stopping.monitor, patience=stopping.patience)]

    def run(self):
        model = self.build()
        model.compile(optimizer=self.optimizer(), loss=self.tc.loss, metrics=["accuracy"])
        history = model.fit(
            *self.data.train(),
            validation_data=self.data.val(),
            batch_size=self.tc.batch_size,
            epochs=self.tc.epochs,
            callbacks=self.callbacks(),
            verbose=0,
        )
        self.report(history.history)

    def report(self, history):
        out = self.cfg.experiment.output_dir
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, self.cfg.experiment.name + ".json"), "w") as stream:
            json.dump({k: v[-1] for k, v in history.items()}, stream, indent=2)
        print({k: round(v[-1], 4) for k, v in history.items()})


if __name__ == "__main__":
    Trainer(Config.from_file("config.yaml")).run()
