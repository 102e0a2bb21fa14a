from tensorflow import keras
from tensorflow.keras import layers


def classifier(cfg, features, classes):
    net = keras.Sequential(name="leaf")
    net.add(keras.Input((features,)))
    for units in cfg["hidden"]:
        net.add(layers.Dense(units, activation="relu"))
        if cfg.get("dropout"):
            net.add(layers.Dropout(cfg["dropout"]))
    net.add(layers.Dense(classes, activation=cfg["head_activation"]))
    return net
