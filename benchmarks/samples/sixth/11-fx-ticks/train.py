import configparser

import tensorflow as tf

import ticks

cfg = configparser.ConfigParser()
cfg.read("fx.ini")


def build(lstm):
    cell = tf.keras.layers.LSTM(lstm["units"], dropout=cfg.getfloat("lstm", "dropout"))
    if lstm["bidirectional"]:
        cell = tf.keras.layers.Bidirectional(cell)
    return tf.keras.Sequential([
        tf.keras.Input((cfg.getint("series", "lookback"), 1)),
        cell,
        tf.keras.layers.Dense(1),
    ])


def main():
    t = cfg["training"]
    tf.keras.utils.set_random_seed(t.getint("seed"))
    x, y = ticks.load(cfg["series"], t.getint("seed"))
    model = build(cfg["lstm"])
    model.compile(
        tf.keras.optimizers.Adam(t.getfloat("rate"), clipnorm=t.getfloat("clipnorm", fallback=None)), t["loss"])
    log = model.fit(x, y, batch_size=cfg.getint("series", "batch"), epochs=t.getint("epochs"), verbose=0)
    print("params", model.count_params(), "loss", log.history["loss"][-1])
    model.save("fx.keras")


if __name__ == "__main__":
    main()
