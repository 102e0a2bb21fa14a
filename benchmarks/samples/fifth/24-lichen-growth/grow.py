import sys

import numpy as np
from tensorflow import keras

from lichen import get_defaults

HEADS = {}


def head(fn):
    HEADS[fn.__name__.removeprefix("head_")] = fn
    return fn


@head
def head_plain(node, x):
    return keras.layers.Dense(node.UNITS, activation="relu")(keras.layers.Flatten()(x))


@head
def head_conv(node, x):
    x = keras.layers.Conv2D(node.FILTERS, node.KERNEL, activation="relu")(x)
    return keras.layers.GlobalMaxPooling2D()(x)


def setup(argv):
    cfg = get_defaults()
    if argv and argv[0].endswith(".yaml"):
        cfg.merge_file(argv.pop(0))
    cfg.merge_list(argv)
    return cfg.freeze()


def main(argv):
    cfg = setup(argv)
    keras.utils.set_random_seed(cfg.SEED)
    side = cfg.STONE.SIDE
    i = keras.Input((side, side, 1))
    x = HEADS[cfg.MODEL.NAME](cfg.MODEL[cfg.MODEL.NAME.upper()], i)
    model = keras.Model(i, keras.layers.Dense(len(cfg.STONE.KINDS), activation="softmax")(x))
    s = cfg.SOLVER
    model.compile(keras.optimizers.Adam(s.LR, global_clipnorm=s.CLIP), "sparse_categorical_crossentropy")
    log = model.fit(np.random.rand(cfg.STONE.COUNT, side, side, 1),
                    np.random.randint(0, len(cfg.STONE.KINDS), cfg.STONE.COUNT),
                    epochs=s.EPOCHS, batch_size=s.BATCH, verbose=0)
    model.save(cfg.OUT)
    print(cfg.MODEL.NAME, cfg.STONE.KINDS, round(log.history["loss"][-1], 4))


if __name__ == "__main__":
    main(sys.argv[1:])
