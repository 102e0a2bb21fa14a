import os

from tensorflow import keras

from bids import MODEL, OUT, cfg


def main():
    e = cfg["export"]
    net = keras.models.load_model(MODEL)
    net.export(os.path.join(OUT, e["folder"]), format=e["format"], verbose=False)
    print("exported")


if __name__ == "__main__":
    main()
