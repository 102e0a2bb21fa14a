import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import LSTM, Dense, Dropout, Input
from tensorflow.keras.models import Sequential

LOOKBACK = 24
HORIZON = 6


def gauge(hours=3000, seed=14):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    level = 1.8 * np.sin(2 * np.pi * t / 12.42) + 0.5 * np.sin(2 * np.pi * t / 24.0)
    surge = np.convolve(rng.normal(0, 0.3, hours), np.ones(12) / 12, mode="same")
    return (level + surge).astype("float32")


def windows(series):
    n = len(series) - LOOKBACK - HORIZON + 1
    idx = np.arange(n)[:, None]
    x = series[idx + np.arange(LOOKBACK)]
    y = series[idx + LOOKBACK + np.arange(HORIZON)]
    return x[..., None], y


def build_model(units=(48, 32), dropout=0.1):
    model = Sequential(name="tide")
    model.add(Input((LOOKBACK, 1)))
    for i, size in enumerate(units):
        model.add(LSTM(size, return_sequences=i < len(units) - 1))
        model.add(Dropout(dropout))
    model.add(Dense(HORIZON))
    return model


def main():
    tf.keras.utils.set_random_seed(14)
    series = gauge()
    cut = int(len(series) * 0.8)
    mean, std = series[:cut].mean(), series[:cut].std()
    x_train, y_train = windows((series[:cut] - mean) / std)
    x_test, y_test = windows((series[cut:] - mean) / std)

    model = build_model()
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    model.fit(x_train, y_train, epochs=3, batch_size=64, verbose=2)
    _, mae = model.evaluate(x_test, y_test, verbose=0)
    print("mean error %.3f m" % (mae * std))


if __name__ == "__main__":
    main()
