import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

from sequence import MeterSequence


def synthetic_meter(days=120, seed=8):
    rng = np.random.default_rng(seed)
    t = np.arange(days * 48)
    daily = 0.6 * np.sin(2 * np.pi * t / 48) + 0.25 * np.sin(4 * np.pi * t / 48 + 0.7)
    weekly = 0.2 * np.sin(2 * np.pi * t / (48 * 7))
    return 1.2 + daily + weekly + rng.normal(0, 0.08, len(t))


def build(lookback):
    model = keras.Sequential(
        [
            keras.Input((lookback, 1)),
            layers.Conv1D(16, 3, padding="causal", activation="relu"),
            layers.GRU(24),
            layers.Dense(1),
        ]
    )
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    return model


if __name__ == "__main__":
    keras.utils.set_random_seed(8)
    series = synthetic_meter()
    cut = int(len(series) * 0.8)
    mean, std = series[:cut].mean(), series[:cut].std()
    scaled = (series - mean) / std

    train = MeterSequence(scaled[:cut], workers=2)
    val = MeterSequence(scaled[cut:], shuffle=False)

    model = build(train.lookback)
    model.fit(
        train,
        validation_data=val,
        epochs=3,
        verbose=2,
    )
    print("val mae in kWh: %.3f" % (model.evaluate(val, verbose=0)[1] * std))
