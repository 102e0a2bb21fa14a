import numpy as np
import keras

from forecaster import make_callbacks, make_model
from settings import RunSettings


def synthetic_level(hours, seed=4):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    level = np.sin(2 * np.pi * t / 12.42) + 0.3 * np.sin(2 * np.pi * t / 24.0)
    wind = rng.normal(0.0, 0.2, hours).cumsum() * 0.02
    return np.stack([level + wind, wind], axis=1).astype("float32")


def windows(series, window, horizon):
    xs, ys = [], []
    for start in range(len(series) - window - horizon):
        xs.append(series[start:start + window])
        ys.append(series[start + window:start + window + horizon, 0])
    return np.array(xs), np.array(ys)


def main():
    settings = RunSettings()
    keras.utils.set_random_seed(11)
    x, y = windows(synthetic_level(900), settings.window, settings.horizon)
    cut = int(0.8 * len(x))

    model = make_model(settings.window, settings.horizon)
    model.compile(
        optimizer=keras.optimizers.Adam(settings.learning_rate), loss="mae"
    )
    model.fit(
        x[:cut],
        y[:cut],
        validation_data=(x[cut:], y[cut:]),
        batch_size=settings.batch_size,
        epochs=settings.epochs,
        callbacks=make_callbacks(settings),
        verbose=2,
    )
    model.load_weights(settings.best_path())
    print("best val mae", float(model.evaluate(x[cut:], y[cut:], verbose=0)))


if __name__ == "__main__":
    main()
