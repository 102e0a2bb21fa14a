"""Forecast the load of the grid for the next hours."""
import configparser

import tensorflow as tf
from tensorflow.keras import layers

from series import hourly_load, windows

config = configparser.ConfigParser()
config.read("load.ini")
data, model_cfg = config["data"], config["model"]

CELLS = {"gru": layers.GRU, "lstm": layers.LSTM, "rnn": layers.SimpleRNN}


def build(window):
    cell = CELLS[model_cfg["cell"]]
    units = [int(u) for u in model_cfg["units"].split(",")]
    model = tf.keras.Sequential([tf.keras.Input((window, 1))])
    for u in units[:-1]:
        model.add(cell(u, return_sequences=True))
        model.add(layers.Dropout(model_cfg.getfloat("dropout")))
    model.add(cell(units[-1], return_sequences=bool(model_cfg["return_sequences"])))
    model.add(layers.Dense(model_cfg.getint("outputs")))
    return model


def main():
    tf.keras.utils.set_random_seed(2)
    values = hourly_load(data.getint("days"))
    if data.get("scaler") == "minmax":
        values = (values - values.min()) / (values.max() - values.min())
    elif data.get("scaler") == "zscore":
        values = (values - values.mean()) / values.std()
    x, y = windows(values, data.getint("window"), data.getint("horizon"))

    train_cfg = config["training"]
    lr = config.getfloat("model", "learning_rate", fallback=0.001)
    model = build(data.getint("window"))
    model.compile(optimizer=tf.keras.optimizers.Adam(lr), loss="mae")
    history = model.fit(
        x, y,
        batch_size=train_cfg.getint("batch_size"),
        epochs=train_cfg.getint("epochs"),
        shuffle=train_cfg.getboolean("shuffle"),
        validation_split=data.getfloat("holdout"),
        verbose=0,
    )
    print("lr %.4f loss %.5f val %.5f" % (
        float(model.optimizer.learning_rate), history.history["loss"][-1], history.history["val_loss"][-1]))


if __name__ == "__main__":
    main()
