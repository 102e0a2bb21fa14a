import sys

import tensorflow as tf

from config import load_config
from features import datasets

CELLS = {"lstm": tf.keras.layers.LSTM, "gru": tf.keras.layers.GRU}


def build(cfg):
    cell = CELLS[cfg.network.cell]
    model = tf.keras.Sequential([tf.keras.Input((cfg.data.history, 1))])
    for i in range(cfg.network.layers):
        last = i == cfg.network.layers - 1
        model.add(cell(cfg.network.units, dropout=cfg.network.dropout, return_sequences=not last))
    model.add(tf.keras.layers.Dense(cfg.data.horizon))
    return model


def main(path="settings.toml"):
    cfg = load_config(path)
    tf.keras.utils.set_random_seed(11)
    train, test = datasets(cfg.data)
    model = build(cfg)
    opt = tf.keras.optimizers.Adam(cfg.fit.learning_rate, clipnorm=cfg.fit.clipnorm, clipvalue=cfg.fit.clipvalue)
    model.compile(optimizer=opt, loss=cfg.fit.loss, metrics=cfg.fit.metrics)
    stop = tf.keras.callbacks.EarlyStopping(monitor="val_loss", patience=cfg.fit.patience, min_delta=cfg.fit.min_delta)
    history = model.fit(train, validation_data=test, epochs=cfg.fit.epochs, callbacks=[stop], verbose=0)
    print("val_loss", round(history.history["val_loss"][-1], 5))


if __name__ == "__main__":
    main(*sys.argv[1:])
