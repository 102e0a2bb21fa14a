from tensorflow import keras


def layer(entry):
    (name, arguments), = entry.items()
    return getattr(keras.layers, name)(**arguments)


def model(cfg):
    net = keras.Sequential([keras.Input((cfg["steps"], cfg["kit"]))])
    for entry in cfg["layers"]:
        net.add(layer(entry))
    net.add(keras.layers.Dense(cfg["kit"], activation="sigmoid"))
    return net


def optimizer(cfg):
    for name, value in cfg["optimizer"].items():
        return getattr(keras.optimizers, name)(**value)


def callbacks(cfg):
    made = []
    for name, value in cfg["callbacks"].items():
        made.append(getattr(keras.callbacks, name)(**value))
    return made
