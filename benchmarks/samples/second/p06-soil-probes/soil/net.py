from tensorflow import keras

CELLS = {"gru": keras.layers.GRU, "lstm": keras.layers.LSTM}


def build(cfg):
    m, s, t = cfg["model"], cfg["sensor"], cfg["train"]
    net = keras.Sequential([
        keras.Input((s["window"], s["depths"])),
        CELLS[m["cell"]](m["units"], dropout=m["dropout"]),
        keras.layers.Dense(s["depths"]),
    ])
    net.compile(keras.optimizers.RMSprop(t["rate"]), t["loss"])
    return net


def callbacks(cfg):
    patience = cfg["train"].get("early_stop")
    if patience:
        yield keras.callbacks.EarlyStopping(monitor="loss", patience=patience)
