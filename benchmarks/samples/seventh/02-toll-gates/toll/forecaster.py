import tensorflow as tf

CELLS = {"lstm": tf.keras.layers.LSTM, "gru": tf.keras.layers.GRU}


def build(conf):
    m, d = conf["model"], conf["data"]
    inputs = tf.keras.Input((d["lookback"], d["gates"]))
    h = CELLS[m["cell"]](m["units"], dropout=m["dropout"],
                         recurrent_dropout=m["recurrent_dropout"])(inputs)
    h = tf.keras.layers.Dense(d["horizon"] * d["gates"])(h)
    outputs = tf.keras.layers.Reshape((d["horizon"], d["gates"]))(h)
    return tf.keras.Model(inputs, outputs, name="forecaster")


def optimizer(conf):
    opt = conf["training"]["optimizer"]
    if opt["name"] == "adamw":
        return tf.keras.optimizers.AdamW(opt["lr"], weight_decay=opt["weight_decay"])
    if opt["name"] == "adam":
        return tf.keras.optimizers.Adam(opt["lr"])
    raise ValueError(opt["name"])
