from tensorflow.keras import Input, Sequential, layers

MODELS = {}


def register(name):
    def wrap(builder):
        MODELS[name] = builder
        return builder

    return wrap


@register("dense")
def dense(shape, units, activation="relu"):
    model = Sequential([Input(shape), layers.Flatten()])
    for n in units:
        model.add(layers.Dense(n, activation=activation))
    model.add(layers.Dense(1))
    return model


@register("gru")
def gru(shape, units, depth=1, dropout=0.0):
    model = Sequential([Input(shape)])
    for i in range(depth):
        model.add(layers.GRU(units, return_sequences=i < depth - 1, dropout=dropout))
    model.add(layers.Dense(1))
    return model


def create(spec, shape):
    return MODELS[spec["name"]](shape, **spec.get("params", {}))
