import numpy as np
from tensorflow import keras

from bids import MODEL, cfg
from bids.market import auctions


def main():
    e = cfg["evaluate"]
    net = keras.models.load_model(MODEL)
    x, y = auctions()
    error = np.abs(net.predict(x, batch_size=e["batch"], verbose=0) - y)
    for q in e["quantiles"]:
        print(q, np.quantile(error, q))


if __name__ == "__main__":
    main()
