"""Two stage transfer: warm up a new head, then tune the whole network."""
import numpy as np
import keras
from keras import layers

from backbone import make_backbone, pretrain, wings


class TwoStageTuner:
    def __init__(self, backbone, kinds, lr=2e-3):
        self.backbone = backbone
        self.lr = lr
        self.model = keras.Sequential(
            [backbone, layers.Dropout(0.1), layers.Dense(kinds, activation="softmax")]
        )

    def compile(self, lr):
        self.model.compile(
            optimizer=keras.optimizers.Adam(lr),
            loss="sparse_categorical_crossentropy",
            metrics=["accuracy"],
        )

    def warm_up(self, x, y, epochs):
        self.backbone.trainable = False
        self.compile(self.lr)
        return self.model.fit(x, y, epochs=epochs, batch_size=32, verbose=0)

    def tune(self, x, y, epochs):
        self.backbone.trainable = True
        self.model.optimizer.learning_rate = self.lr / 2
        return self.model.fit(x, y, epochs=epochs, batch_size=32, verbose=0)


def main():
    keras.utils.set_random_seed(40)
    tuner = TwoStageTuner(pretrain(make_backbone()), kinds=5)
    x, y = wings(500, 5, offset=3, seed=2)
    x_new, y_new = wings(300, 5, offset=3, seed=3)

    first = tuner.warm_up(x, y, epochs=4)
    before = [w.copy() for w in tuner.backbone.get_weights()]
    second = tuner.tune(x, y, epochs=8)
    moved = max(
        float(np.abs(a - b).max())
        for a, b in zip(before, tuner.backbone.get_weights())
    )
    print("head only", round(first.history["accuracy"][-1], 3))
    print("tuned    ", round(second.history["accuracy"][-1], 3))
    print("largest change in backbone", moved)
    print("new moths", round(tuner.model.evaluate(x_new, y_new, verbose=0)[1], 3))


if __name__ == "__main__":
    main()
