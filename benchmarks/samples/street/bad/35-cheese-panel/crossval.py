"""Five-fold check of the taste-panel model."""
import numpy as np
import tensorflow as tf

FOLDS = 5
EPOCHS = 25


def panel(n=400, noise_features=30, seed=35):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4 + noise_features))
    score = x[:, 0] - 0.7 * x[:, 1] + 0.5 * x[:, 2]
    y = (score + rng.normal(0, 1.2, n) > 0).astype("float32")
    return x.astype("float32"), y


def build_model(n_features):
    model = tf.keras.Sequential(
        [
            tf.keras.Input((n_features,)),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(2e-3),
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )
    return model


def folds(n, k, seed):
    order = np.random.default_rng(seed).permutation(n)
    parts = np.array_split(order, k)
    for i in range(k):
        held_out = parts[i]
        rest = np.concatenate([parts[j] for j in range(k) if j != i])
        yield rest, held_out


def cross_validate(x, y):
    model = build_model(x.shape[1])
    scores = []
    for number, (fit_rows, held_out) in enumerate(folds(len(x), FOLDS, seed=3)):
        model.fit(x[fit_rows], y[fit_rows], epochs=EPOCHS, batch_size=32, verbose=0)
        _, accuracy = model.evaluate(x[held_out], y[held_out], verbose=0)
        scores.append(accuracy)
        print(f"fold {number}: accuracy {accuracy:.3f}")
    return np.array(scores)


class NearestCentroid:
    """Reference for the network: distance to the mean of each class."""

    def fit(self, x, y):
        self.low = x[y < 0.5].mean(axis=0)
        self.high = x[y > 0.5].mean(axis=0)
        return self

    def accuracy(self, x, y):
        to_low = ((x - self.low) ** 2).sum(axis=1)
        to_high = ((x - self.high) ** 2).sum(axis=1)
        return float(((to_high < to_low) == (y > 0.5)).mean())


def reference_scores(x, y):
    scores = []
    for fit_rows, held_out in folds(len(x), FOLDS, seed=3):
        reference = NearestCentroid().fit(x[fit_rows], y[fit_rows])
        scores.append(reference.accuracy(x[held_out], y[held_out]))
    return np.array(scores)


def describe(name, scores):
    half = 1.96 * scores.std(ddof=1) / np.sqrt(len(scores))
    print(f"{name:<20} {scores.mean():.3f}  (95 % range {scores.mean() - half:.3f} "
          f"to {scores.mean() + half:.3f})")


def main():
    tf.keras.utils.set_random_seed(35)
    x, y = panel()
    scores = cross_validate(x, y)
    describe("network", scores)
    describe("nearest centroid", reference_scores(x, y))


if __name__ == "__main__":
    main()
