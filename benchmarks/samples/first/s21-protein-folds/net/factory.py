from tensorflow import keras


def layer(spec):
    return getattr(keras.layers, spec["class_name"])(**spec.get("config", {}))


def stack(specs):
    return keras.Sequential(list(map(layer, specs)))


def schedule(spec):
    kind = getattr(keras.optimizers.schedules, spec["class_name"])
    return kind(**spec["config"])
