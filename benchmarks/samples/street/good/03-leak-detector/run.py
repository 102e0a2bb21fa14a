"""Trains the leak detector and lists suspicious segments of pipe."""
import time

import numpy as np
from tensorflow import keras

from model import WINDOW, build


def simulate(n, rng):
    t = np.arange(WINDOW) / WINDOW
    base = np.sin(2 * np.pi * (3 + rng.random((n, 1))) * t)
    leak = rng.random(n) < 0.4
    noise = rng.normal(0, 0.2, (n, WINDOW))
    hiss = rng.normal(0, 0.9, (n, WINDOW)) * leak[:, None]
    pressure = base + noise + hiss
    flow = np.roll(base, 3, axis=1) + rng.normal(0, 0.2, (n, WINDOW))
    return np.stack([pressure, flow], axis=-1).astype("float32"), leak.astype("float32")


class Inspector:
    def __init__(self, model, threshold=0.5):
        self.model = model
        self.threshold = threshold

    def score(self, segments):
        return self.model.predict(segments, batch_size=128, verbose=0)[:, 0]

    def suspicious(self, segments):
        scores = self.score(segments)
        flagged = np.flatnonzero(scores > self.threshold)
        return flagged[np.argsort(-scores[flagged])], scores


def main():
    keras.utils.set_random_seed(4)
    rng = np.random.default_rng(4)
    x_train, y_train = simulate(1200, rng)
    x_val, y_val = simulate(300, rng)
    model = build()
    model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=4, batch_size=32, verbose=2)

    survey, truth = simulate(400, rng)
    started = time.perf_counter()
    order, scores = Inspector(model).suspicious(survey)
    took = time.perf_counter() - started
    hit = ((scores > 0.5) == (truth > 0.5)).mean()
    print(f"{len(order)} segments flagged, agreement {hit:.3f}, scoring took {took:.2f} s")
    print("worst ten:", order[:10].tolist())


if __name__ == "__main__":
    main()
