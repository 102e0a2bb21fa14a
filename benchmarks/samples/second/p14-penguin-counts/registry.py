from tensorflow import keras

BACKBONES = {}


def backbone(name):
    def keep(function):
        BACKBONES[name] = function
        return function
    return keep


@backbone("stacked")
def stacked(x, **stages):
    for stage in stages.values():
        x = keras.layers.Conv2D(**stage)(x)
    return keras.layers.GlobalAveragePooling2D()(x)


@backbone("plain")
def plain(x, units):
    return keras.layers.Dense(units, "relu")(keras.layers.Flatten()(x))
