import os

import tensorflow as tf

from options import get_options
from weather import split

RECURRENT = {"lstm": tf.keras.layers.LSTM, "gru": tf.keras.layers.GRU}


class FreezeModel(tf.keras.Model):
    def __init__(self, model):
        super().__init__()
        self.rnn = RECURRENT[model.recurrent](model.units)
        self.drop = tf.keras.layers.Dropout(model.dropout)
        self.out = tf.keras.layers.Dense(1)

    def call(self, x, training=False):
        return self.out(self.drop(self.rnn(x), training=training))


def main():
    options = get_options()
    t = options.train
    tf.keras.utils.set_random_seed(t.seed)
    train, test = split(options.data, t.seed)
    model = FreezeModel(options.model)
    model.compile(tf.keras.optimizers.Adam(t.learning_rate), loss=t.loss, metrics=["mae"])
    callbacks = []
    if t.early_stop is not None:
        callbacks.append(tf.keras.callbacks.EarlyStopping(
            monitor="val_mae", mode="min", patience=t.early_stop, restore_best_weights=True))
    if t.checkpoint:
        os.makedirs(os.path.dirname(t.checkpoint), exist_ok=True)
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(t.checkpoint, save_weights_only=True))
    model.fit(train, validation_data=test, epochs=t.epochs, callbacks=callbacks, verbose=2)
    scores = model.evaluate(test, return_dict=True, verbose=0)
    print(f"{options.title}: mae {scores['mae']:.3f}")


if __name__ == "__main__":
    main()
