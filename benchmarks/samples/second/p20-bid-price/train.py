import os

from tensorflow import keras

from bids import MODEL, OUT, cfg
from bids.market import SEED, auctions


def main():
    t = cfg["train"]
    os.makedirs(OUT, exist_ok=True)
    keras.utils.set_random_seed(SEED)
    net = keras.Sequential([keras.Input((7,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
    net.compile(keras.optimizers.Adam(t["lr"]), "mae")
    log = keras.callbacks.CSVLogger(os.path.join(OUT, cfg["paths"]["log"]))
    done = net.fit(*auctions(), batch_size=t["batch"], epochs=t["epochs"], callbacks=[log], verbose=0)
    net.save(MODEL)
    print("seed", SEED, "loss", done.history["loss"])


if __name__ == "__main__":
    main()
