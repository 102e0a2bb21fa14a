from tensorflow import keras

from .base import Trainer


class StarTrainer(Trainer):
    def build(self):
        return keras.Sequential([
            keras.Input((self.cfg["sky"]["pixels"],)),
            keras.layers.Dense(self.opts["hidden"], activation="relu"),
            keras.layers.Dense(1),
        ])


class CometTrainer(Trainer):
    def build(self):
        pixels = self.cfg["sky"]["pixels"]
        tail = self.opts["tail"]
        return keras.Sequential([
            keras.Input((pixels,)),
            keras.layers.Reshape((pixels, 1)),
            keras.layers.Conv1D(tail["filters"], tail["span"], activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(1),
        ])

    def optimizer(self):
        return keras.optimizers.SGD(self.opts["rate"], clipnorm=1.0)

    def save(self):
        self.model.save(self.opts["path"])


TRAINERS = {cls.__name__.removesuffix("Trainer").lower(): cls for cls in Trainer.__subclasses__()}
