import conf
import harbour
from tensorflow import keras


def units():
    for place in ("first", "second"):
        yield conf.get(f"net.units_{place}")


def main():
    keras.utils.set_random_seed(10)
    x, y = harbour.crossings()
    net = keras.Sequential([keras.Input((x.shape[1],))])
    for n in units():
        net.add(keras.layers.Dense(n, "relu", kernel_regularizer=keras.regularizers.L2(conf.get("net.l2"))))
    net.add(keras.layers.Dense(1))
    options = conf.get("train")
    net.compile(keras.optimizers.Adam(options.pop("rate")), "mse")
    batch, epochs = map(options.get, ("batch", "epochs"))
    net.fit(x, y, batch_size=batch, epochs=epochs, verbose=0)
    net.save(conf.path("model"))
    print("saved", conf.get("name"))


if __name__ == "__main__":
    main()
