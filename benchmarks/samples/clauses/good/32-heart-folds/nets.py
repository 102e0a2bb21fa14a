from tensorflow.keras import layers, models


def build(width, rate=1e-3):
    net = models.Sequential()
    net.add(layers.Input((width,)))
    net.add(layers.Dense(32, activation="relu"))
    net.add(layers.Dense(1, activation="sigmoid"))
    net.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    return net
