import tempfile

import yaml
from tensorflow import keras

from pipeline import records


def main(write, read, options, train):
    with tempfile.TemporaryDirectory() as folder:
        records.write(folder, write)
        data = records.read(folder, read, options)
        net = keras.Sequential([keras.Input((20,)), keras.layers.Dense(1)])
        net.compile(train["optimizer"], "mse")
        log = net.fit(data, epochs=train["passes"], verbose=0)
        print("mse", round(log.history["loss"][-1], 4))


if __name__ == "__main__":
    with open("records.yaml") as stream:
        main(**yaml.safe_load(stream))
