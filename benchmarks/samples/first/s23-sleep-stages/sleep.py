import numpy as np
from tensorflow import keras

from inject import NIGHT, section


@section("recording")
def record(epochs, seconds, hertz, stages):
    rng = np.random.default_rng(NIGHT["seed"])
    return rng.normal(size=(epochs, seconds * hertz, 1)).astype("float32"), rng.integers(0, stages, epochs)


@section("network")
def network(shape, kernels, stages, kernel_size=3):
    return keras.Sequential([
        keras.Input(shape),
        keras.layers.Conv1D(kernels, kernel_size, activation="relu"),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(stages, activation="softmax"),
    ])


@section("training")
def fit(net, x, y, passes, rate, batch_size, patience=0, monitor="val_loss"):
    net.compile(keras.optimizers.Adam(rate), "sparse_categorical_crossentropy", metrics=["accuracy"])
    stop = keras.callbacks.EarlyStopping(monitor, patience=patience, mode="max")
    return net.fit(x, y, validation_split=0.2, batch_size=batch_size, epochs=passes, callbacks=[stop], verbose=0)


@section("report")
def report(log, digits=2):
    print({name: round(values[-1], digits) for name, values in log.history.items()})


if __name__ == "__main__":
    keras.utils.set_random_seed(NIGHT["seed"])
    x, y = record()
    net = network(x.shape[1:])
    print(net.layers[0].kernel_size)
    report(fit(net, x, y))
