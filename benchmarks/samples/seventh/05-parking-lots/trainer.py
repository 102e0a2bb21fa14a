import tensorflow as tf
from tensorflow.keras import layers

import lots


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.train_ds, self.valid_ds = lots.load(cfg.data)
        self.model = self.build(cfg.model)
        self.compile(cfg.train)

    def build(self, m):
        x = inputs = layers.Input((self.cfg.data.crop, self.cfg.data.crop, 3))
        x = layers.Conv2D(m.stem, 3, strides=2, activation="relu")(x)
        for width in m.blocks:
            x = layers.SeparableConv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.GlobalAveragePooling2D()(x)
        head = m.heads[0]
        out = layers.Dense(head.classes, activation="softmax", name=head.name)(x)
        model = tf.keras.Model(inputs, out, name=self.cfg.name)
        if m.pretrained:
            model.load_weights(m.pretrained)
        return model

    def compile(self, t):
        if t.optimizer == "sgd":
            opt = tf.keras.optimizers.SGD(t.learning_rate, momentum=t.momentum)
        else:
            opt = tf.keras.optimizers.get({"class_name": t.optimizer,
                                           "config": {"learning_rate": t.learning_rate}})
        self.model.compile(optimizer=opt, loss=t.loss, metrics=["accuracy"])

    def fit(self):
        return self.model.fit(self.train_ds, validation_data=self.valid_ds,
                              epochs=self.cfg.train.epochs, verbose=2)

    def evaluate(self):
        loss, accuracy = self.model.evaluate(self.val_ds, verbose=0)
        print(f"{self.cfg.name}: loss {loss:.3f} accuracy {accuracy:.3f}")
