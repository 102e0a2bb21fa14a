from tensorflow import keras


class Optimizers:
    @staticmethod
    def adamw(run):
        return keras.optimizers.AdamW(run.lr, weight_decay=run.weight_decay or 0.004)

    @staticmethod
    def sgd(run):
        return keras.optimizers.SGD(run.lr, momentum=run.momentum)


def camel(name):
    return "".join(part.capitalize() for part in name.split("_")).replace("Lr", "LR")


def callbacks(run):
    return [getattr(keras.callbacks, camel(name))(**options) for name, options in run.callbacks.items()]


def augment(x, run, rng):
    for step in run.augment:
        own = {key[len(step) + 1:]: value for key, value in vars(run).items() if key.startswith(step + "_")}
        x = globals()[step](x, rng, **own)
    return x


def flip(x, rng, axis):
    return x[:, :, ::-1] if axis == 2 else x[:, ::-1]


def noise(x, rng, stddev):
    return x + rng.normal(0, stddev, x.shape).astype("float32")
