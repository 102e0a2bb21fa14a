import numpy as np
import tensorflow as tf

from losses import dice_ce
from settings import CFG, DATA
from unet import unet


def scans():
    rng = np.random.default_rng(3)
    low, high = DATA["window"]
    shape = (DATA["cases"], DATA["size"], DATA["size"], 1)
    hu = rng.uniform(-1000, 1000, shape)
    x = (np.clip(hu, low, high) - low) / (high - low)
    return x.astype("float32"), rng.integers(0, 3, shape).astype("int32")


def main():
    t = CFG["training"]
    tf.keras.utils.set_random_seed(3)
    x, y = scans()
    net = unet()
    net.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=t["lr"]), loss=dice_ce)
    log = net.fit(x, y, batch_size=t["batch_size"], epochs=t["epochs"], verbose=0)
    print("loss", log.history["loss"])


if __name__ == "__main__":
    main()
