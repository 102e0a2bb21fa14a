from tensorflow import keras


def build(conf):
    sensor, blocks = conf / "sensor", conf / "model" / "blocks"
    x = inputs = keras.Input((sensor["window"], sensor["channels"]))
    for _ in range(blocks["depth"]):
        x = keras.layers.Conv1D(blocks["filters"], blocks["kernel"], activation="relu")(x)
    x = keras.layers.GlobalMaxPooling1D()(x)
    return keras.Model(inputs, keras.layers.Dense(sensor["classes"], activation=blocks["final"])(x))


def solver(conf):
    section = conf / "optimizer"
    return getattr(keras.optimizers, section["name"])(**(section / "params").as_dict())
